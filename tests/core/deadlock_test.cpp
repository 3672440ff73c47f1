// Tasks that wait for each other: found, named and reported once. A deadlock cannot be taken back,
// so each scene runs in a process of its own, which ends with the report.
#include "deadlocks.hpp"
#include "refusing_memory.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using braid_test::look_for_deadlocks;
using braid_test::until;
using braid_test::until_wait_counts;

/// What a report says: the circle may begin with any of its tasks.
struct expected {
    std::vector<std::string>
        circle;  // a name, what it does, a name, …; the last does it to the first
    std::string cure;

    bool is(const std::string& message) const {
        const std::size_t tasks = circle.size() / 2;
        for (std::size_t from = 0; from < tasks; ++from) {
            std::string text = "scene: a deadlock of " + std::to_string(tasks) +
                               (tasks == 1 ? " task: " : " tasks: ") + circle[2 * from];
            for (std::size_t n = 0; n < tasks; ++n) {
                const std::size_t at = (from + n) % tasks;
                text += (n == 0 ? " " : ", which ") + circle[2 * at + 1] + " " +
                        circle[2 * at + 2 == circle.size() ? 0 : 2 * at + 2];
            }
            text += tasks == 1 ? ". No thread can go on with it. "
                               : ". No thread can go on with any of them. ";
            if (message == text + cure) return true;
        }
        return false;
    }
};

std::string explain(const braid::scheduler& s, braid::task_id id) { return s.explain(id).text; }

const expected* wanted = nullptr;

void compare(void*, const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::_Exit(wanted->is(message) ? 0 : 1);
}

braid::scheduler_options options_of_scene(int workers) {
    braid::scheduler_options o;
    o.name = "scene";
    o.workers = workers;
    o.max_workers = 64;
    o.long_task = braid::nanoseconds(0);
    o.log = braid::log_handler::silent();
    o.deadlock = {.after = braid::milliseconds(1), .handler = {&compare, nullptr}};
    return o;
}

