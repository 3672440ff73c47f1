// Random programs of everything that waits, under every shortage that a program can meet. Claim:
// every account is exact, no wait ends before what it waits for, and every program ends.
//
// A wait in a task is for what this task has made, for an event that a foreign thread sets, or for
// an earlier link of a chain whose first link waits for nothing, or for coroutines that yield until
// what this task has posted is done: such a program may be run with no thread to stand in, since
// what it waits for never lies buried below it.
#include "attack_failing.hpp"
#include "attack_more.hpp"
#include "attack_program.hpp"
#include "scale.hpp"

#include <braid/fork_join.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <array>
#include <deque>
#include <memory>
#include <optional>

namespace attack {
namespace {

void operation(const arena& a, draw d, place where, int depth);

/// A failure needs memory for its record; without it waits throw that the task was cancelled, and
/// futures that their promise is broken: Refused.MemoryMakesNoFailureASuccess.
bool may_throw(const arena& a) { return a.how.lacks != shortage::memory; }

// ---- tasks -------------------------------------------------------------------------------------

/// The task starts when another thread says so, so that the wait comes first.
void wait_for_gate(const arena& a, draw d) {
    tally t;
    auto gate = a.s.begin({}, braid::empty);
    if (!gate.id()) return a.expect(a.may_refuse(), "a gate was refused without need");
    const bool fails = may_throw(a) && d.chance(10);
    const auto body = [d, fails] {
        work(d, 10);
        if (fails) throw planned();
    };
    const braid::task_id id = a.s.spawn({.after = {gate.id()}}, counted(t, body));
    const pinch short_of_memory(a, d);
    std::thread opener([&gate, d] {
        work(d, 100);
        gate.finish();
    });
    const bool good = a.settle(d, id);
    a.expect(t.adds_up(), "a gated task's body ran more or less than once");
    a.expect(!good || t.ran == 1, "a gated task had not run at the end of the wait for it");
    opener.join();
}

/// Each level waits for the next one; each such wait needs what it needs anew.
void nest(const arena& a, draw d, int left) {
    if (left == 0) return;
    tally t;
    const auto body = [&a, inner = d.own(), left] { nest(a, inner, left - 1); };
    const bool good = a.settle(d, a.s.spawn(counted(t, body)));
    a.expect(t.adds_up(), "a nested task's body ran more or less than once");
    a.expect(!good || t.ran == 1, "a nested task had not run at the end of the wait for it");
}

void nested_waits(const arena& a, draw d) {
    const pinch short_of_memory(a, d);
    nest(a, d, d.between(1, 40));
}

/// Tasks that do anything at all, awaited in any order.
void tree(const arena& a, draw d, int depth) {
    tally t;
    std::vector<braid::task_id> made;
    const int count = d.between(1, 4);
    for (int i = 0; i < count; ++i) {
        const auto body = [&a, inner = d.own(), depth] {
            operation(a, inner, place::task, depth - 1);
        };
        braid::task_options o;
        if (d.chance(20)) o.priority = braid::priority_level::high;
        if (d.chance(20)) o.priority = braid::priority_level::low;
        const braid::task_id before = made.empty() ? braid::task_id{} : made.back();
        if (d.chance(20)) o.after_all = braid::task_ids(&before, 1);
        made.push_back(a.s.spawn(o, counted(t, body)));
    }
    while (!made.empty()) {
        std::swap(made[static_cast<std::size_t>(d.below(static_cast<int>(made.size())))],
                  made.back());
        a.settle(d, made.back());
        made.pop_back();
    }
    a.expect(t.adds_up(), "a tree's bodies ran more or less than once");
}

/// Link i waits for link i - 1. A thread that runs a link too early must bury none that it needs.
void chain(const arena& a, draw d) {
    const auto length = static_cast<std::size_t>(d.between(2, 150));
    std::vector<std::atomic<bool>> ended(length);
    std::vector<braid::task_id> links(length);
    tally t;
    auto gate = a.s.begin({}, braid::empty);
    if (!gate.id()) return a.expect(a.may_refuse(), "a gate was refused without need");
    for (std::size_t i = 0; i < length; ++i) {
        const auto body = [&, i] {
            if (i != 0) {
                try {
                    a.s.wait(links[i - 1]);
                    a.expect(!links[i - 1] || ended[i - 1] || a.may_cancel(),
                             "a link's wait ended before the link before it");
                } catch (const braid::task_cancelled&) {
                }
            }
            ended[i] = true;
        };
        links[i] = a.s.spawn({.after = {gate.id()}}, counted(t, body));
    }
    gate.finish();
    for (std::size_t i = length; i-- != 0;) a.settle(d, links[i]);
    a.expect(t.adds_up(), "a link ran more or less than once");
}

// ---- many at once ------------------------------------------------------------------------------

void scope_of_many(const arena& a, draw d) {
    tally t;
    std::atomic<int> failed{0};
    braid::scope all(a.s, d.chance(20) ? braid::on_failure::cancel : braid::on_failure::go_on);
    const bool cancels = d.chance(15);
    const bool fails = may_throw(a) && d.chance(20);
    const int count = d.between(1, d.chance(20) ? 600 : 40);
    const pinch short_of_memory(a, d);
    for (int i = 0; i < count; ++i) {
        const bool this_one = fails && d.chance(10);
        const auto body = [inner = d.own(), this_one, &failed] {
            work(inner, 2);
            if (!this_one) return;
            ++failed;
            throw planned();
        };
        if (d.chance(50)) {
            all.post(counted(t, body));
        } else {
            all.spawn({.never_waits = d.chance(30)}, counted(t, body));
        }
        if (cancels && i == count / 2) all.cancel();
    }
    try {
        if (d.chance(50)) {
            all.wait();
        } else {
            while (!all.wait_for(braid::microseconds(d.below(100)))) {
            }
        }
    } catch (const planned&) {
    } catch (const braid::task_cancelled&) {
    }
    const braid::scope_account sum = all.account();
    const auto is = [](std::uint64_t n, int m) { return n == static_cast<std::uint64_t>(m); };
    a.expect(t.adds_up(), "a scope's bodies ran more or less than once");
    a.expect(sum.created == sum.executed + sum.failed + sum.cancelled,
             "a scope's account does not add up after the wait");
    a.expect(is(sum.executed + sum.failed, t.ran), "a scope counted other bodies than ran");
    a.expect(is(sum.failed, failed), "a scope counted other failures than there were");
    a.expect(a.may_refuse() || is(sum.created, count), "a scope lost tasks");
}

void batch(const arena& a, draw d, place where) {
    // Only who is at the bottom of its stack may wait for one thread's work.
    const bool pinned = where == place::main && a.how.workers > 0 &&
                        a.how.lacks != shortage::threads && a.how.lacks != shortage::shutdown;
    braid::scope all(a.s);
    braid::task_options o{.name = "batch", .within = &all};
    const int way = d.below(4);
    if (way == 1) o.runs_as = braid::task_class::background;
    if (way == 2 && where == place::main) o.on = a.s.this_thread();
    if (way == 3 && pinned) o.workers = 1;
    const auto count = static_cast<std::size_t>(d.between(1, d.chance(50) ? 1'500 : 50));
    std::vector<std::atomic<std::uint8_t>> ran(count);
    const pinch short_of_memory(a, d);
    const braid::task_id id = a.s.spawn_batch(o, count, [&](std::size_t i) { ++ran[i]; });
    const bool good = a.settle(d, id);
    std::uint64_t once = 0;
    for (const auto& n : ran) {
        a.expect(n < 2, "a body of a batch ran twice");
        once += n;
    }
    a.expect(!good || once == count, "a batch lost bodies");
    try {
        all.wait();
    } catch (const braid::task_cancelled&) {
    }
    const braid::scope_account sum = all.account();
    a.expect(sum.created == sum.executed + sum.failed + sum.cancelled,
             "a batch's account does not add up");
    // The batch itself is one of them.
    a.expect(!good || sum.executed == count + 1, "a batch's account misses bodies");
}

// ---- events ------------------------------------------------------------------------------------

/// Each set() lets exactly one through: those who wait for ever, and those whose time is up at
/// about that moment. Nobody of them needs a task to run.
void automatic_event(const arena& a, draw d) {
    braid::event go(a.s);
    const int patient = d.between(1, 3);
    const int hasty = d.between(0, 2);
    std::atomic<int> inside{0}, taken{0}, patient_left{patient};
    std::vector<std::thread> waiters;
    for (int i = 0; i < patient; ++i) {
        waiters.emplace_back([&] {
            ++inside;
            a.expect(a.s.do_work_while_waiting_for(go), "a wait without a limit ran out of time");
            --patient_left;
            ++taken;
        });
    }
    for (int i = 0; i < hasty; ++i) {
        waiters.emplace_back([&] {
            ++inside;
            if (a.s.do_work_while_waiting_for(go, braid::microseconds(100))) ++taken;
        });
    }
    const pinch short_of_memory(a, d);
    braid_test::until([&] { return inside == patient + hasty; });
    work(d.own(), 150);
    int sets = 0;
    while (patient_left > 0) {
        ++sets;
        go.set();
        const auto limit = std::chrono::steady_clock::now() + braid_test::hang_limit / 2;
        while (taken < sets && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
        if (taken >= sets) continue;
        a.expect(false, "a set() of an automatic event was lost");
        sets = taken;  // the next one makes up for it
    }
    for (std::thread& w : waiters) w.join();
    a.expect(taken == sets, "an automatic event let another number through than was set");
    a.expect(!go.is_set(), "an automatic event is set though all sets were taken");
}

/// Foreign threads wait for what one more of them makes.
void crowd(const arena& a, draw d) {
    braid::event go(a.s, braid::reset::manual);
    std::atomic<bool> set{false};
    std::atomic<int> inside{0};
    const int count = d.between(1, 5);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            ++inside;
            a.s.do_work_while_waiting_for(go);
            a.expect(set, "a wait for an event ended before the event was set");
        });
    }
    if (d.chance(50)) braid_test::until([&] { return inside == count; });
    std::thread last([&, inner = d.own()]() mutable {
        tally t;
        const bool good = a.settle(inner, a.s.spawn(counted(t, [] {})));
        a.expect(!good || t.ran == 1, "a foreign thread's task had not run after the wait for it");
        set = true;
        go.set();
    });
    last.join();
    for (std::thread& t : threads) t.join();
}

// ---- values ------------------------------------------------------------------------------------

void futures(const arena& a, draw d) {
    tally t;
    auto gate = a.s.begin({}, braid::empty);
    if (!gate.id()) return a.expect(a.may_refuse(), "a gate was refused without need");
    const int value = d.below(1'000);
    const bool fails = may_throw(a) && d.chance(10);
    auto first = a.s.async({.after = {gate.id()}}, counted(t, [value, fails] {
                               if (fails) throw planned();
                               return value;
                           }));
    const bool valid = first.valid();
    a.expect(valid || a.may_refuse(), "a future was refused without need");
    const pinch short_of_memory(a, d);
    std::thread opener([&gate, d] {
        work(d, 60);
        gate.finish();
    });
    try {
        const int got = first.get();
        a.expect(valid && !fails && got == value, "a future gave another value");
    } catch (const planned&) {
        a.expect(fails, "a future threw what nobody has thrown");
    } catch (const std::exception&) {
        a.expect(a.may_cancel() || !valid, "a future broke its promise");
    }
    a.expect(t.adds_up(), "a future's body ran more or less than once");
    opener.join();
}

// ---- graphs, lists, frames ---------------------------------------------------------------------

void graph_runs(const arena& a, draw d) {
    struct node {
        std::atomic<int> ran{0};
        std::vector<std::size_t> before;
    };
    const int count = d.between(1, 20);
    std::deque<node> nodes;
    std::vector<braid::graph_node> handles;
    braid::graph g(a.s);
    for (int i = 0; i < count; ++i) {
        node& n = nodes.emplace_back();
        const braid::graph_node h = g.add([&a, &n, &nodes] {
            for (const std::size_t b : n.before) {
                a.expect(nodes[b].ran == n.ran + 1, "a node ran before its predecessor");
            }
            ++n.ran;
        });
        handles.push_back(h);
        a.expect(h || a.may_refuse(), "a node was refused without need");
        if (!h) return;
        for (int k = 0; k < 2 && i > 0; ++k) {
            const auto from = static_cast<std::size_t>(d.below(i));
            if (std::find(n.before.begin(), n.before.end(), from) != n.before.end()) continue;
            if (g.precede(handles[from], h)) n.before.push_back(from);
        }
    }
    for (int run = d.between(1, 4); run-- != 0;) {
        for (node& n : nodes) n.ran = 0;
        const pinch short_of_memory(a, d);
        const bool good = a.settle(d, g.run());
        for (const node& n : nodes) a.expect(!good || n.ran == 1, "a node did not run once a run");
    }
}

struct job_data {
    std::atomic<int> ran{0}, over{0};
    const job_data* first = nullptr;  // jobs [first, last) must have ended
    const job_data* last = nullptr;
    const arena* a = nullptr;
};

void run_job(void* data) {
    auto& own = *static_cast<job_data*>(data);
    ++own.ran;
    for (const job_data* j = own.first; j != own.last; ++j) {
        own.a->expect(j->over == 1, "a job ran before what its sync point waits for");
    }
    ++own.over;
}

void job_lists(const arena& a, draw d) {
    braid::job_list_manager lists(a.s);
    if (!lists.register_job(&run_job, "run")) return;
    const int count = d.between(1, 60);
    braid::job_list* const list = lists.allocate({.max_jobs = 64, .max_syncs = 1});
    a.expect(list != nullptr || a.may_refuse(), "a list was refused without need");
    if (list == nullptr) return;
    std::vector<job_data> jobs(static_cast<std::size_t>(count));
    const int signal = d.chance(50) ? d.below(count) : count;
    for (int i = 0; i < count; ++i) {
        job_data& j = jobs[static_cast<std::size_t>(i)];
        j.a = &a;
        if (i == signal) {
            list->signal();
            list->synchronize();
        }
        if (i >= signal) {
            j.first = jobs.data();
            j.last = jobs.data() + signal;
        }
        list->add(&run_job, &j);
    }
    bool cancelled = false;
    bool submitted = false;
    {
        const pinch short_of_memory(a, d);
        const int threads = d.one_of({0, 1, 2, braid::job_submission::automatic});
        try {
            submitted = static_cast<bool>(list->submit({.parallelism = threads}));
            if (d.chance(30) && submitted && !a.passes_gate()) {
                while (!list->try_wait()) {
                }
            } else if (submitted) {
                list->wait();
            }
        } catch (const braid::task_cancelled&) {
            cancelled = true;
        }
    }
    a.expect(submitted || cancelled || a.may_refuse(), "a submission was refused without need");
    for (const job_data& j : jobs) {
        a.expect(j.ran == j.over, "a job was running after the wait for its list");
        a.expect(j.ran < 2, "a job ran twice");
        a.expect(!submitted || cancelled || a.may_cancel() || j.ran == 1, "a job did not run");
    }
    if (!submitted) list->clear();
    lists.free(list);
}

void frames(const arena& a, draw d) {
    const int count = d.between(1, 6);
    constexpr std::size_t stages = 2;
    std::array<std::atomic<std::uint64_t>, stages> over{};
    braid::frame_loop loop(a.s, {.depth = static_cast<unsigned>(d.below(3))});
    std::deque<braid::frame_stage> all;
    for (std::size_t stage = 0; stage < stages; ++stage) {
        all.emplace_back(loop);
        const auto h = all.back().add([&a, &over, stage](const braid::frame_context& f) {
            a.expect(over[stage] + 1 == f.frame || a.may_cancel(), "a frame overtook another");
            a.expect(stage == 0 || over[stage - 1] >= f.frame, "a stage ran before the last one");
            over[stage] = f.frame;
        });
        a.expect(h || a.may_refuse(), "a stage's body was refused without need");
        if (!h) return;
    }
    const pinch short_of_memory(a, d);
    std::uint64_t begun = 0;
    bool cancelled = false;
    try {
        for (int i = 0; i < count; ++i) {
            const std::uint64_t n = loop.advance();
            a.expect(n == begun + 1 || (n == 0 && a.may_refuse()), "frames have wrong numbers");
            begun = std::max(begun, n);
        }
        loop.finish();
    } catch (const std::exception&) {
        a.expect(a.may_cancel(), "a frame was cancelled and nobody had cancelled it");
        cancelled = true;
    }
    if (cancelled || a.may_cancel()) return;
    for (const auto& n : over) a.expect(n == begun, "finish() ended before its frames");
}

void pipelines(const arena& a, draw d) {
    std::atomic<int> sum{0};
    const int items = d.between(1, 50);
    int next = 0;
    const pinch short_of_memory(a, d);
    try {
        braid::pipeline(a.s, {.tokens = static_cast<unsigned>(d.between(1, 6))},
                        braid::serial([&]() -> std::optional<int> {
                            return next < items ? std::optional(++next) : std::nullopt;
                        }),
                        braid::parallel([](int i) { return i; }),
                        braid::serial([&](int i) { sum += i; }));
        a.expect(sum == items * (items + 1) / 2 || a.may_cancel(), "a pipeline lost items");
    } catch (const braid::task_cancelled&) {
        a.expect(a.may_cancel(), "a pipeline was cancelled and nobody had cancelled it");
    }
}

// ---- programs ----------------------------------------------------------------------------------

/// What one thread and its tasks do, also where a chooser decides who goes on.
void operation_alone(const arena& a, draw d, place where, int depth) {
    switch (d.below(16)) {
        case 0:
            return nested_waits(a, d);
        case 1:
            return chain(a, d);
        case 2:
            return scope_of_many(a, d);
        case 3:
            return batch(a, d, where);
        case 4:
            return graph_runs(a, d);
        case 5:
            return job_lists(a, d);
        case 6:
            return frames(a, d);
        case 7:
            return loops(a, d);
        case 8:
            return resources(a, d);
        case 9:
            return own_event(a, d, where);
        case 10:
            return scope_that_is_left(a, d);
        case 11:
            return after_a_failure(a, d);
        case 12:
            return foreign_objects(a, d);
        case 13:
            return yields(a, d);
        case 14:
            return clean_up(a, d);
        default:
            return depth > 0 ? tree(a, d, depth) : nested_waits(a, d);
    }
}

void operation(const arena& a, draw d, place where, int depth) {
    if (a.passes_gate() || d.chance(60)) return operation_alone(a, d, where, depth);
    switch (d.below(where == place::task ? 4 : 7)) {
        case 0:
            return wait_for_gate(a, d);
        case 1:
            return futures(a, d);
        case 2:
            return queues(a, d);
        case 3:
            return pipelines(a, d);
        case 4:
            return automatic_event(a, d);
        case 5:
            return until_stopped(a, d);
        default:
            return crowd(a, d);
    }
}

/// Beside the program: memory comes back, workers come and go, the scheduler ends.
void disturb(const arena& a, draw d, const std::atomic<bool>& stop) {
    std::mutex mutex;
    std::condition_variable never;
    const auto pause = [&](int most_us) {
        std::unique_lock lock(mutex);
        never.wait_for(lock, std::chrono::microseconds(d.below(most_us)));
    };
    if (a.how.lacks == shortage::shutdown) {
        pause(3'000);
        return a.s.shut_down(d.chance(50) ? braid::shutdown::drain : braid::shutdown::discard);
    }
    while (!stop) {
        pause(3'000);
        if (a.how.lacks == shortage::memory) a.memory.give_back();
        if (a.how.lacks == shortage::threads) {
            a.s.set_worker_count(static_cast<unsigned>(d.below(9)));
        }
    }
}

braid::scheduler_options options_of(const mode& m, draw& d) {
    braid::scheduler_options o;
    o.workers = m.workers;
    o.max_workers = 8;
    o.ring = d.one_of<std::uint32_t>({2, 4, 16, 64});
    o.idle = d.one_of({braid::parking::power, braid::parking::balanced});
    const bool memory = m.lacks == shortage::memory;
    if (m.lacks == shortage::reserves) o.max_reserves = d.below(2);
    if (memory && d.chance(30)) o.max_reserves = d.below(2);
    if (m.lacks == shortage::guests) o.guests = d.below(2);
    if (memory && d.chance(70)) o.guests = d.below(2);
    return o;
}

void run_program(const arena& a, draw& d) {
    std::atomic<bool> stop{false};
    // The thread of the background class is started before memory is short.
    a.s.wait(a.s.spawn({.runs_as = braid::task_class::background}, [] {}));
    std::thread disturber([&, own = d.own()] {
        if (!a.passes_gate()) disturb(a, own, stop);
    });
    tally roots;
    braid::scope all(a.s);
    for (int i = d.below(4); i-- != 0;) {
        all.post(counted(roots, [&a, own = d.own()] { operation(a, own, place::task, 2); }));
    }
    std::vector<std::thread> foreign;
    for (int i = a.passes_gate() ? 0 : d.below(4); i-- != 0;) {
        foreign.emplace_back([&a, own = d.own()]() mutable {
            operation(a, own.own(), place::foreign, 1);
            operation(a, own.own(), place::foreign, 1);
        });
    }
    for (int i = d.between(1, 3); i-- != 0;) operation(a, d.own(), place::main, 2);
    try {
        all.wait();
    } catch (const planned&) {             // a task had failed before the wait for it began
    } catch (const braid::task_failed&) {  // and another one had come after it
    } catch (const braid::task_cancelled&) {
    }
    a.expect(roots.adds_up(), "a root's body ran more or less than once");
    for (std::thread& t : foreign) t.join();
    stop = true;
    disturber.join();
}

class Attack : public testing::TestWithParam<mode> {
protected:
    /// True: nothing was found.
    static bool round(const mode& m, std::uint64_t seed) {
        const std::string again =
            "BRAID_ATTACK_SEED=" + std::to_string(seed) + " BRAID_ATTACK_MODE=" + m.name();
        findings found;
        const round_deadline limit(again, found);
        braid_test::counting_memory counting;
        braid_test::refusing_memory memory(counting.hooks());
        braid_test::recorder notes;
        draw d(seed * 128 + static_cast<std::uint64_t>(m.workers) * 8 +
               static_cast<std::uint64_t>(m.lacks));
        braid::scheduler_options o = options_of(m, d);
        o.memory = memory.hooks();
        watcher watches;
        if (m.lacks == shortage::watched) o.observer = &watches;
        braid_test::seeded_chooser chooser(d.next());
        if (m.lacks == shortage::chosen) o.chooser = &chooser;
        notes.install(o);
        {
            braid::scheduler s(o);
            const arena a{s, memory, m, found};
            run_program(a, d);
            memory.give_back();
            s.shut_down();
            const braid::scheduler_statistics sum = s.statistics();
            a.expect(sum.created == sum.ended(), "the scheduler's account does not add up");
        }
        watches.settle(found);
        found.expect(counting.live == 0, "bytes were not given back");
        int foreseen = 0;
        for (const std::string& text : notes.misuse) {
            const bool is_foreseen = text.find("another scheduler") != std::string::npos;
            foreseen += is_foreseen ? 1 : 0;
            found.expect(is_foreseen, text.c_str());
        }
        // What is shut down, or has no memory, may refuse before it looks.
        const bool may_be_fewer = m.lacks == shortage::memory || m.lacks == shortage::shutdown;
        found.expect(foreseen == found.foreseen_misuse() ||
                         (may_be_fewer && foreseen < found.foreseen_misuse()),
                     "objects of another scheduler were reported more or less than once");
        found.expect(chooser.standstills() == 0, "nobody could go on");
        found.expect(notes.count(&braid_test::recorder::log, "lies below it") == 0,
                     "a wait was buried under what needs it");
        const std::string text = found.text();
        if (!text.empty()) ADD_FAILURE() << "run again with " << again << "\n" << text;
        return text.empty();
    }
};

INSTANTIATE_TEST_SUITE_P(Modes, Attack, testing::ValuesIn(modes()),
                         [](const auto& of) { return of.param.name(); });

TEST_P(Attack, FindsEveryAccountExactAndNoWaitOverTooEarly) {
    if (const char* only = std::getenv("BRAID_ATTACK_SEED")) {
        round(GetParam(), std::strtoull(only, nullptr, 10));
        return;
    }
    const char* const given = std::getenv("BRAID_ATTACK_ROUNDS");
    const std::size_t rounds = given != nullptr
                                   ? std::strtoull(given, nullptr, 10)
                                   : braid_test::stress_scaled(braid_test::sanitized ? 100 : 10);
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        if (!round(GetParam(), seed)) break;
    }
}

}  // namespace
}  // namespace attack