class Deadlock : public testing::TestWithParam<int> {
protected:
    Deadlock() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// `scene(scheduler)` never returns.
    template <class Scene>
    void expect_report(const expected& what, Scene&& scene,
                       braid::scheduler_options o = options_of_scene(GetParam())) {
        const auto play = [&] {
            const braid_test::deadline guard;
            wanted = &what;
            braid::scheduler s(o);
            scene(s);
            std::_Exit(2);
        };
        EXPECT_EXIT(play(), testing::ExitedWithCode(0), braid_test::says("scene: a deadlock of"));
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Deadlock, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

/// Each of the tasks gets a thread that waits for it and so may run it. On fewer threads the waits
/// might lie on one stack, which is reported at once.
void wait_on_threads(braid::scheduler& s, std::initializer_list<std::uint64_t> ids) {
    std::vector<std::thread> threads;
    for (const std::uint64_t id : ids) {
        threads.emplace_back([&s, id] { s.wait(braid::task_id{id}); });
    }
    for (std::thread& t : threads) t.join();
}

const std::string let_go =
    "A task holds what it uses until it has returned: what follows the wait has to become a task "
    "of its own, `after` the awaited one, or one of the two has to go without the resource.";
const std::string after_instead =
    "What follows one of these waits has to become a task of its own, `after` what it waits for.";

TEST_P(Deadlock, OfWaitsOverThreeTasksNamesThemAndTheirWaits) {
    expect_report({{"'load a'", "waits for", "'load b'", "waits for", "'load c'", "waits for"},
                   after_instead},
                  [](braid::scheduler& s) {
                      static std::atomic<std::uint64_t> ids[3];
                      static std::atomic<int> inside;
                      const char* const names[] = {"load a", "load b", "load c"};
                      for (int i = 0; i < 3; ++i) {
                          ids[i] = s.spawn({.name = names[i]}, [&s, i] {
                                        ++inside;
                                        until([i] { return inside == 3 && ids[(i + 1) % 3] != 0; });
                                        s.wait({ids[(i + 1) % 3]});
                                    }).value;
                      }
                      wait_on_threads(s, {ids[0], ids[1], ids[2]});
                  });
}

TEST_P(Deadlock, OfAWaitForSeveralIsFoundThroughAnyOfThem) {
    for (const bool last : {false, true}) {
        expect_report({{"'several'", "waits for", "'second'", "waits for"}, after_instead},
                      [last](braid::scheduler& s) {
                          static std::atomic<std::uint64_t> several, second;
                          static std::atomic<int> inside;
                          const auto never = s.begin({.name = "other"}, braid::empty);
                          several = s.spawn({.name = "several"}, [&s, last, other = never.id()] {
                                         ++inside;
                                         until([] { return inside == 2 && second != 0; });
                                         const braid::task_id in_circle{second};
                                         last ? wait_all(s, {other, in_circle})
                                              : wait_all(s, {in_circle, other});
                                     }).value;
                          second = s.spawn({.name = "second"}, [&s] {
                                        ++inside;
                                        until([] { return inside == 2 && several != 0; });
                                        s.wait({several});
                                    }).value;
                          wait_on_threads(s, {several, second});
                      });
    }
}

TEST_P(Deadlock, IsReportedAlsoWhereNoMemoryIsLeft) {
    static braid_test::counting_memory counts;
    static braid_test::refusing_memory memory(counts.hooks());
    braid::scheduler_options o = options_of_scene(GetParam());
    o.memory = memory.hooks();
    o.out_of_memory = {[](void*, std::size_t, const char*) {}, nullptr};
    expect_report(
        {{"'load a'", "waits for", "'load b'", "waits for"}, after_instead},
        [](braid::scheduler& s) {
            static std::atomic<std::uint64_t> ids[2];
            static std::atomic<int> inside;
            const char* const names[] = {"load a", "load b"};
            for (int i = 0; i < 2; ++i) {
                ids[i] = s.spawn({.name = names[i]}, [&s, i] {
                              ++inside;
                              until([i] { return inside == 2 && ids[1 - i] != 0; });
                              memory.refuse_after(0);
                              s.wait({ids[1 - i]});
                          }).value;
            }
            wait_on_threads(s, {ids[0], ids[1]});
        },
        o);
}

TEST_P(Deadlock, OfATaskThatWaitsForOneThatNeedsItsResourceNamesTheResource) {
    expect_report(
        {{"'holder'", "waits for", "'reader'", "needs the resource 'file', held by"}, let_go},
        [](braid::scheduler& s) {
            braid::resource file(s, "file");
            s.wait(s.spawn({.name = "holder", .uses = {&file}},
                           [&] { s.wait(s.spawn({.name = "reader", .uses = {&file}}, [] {})); }));
        });
}

TEST_P(Deadlock, OfAScopeWhoseTaskNeedsTheResourceOfItsWaiterIsFound) {
    expect_report({{"'holder'", "waits for a scope, and so for", "'reader'",
                    "needs the resource 'file', held by"},
                   let_go},
                  [](braid::scheduler& s) {
                      braid::resource file(s, "file");
                      s.wait(s.spawn({.name = "holder", .uses = {&file}}, [&] {
                          braid::scope all(s);
                          all.spawn({.name = "reader", .uses = {&file}}, [] {});
                          all.wait();
                      }));
                  });
}

TEST_P(Deadlock, OfAChildThatWaitsForWhatWaitsForItsParentIsFound) {
    expect_report(
        {{"'parent'", "ends only with its child", "'child'", "waits for", "'other'", "waits for"},
         "A task must not wait for what it is a part of."},
        [](braid::scheduler& s) {
            static std::atomic<std::uint64_t> parent, other;
            static std::atomic<int> inside;
            const auto meet = [] {
                ++inside;
                until([] { return inside == 2; });
            };
            const auto other_body = [&s, meet] {
                meet();
                until([] { return parent != 0; });
                s.wait({parent});
            };
            braid::task_builder b = s.begin({.name = "parent"}, braid::empty_task{});
            b.add_child({.name = "child"}, [&s, meet] {
                meet();
                until([] { return other != 0; });
                s.wait({other});
            });
            other = s.spawn({.name = "other"}, other_body).value;
            parent = b.finish().value;
            wait_on_threads(s, {parent, other});
        });
}

TEST_P(Deadlock, OfAWaitBelowAnotherOneOnTheSameStackSaysWhichStack) {
    if (GetParam() != 0) GTEST_SKIP() << "another thread would run the second task";
    braid::scheduler_options o = options_of_scene(GetParam());
    o.max_reserves = 0;
    expect_report(
        {{"'below'", "lies on the stack of 'main' below", "'above'", "waits for"},
         "No thread could stand in for the one on whose stack they lie: raise "
         "max_reserves, or let a task come `after` what it waits for."},
        [](braid::scheduler& s) {
            static std::atomic<std::uint64_t> below;
            braid::event never(s);
            below = s.spawn({.name = "below"}, [&] {
                         s.post({.name = "above"}, [&] { s.wait({below}); });
                         s.do_work_while_waiting_for(never);
                     }).value;
            s.wait({below});
        },
        o);
}

TEST_P(Deadlock, OfARingOfAHundredIsReportedByTheDestructorThatWaitsForIt) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [&] {
        const braid_test::deadline guard;
        braid::scheduler_options o = options_of_scene(GetParam());
        o.deadlock.handler.function = [](void*, const char* message) {
            std::fprintf(stderr, "%s\n", message);
            std::_Exit(0);
        };
        braid::scheduler s(o);
        std::vector<braid::task_builder> ring;
        for (int i = 0; i < 100; ++i)
            ring.push_back(s.begin({.name = "link"}, braid::empty_task{}));
        for (std::size_t i = 0; i < 100; ++i) ring[i].add_dependency(ring[(i + 1) % 100].id());
        for (braid::task_builder& b : ring) b.finish();
    };
    // Seven times without brackets, which GoogleTest's own expressions do not have.
    std::string others;
    for (int i = 0; i < 7; ++i) others += ", which begins only after 'link'";
    EXPECT_EXIT(play(), testing::ExitedWithCode(0),
                "scene: a deadlock of 100 tasks: 'link' begins only after 'link'" + others +
                    ", … and 92 more, of which the last begins only after 'link'. No thread can go "
                    "on with any of them. One of these dependencies has to go.");
}

/// So many tasks of one name, each of which begins only after the next one; too long to be refused.
std::vector<braid::task_builder> ring_of(braid::scheduler& s, const char* name) {
    constexpr std::size_t length = 70;
    std::vector<braid::task_builder> ring;
    for (std::size_t i = 0; i < length; ++i) {
        ring.push_back(s.begin({.name = name}, braid::empty_task{}));
    }
    for (std::size_t i = 0; i < length; ++i) ring[i].add_dependency(ring[(i + 1) % length].id());
    return ring;
}

/// The scheduler lives on, and so do the rings: for a process that ends with the test.
std::vector<std::string> reports_of(const std::vector<const char*>& rings, bool one_leads_on) {
    static std::vector<std::string> said;
    braid::scheduler_options o = options_of_scene(0);
    o.deadlock = {.after = braid::no_limit,
                  .handler = {[](void*, const char* message) { said.emplace_back(message); }}};
    auto* const s = new braid::scheduler(o);
    std::vector<std::vector<braid::task_builder>> all;
    for (const char* name : rings) {
        all.push_back(ring_of(*s, name));
        if (!one_leads_on || all.size() == 1) continue;
        const auto& before = all[all.size() - 2];
        for (std::size_t i = 0; i < before.size(); ++i) {
            all.back()[i].add_dependency(before[i].id());
        }
    }
    for (auto& ring : all) {
        for (braid::task_builder& b : ring) b.finish();
    }
    for (int looks = 0; looks < 3; ++looks) look_for_deadlocks(*s);
    return said;
}

TEST(DeadlockReports, NameEachCircleOnceAlsoBehindAnotherOne) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [] {
        const std::vector<std::string> said = reports_of({"first", "second"}, true);
        const auto names = [&](const char* name) {
            return std::count_if(said.begin(), said.end(), [&](const std::string& text) {
                return text.find(name) != std::string::npos;
            });
        };
        std::_Exit(said.size() == 2 && names("'first'") == 1 && names("'second'") == 1 ? 0 : 1);
    };
    EXPECT_EXIT(play(), testing::ExitedWithCode(0), "");
}

TEST(DeadlockReports, AreThirtyTwoAtMost) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        std::_Exit(reports_of(std::vector<const char*>(40, "ring"), false).size() == 32 ? 0 : 1),
        testing::ExitedWithCode(0), "");
}

TEST(DeadlockReports, AreNotFollowedByAWarningThatNothingGoesOn) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [] {
        static std::vector<std::string> logged;
        braid::scheduler_options o = options_of_scene(0);
        o.deadlock = {.after = braid::no_limit, .handler = {}};
        o.log = {[](void*, braid::log_level, const char* text) { logged.emplace_back(text); },
                 nullptr};
        auto* const s = new braid::scheduler(o);
        for (braid::task_builder& b : ring_of(*s, "link")) b.finish();
        for (int looks = 0; looks < 4; ++looks) look_for_deadlocks(*s);
        for (const std::string& line : logged) std::fprintf(stderr, "%s\n", line.c_str());
        std::_Exit(logged.size() == 1 ? 0 : 1);
    };
    EXPECT_EXIT(play(), testing::ExitedWithCode(0),
                braid_test::says("scene: a deadlock of 70 tasks"));
}

#if BRAID_HAS_EXCEPTIONS
TEST(DeadlockReports, OfAHandlerThatThrowsAreLogged) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [] {
        static std::vector<std::string> logged;
        braid::scheduler_options o = options_of_scene(0);
        o.deadlock = {.after = braid::no_limit,
                      .handler = {[](void*, const char*) { throw 1; }, nullptr}};
        o.log = {[](void*, braid::log_level, const char* text) { logged.emplace_back(text); },
                 nullptr};
        auto* const s = new braid::scheduler(o);
        for (braid::task_builder& b : ring_of(*s, "link")) b.finish();
        look_for_deadlocks(*s);
        const std::string all = logged.size() == 1 ? logged[0] : "not one line";
        std::fprintf(stderr, "%s\n", all.c_str());
        std::_Exit(0);
    };
    EXPECT_EXIT(play(), testing::ExitedWithCode(0),
                "scene: the handler of a deadlock threw an exception");
}
#endif

TEST_P(Deadlock, IsFoundWhenTheThreadThatWatchedHasLeft) {
    if (GetParam() != 0) GTEST_SKIP() << "a thread of the scheduler's watches, and never leaves";
    braid::scheduler_options o = options_of_scene(0);
    o.max_reserves = 0;
    o.deadlock.after = braid::milliseconds(200);
    expect_report(
        {{"'a'", "waits for", "'b'", "waits for"}, after_instead},
        [](braid::scheduler& s) {
            braid::event leaves(s);
            const braid::task_id watches = s.spawn([&] { s.do_work_while_waiting_for(leaves); });
            const auto waits_for = [&s](braid::task_id id, const char* what) {
                until([&] {
                    return explain(s, id).find(std::string("waits for ") + what) !=
                           std::string::npos;
                });
            };
            std::thread first([&] {
                const braid::main_thread here(s, "first");
                s.wait(watches);
            });
            waits_for(watches, "an event");
            static std::atomic<std::uint64_t> ids[2];
            static std::atomic<int> inside;
            for (int i = 0; i < 2; ++i) {
                ids[i] = s.spawn({.name = i == 0 ? "a" : "b"}, [&s, i] {
                              ++inside;
                              until([] { return inside == 2; });
                              s.wait({ids[1 - i]});
                          }).value;
            }
            std::thread others([&] { wait_on_threads(s, {ids[0], ids[1]}); });
            waits_for({ids[0]}, "'b'");
            waits_for({ids[1]}, "'a'");
            leaves.set();
            first.join();
            others.join();
        },
        o);
}

// ---- under a chooser ---------------------------------------------------------------------------

/// Each task needs a few later ones: it begins after them, or waits for them while it runs. And the
/// same with a wait for the first of a chain in its last.
struct program_of_waits {
    static constexpr unsigned tasks = 9;  // as many as a report names
    struct needed {
        unsigned task;
        bool waits;
    };
    std::vector<std::vector<needed>> needs{tasks};
    unsigned first = tasks, last = tasks;

    explicit program_of_waits(unsigned seed) {
        std::mt19937 random(seed);
        const auto below = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
        const auto add = [&](unsigned i) {
            const needed n{i + 1 + below(tasks - i - 1), below(3) != 0};
            if (!has(i, n.task, !n.waits)) needs[i].push_back(n);
        };
        for (unsigned i = 0; i + 1 < tasks; ++i) {
            for (unsigned n = below(3); n != 0; --n) add(i);
        }
        first = last = below(tasks / 2);
        do {
            if (needs[last].empty()) add(last);
            last = needs[last][below(static_cast<unsigned>(needs[last].size()))].task;
        } while (last + 1 < tasks && below(4) != 0);
    }
    /// From one to the other, by several of them where it must.
    bool leads(unsigned a, unsigned b) const {
        const auto reaches = [&](unsigned from, unsigned to) {
            return from == to || leads_without_last(from, to);
        };
        return leads_without_last(a, b) || (reaches(a, last) && reaches(first, b));
    }
    bool leads_without_last(unsigned a, unsigned b) const {
        return std::any_of(needs[a].begin(), needs[a].end(), [&](const needed& n) {
            return n.task == b || leads_without_last(n.task, b);
        });
    }
    bool has(unsigned a, unsigned b, bool waits) const {
        if (a == last && b == first) return waits;
        return std::any_of(needs[a].begin(), needs[a].end(),
                           [&](const needed& n) { return n.task == b && n.waits == waits; });
    }
};

/// Plays it on a thread of its own, which stays in it when it cannot go on.
class play_of_waits {
public:
    play_of_waits(const program_of_waits& program, bool with_back, int workers, unsigned seed)
        : program_(program), with_back_(with_back), chooser_(seed) {
        o_.name = "scene";
        o_.workers = workers;
        o_.chooser = &chooser_;
        // So long that only a look at once finds anything.
        o_.deadlock = {.after = braid::seconds(3600),
                       .handler = {[](void* user, const char* message) {
                                       static_cast<play_of_waits*>(user)->said_ = message;
                                       ++static_cast<play_of_waits*>(user)->count_;
                                   },
                                   this}};
        notes_.install(o_);
        braid_test::start_and_leave([this] { play(); });
    }
    /// Empty, or what is wrong. Returns when the program has ended, or nobody can go on.
    std::string judge() {
        until([this] { return ended_ || chooser_.standstills() > 0; });
        const std::size_t refused = notes_.count(&braid_test::recorder::misuse);
        if (ended_) {
            if (count_ != 0) return "it ended, and there was a report: " + said_;
            return with_back_ == (refused != 0) ? "" : "a wait was refused without a reason";
        }
        if (count_ != 1) return "it stands still, with " + std::to_string(count_) + " reports";
        if (!with_back_) return "no circle was planted: " + said_;
        return names_needs_of_program() ? "" : "such waits there are not: " + said_;
    }
    bool has_ended() const { return ended_; }

private:
    void play() {
        auto* const s = new braid::scheduler(o_);
        braid::task_builder gate = s->begin({}, braid::empty);
        for (unsigned i = program_.tasks; i-- != 0;) {
            names_[i] = "t" + std::to_string(i);
            std::vector<braid::task_id> after{gate.id()};
            for (const auto& n : program_.needs[i]) {
                if (!n.waits) after.push_back(ids_[n.task]);
            }
            ids_[i] = s->spawn({.name = names_[i].c_str(), .after_all = after}, [this, s, i] {
                for (const auto& n : program_.needs[i]) {
                    if (n.waits) s->wait(ids_[n.task]);
                }
                if (with_back_ && i == program_.last) s->wait(ids_[program_.first]);
            });
        }
        gate.finish();
        for (const braid::task_id id : ids_) s->wait(id);
        delete s;
        ended_ = true;
    }
    bool names_needs_of_program() const {
        braid_test::unread_text text{said_};
        unsigned tasks = 0, at = 0;
        const auto name = [&] {
            at = text.left.size() > 2 ? static_cast<unsigned>(text.left[2] - '0') : program_.tasks;
            return at < program_.tasks && text.read("'" + names_[at] + "'");
        };
        const std::string head = text.left.substr(0, text.left.find(": '") + 2);
        if (!text.read(head) || !name()) return false;
        const unsigned first = at;
        do {
            const unsigned before = at;
            const bool through =
                text.read(tasks == 0 ? " " : ", which ") && text.read("waits for what needs ");
            const bool waits = !through && text.read("waits for ");
            if (!through && !waits && !text.read("begins only after ")) return false;
            if (!name()) return false;
            if (through ? !program_.leads(before, at) : !program_.has(before, at, waits))
                return false;
            ++tasks;
        } while (at != first);
        return head == "scene: a deadlock of " + std::to_string(tasks) + " tasks: " &&
               text.left == ". No thread can go on with any of them. " + after_instead;
    }

    const program_of_waits program_;
    const bool with_back_;
    braid_test::seeded_chooser chooser_;
    braid_test::recorder notes_;
    braid::scheduler_options o_;
    std::string names_[program_of_waits::tasks];
    braid::task_id ids_[program_of_waits::tasks];
    std::string said_;
    std::atomic<int> count_{0};
    std::atomic<bool> ended_{false};
};

/// What cannot go on keeps its threads, so there are only so many in a process.
constexpr unsigned seeds_of_a_process = 100;

void play_random_waits(int workers, unsigned first_seed) {
    unsigned reported = 0;
    for (unsigned seed = first_seed; seed < first_seed + seeds_of_a_process; ++seed) {
        for (const bool with_back : {true, false}) {
            auto* const played =
                new play_of_waits(program_of_waits(seed), with_back, workers, seed);
            const std::string wrong = played->judge();
            if (!wrong.empty()) {
                std::fprintf(stderr, "seed %u, %d: %s\n", seed, with_back, wrong.c_str());
                std::_Exit(1);
            }
            reported += !played->has_ended();
            if (played->has_ended()) delete played;
        }
    }
    // On one thread each of these waits is refused.
    std::_Exit(workers != 0 && reported == 0 ? 2 : 0);
}

TEST_P(Deadlock, OfRandomWaitsIsReportedOnceUnderAChooserOrOneWaitIsRefused) {
    if (GetParam() > 8) GTEST_SKIP() << "so many threads add nothing here";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [](unsigned first_seed) {
        const braid_test::deadline guard;
        play_random_waits(GetParam(), first_seed);
    };
    for (std::size_t n = 0; n < braid_test::stress_scaled(2); ++n) {
        const unsigned first_seed = static_cast<unsigned>(n) * seeds_of_a_process + 1;
        EXPECT_EXIT(play(first_seed), testing::ExitedWithCode(0), "");
    }
}

// ---- silence -----------------------------------------------------------------------------------

/// Nobody looks but the test, as often as it likes.
class DeadlockSilence : public braid_test::scheduler_test {
protected:
    braid::scheduler_options options_without_sentry() {
        braid::scheduler_options o = options();
        o.deadlock = {.after = braid::no_limit,
                      .handler = {[](void* user, const char* message) {
                                      auto& self = *static_cast<DeadlockSilence*>(user);
                                      self.said_.emplace_back(message);
                                  },
                                  this}};
        return o;
    }
    void expect_silence() { EXPECT_EQ(said_, std::vector<std::string>()); }

private:
    std::vector<std::string> said_;
};
INSTANTIATE_TEST_SUITE_P(Workers, DeadlockSilence, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(DeadlockSilence, WhileWaitsInACircleCanRunOutOfTime) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [this] {
        const braid_test::deadline guard;
        static std::atomic<std::uint64_t> ids[2];
        static std::atomic<int> inside;
        auto* const s = new braid::scheduler(options_without_sentry());
        for (int i = 0; i < 2; ++i) {
            ids[i] = s->spawn([s, i] {
                          ++inside;
                          until([i] { return inside == 2 && ids[1 - i] != 0; });
                          s->wait_for({ids[1 - i]}, braid::seconds(3600));
                      }).value;
        }
        braid_test::start_and_leave([s] { wait_on_threads(*s, {ids[0], ids[1]}); });
        until([] { return inside == 2; });
        for (const auto& id : ids) until_wait_counts(*s, {id});
        look_for_deadlocks(*s);
        expect_silence();
        std::_Exit(HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(play(), testing::ExitedWithCode(0), "");
}

TEST_P(DeadlockSilence, WhileAChainOfWaitsEndsAtATaskThatRuns) {
    braid::scheduler s(options_without_sentry());
    braid_test::door leaves;
    std::atomic<bool> runs{false};
    const braid::task_id last = s.spawn([&] {
        runs = true;
        leaves.pass();
    });
    const braid::task_id middle = s.spawn([&] { s.wait(last); });
    const braid::task_id first = s.spawn([&] { s.wait(middle); });
    std::thread waits([&] { wait_on_threads(s, {last.value, middle.value, first.value}); });
    until([&] { return runs && explain(s, middle).find("waits for") != std::string::npos; });
    look_for_deadlocks(s);
    leaves.open();
    waits.join();
    expect_silence();
}

TEST_P(DeadlockSilence, WhileOneOfTwoHoldersCanLetAResourceGo) {
    braid::scheduler s(options_without_sentry());
    braid::resource file(s, "file", 2);
    braid_test::door leaves;
    std::atomic<int> inside{0};
    const braid::task_id other = s.spawn({.uses = {&file}}, [&] {
        ++inside;
        leaves.pass();
    });
    std::thread runs_other([&] { s.wait(other); });
    until([&] { return inside == 1; });
    std::atomic<std::uint64_t> reader{0};
    const braid::task_id holder = s.spawn({.uses = {&file}}, [&] {
        const braid::task_id r = s.spawn({.name = "reader", .uses = {&file}}, [] {});
        reader = r.value;
        s.wait(r);
    });
    std::thread runs_holder([&] { s.wait(holder); });
    until([&] { return reader != 0 && explain(s, {reader}).find("in line") != std::string::npos; });
    until_wait_counts(s, {reader});
    look_for_deadlocks(s);
    leaves.open();
    runs_other.join();
    runs_holder.join();
    expect_silence();
}

/// The body on top will return, so the one below goes on: that the task on top is complete only
/// with its child is another matter.
TEST_P(DeadlockSilence, WhileABodyLiesBelowOneWhoseChildWaitsForIt) {
    if (GetParam() != 0) GTEST_SKIP() << "another thread would run the second task";
    braid::scheduler_options o = options_without_sentry();
    o.max_reserves = 0;
    braid::scheduler s(o);
    braid_test::door leaves;
    braid::event goes_on(s);
    std::atomic<std::uint64_t> below{0}, child{0};
    std::thread looks([&] {
        const braid::main_thread here(s, "looks");
        until([&] { return child != 0; });
        std::thread runs_child([&] { s.wait({child}); });
        until_wait_counts(s, {below});
        look_for_deadlocks(s);
        leaves.open();
        goes_on.set();
        runs_child.join();
    });
    below = s.spawn({.name = "below"}, [&] {
                 s.spawn({.name = "above"}, [&](braid::task_context& context) {
                     child = context.spawn_child([&] { s.wait({below}); }).value;
                     leaves.pass();
                 });
                 s.do_work_while_waiting_for(goes_on);
             }).value;
    s.wait({below});
    looks.join();
    expect_silence();
}

TEST_P(DeadlockSilence, WhileACompletionIsOpen) {
    braid::scheduler s(options_without_sentry());
    std::atomic<std::uint64_t> open{0};
    const braid::task_id id = s.spawn(
        [&](braid::task_context& context) { open = context.defer({.name = "reply"}).value; });
    std::thread waits([&] { s.wait(id); });
    until([&] { return open != 0; });
    look_for_deadlocks(s);
    EXPECT_TRUE(s.complete({open}));
    waits.join();
    expect_silence();
}

// ---- random programs ---------------------------------------------------------------------------

/// Tasks that depend on later ones only, so on no circle; and the same with one edge back.
struct random_program {
    static constexpr unsigned tasks = 300, ring = 100;
    std::set<std::pair<unsigned, unsigned>> edges;  // the first begins after the second
    std::pair<unsigned, unsigned> back;

    explicit random_program(unsigned seed) {
        std::mt19937 random(seed);
        std::vector<unsigned> all(tasks);
        std::iota(all.begin(), all.end(), 0U);
        std::shuffle(all.begin(), all.end(), random);
        std::vector<unsigned> members(all.begin(), all.begin() + ring);
        std::sort(members.begin(), members.end());
        for (unsigned i = 0; i + 1 < ring; ++i) edges.emplace(members[i], members[i + 1]);
        back = {members.back(), members.front()};
        for (unsigned n = 0; n < 2 * tasks; ++n) {
            const auto a = static_cast<unsigned>(random() % tasks);
            const auto b = static_cast<unsigned>(random() % tasks);
            // Not behind a member: what looks for circles when an edge is made looks at 64 tasks,
            // and is not to find this one.
            if (a < b && !std::binary_search(members.begin(), members.end(), a))
                edges.emplace(a, b);
        }
    }

    /// Empty, or what is wrong with what was found.
    std::string search(bool with_back) const {
        braid::scheduler_options o;
        o.workers = 0;
        o.deadlock.after = braid::no_limit;
        auto* const s = new braid::scheduler(o);  // with a circle in it it cannot be destroyed
        std::vector<braid::task_builder> built;
        std::map<std::uint64_t, unsigned> number;
        for (unsigned i = 0; i < tasks; ++i) {
            built.push_back(s->begin({}, braid::empty));
            number[built.back().id().value] = i;
        }
        for (const auto& [a, b] : edges) built[a].add_dependency(built[b].id());
        if (with_back && !built[back.first].add_dependency(built[back.second].id())) {
            return "the edge back was refused";
        }
        auto search = std::make_unique<braid::detail::cycle_search>();
        bool in_part = true, found = false;
        while (!found && in_part) {
            search->begin();
            found = search->next(s->internals(), in_part);
        }
        std::string wrong = found == with_back ? "" : found ? "found one too many" : "not found";
        for (unsigned i = 0; found && i < search->count(); ++i) {
            const auto at = [&](unsigned n) {
                return number.at(search->member(n % search->count()).node.task.value);
            };
            const std::pair edge{at(i), at(i + 1)};
            if (!edges.contains(edge) && edge != back) wrong = "named an edge that does not exist";
        }
        for (braid::task_builder& b : built) b.finish();
        if (!with_back) delete s;
        return wrong;
    }
};

void search_in_random_programs() {
    for (unsigned seed = 1; seed <= braid_test::stress_scaled(200); ++seed) {
        const random_program program(seed);
        for (const bool with_back : {true, false}) {
            const std::string wrong = program.search(with_back);
            if (wrong.empty()) continue;
            std::fprintf(stderr, "seed %u, %d: %s\n", seed, with_back, wrong.c_str());
            std::_Exit(1);
        }
    }
    std::_Exit(0);
}

TEST(DeadlockSeeds, ACircleIsFoundInRandomProgramsAndNoneWhereNoneIs) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(search_in_random_programs(), testing::ExitedWithCode(0), "");
}

}  // namespace
