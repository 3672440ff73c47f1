// Random programs of tasks and coroutines that need each other by dependencies, waits, awaits and a
// resource; each of them once with a circle and once without. Every circle is reported, once, by
// needs that the program has, and a program without one hears nothing.
#include "deadlocks.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/async.hpp>
#include <braid/core/resource.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using braid::task_id;
using braid_test::until;

enum class planted : unsigned { nothing, wait, resource };

/// Each task needs a few later ones. The first of a chain has the resource, and some others that
/// neither need it nor are needed by it; in programs of odd seeds none has it, and some are for the
/// main thread alone, which waits for all. What is planted in the last of the chain closes a
/// circle: a wait for the first, or for a task `x` that needs the resource.
struct program {
    static constexpr unsigned tasks = 8;  // with x as many as a report names
    struct needed {
        unsigned task;
        bool after;  // else the body waits for it, or awaits it
    };
    struct task {
        std::vector<needed> needs;
        bool is_coroutine = false, has_resource = false, is_pinned = false;
    };
    task all[tasks];
    unsigned first = 0, last = 0;

    explicit program(unsigned seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::size_t most) { return static_cast<unsigned>(random() % most); };
        const auto add = [&](unsigned i) {
            const needed n{i + 1 + below(tasks - i - 1), below(3) == 0};
            if (!needs(i, n.task, !n.after)) all[i].needs.push_back(n);
        };
        for (unsigned i = 0; i != tasks; ++i) {
            all[i].is_coroutine = below(3) == 0;
            for (unsigned n = i + 1 < tasks ? below(3) : 0; n != 0; --n) add(i);
        }
        first = last = below(tasks / 2);
        do {
            if (all[last].needs.empty()) add(last);
            last = all[last].needs[below(all[last].needs.size())].task;
        } while (last + 1 < tasks && below(4) != 0);
        // A circle behind a resource that a suspended coroutine holds is not found.
        all[first].is_coroutine = false;
        all[first].has_resource = true;
        for (unsigned i = 0; i != tasks; ++i) {
            const bool apart = !leads(i, first) && !leads(first, i);
            if (apart && !all[i].is_coroutine && below(2) == 0) all[i].has_resource = true;
        }
        // Two that have it must not need each other.
        for (unsigned i = 0; i != tasks; ++i) {
            for (unsigned j = 0; j != tasks && all[i].has_resource; ++j) {
                if (j != i && all[j].has_resource && leads(i, j))
                    all[j == first ? i : j].has_resource = false;
            }
        }
        // A wait does not see what the holder of a resource needs that its thread alone may run.
        if (seed % 2 == 0) return;
        for (task& t : all) {
            t.has_resource = false;
            t.is_pinned = !t.is_coroutine && below(4) == 0;
        }
    }
    bool needs(unsigned a, unsigned b, bool after) const {
        return std::any_of(all[a].needs.begin(), all[a].needs.end(),
                           [&](const needed& n) { return n.task == b && n.after == after; });
    }
    bool leads(unsigned a, unsigned b) const {
        return std::any_of(all[a].needs.begin(), all[a].needs.end(),
                           [&](const needed& n) { return n.task == b || leads(n.task, b); });
    }
};

/// Plays it on a thread of its own, which stays in it when it cannot go on. What has not ended is
/// not destroyed.
class play {
public:
    play(const program& what, planted circle, int workers, braid_test::seeded_chooser* chooser)
        : program_(what), circle_(circle), chooser_(chooser) {
        o_.name = "scene";
        o_.workers = workers;
        o_.chooser = chooser;
        // Under a chooser so long that only a look at once finds anything.
        o_.deadlock.after = chooser != nullptr ? braid::seconds(3600) : braid::milliseconds(2);
        o_.deadlock.handler = {[](void* user, const char* message) {
                                   auto& self = *static_cast<play*>(user);
                                   self.said_ = message;
                                   ++self.count_;
                               },
                               this};
        notes_.install(o_);
        // Not detached: winpthreads may lose a thread that is detached before it has begun.
        thread_ = std::thread([this] { run(); });
    }
    ~play() { thread_.join(); }
    play(const play&) = delete;
    play& operator=(const play&) = delete;

    /// Empty, or what is wrong. Returns when it has ended, or nobody can go on, or it has reported.
    std::string judge() {
        until([this] {
            return ended_ || (chooser_ != nullptr ? chooser_->standstills() > 0 : count_ > 0);
        });
        const std::size_t refused = notes_.count(&braid_test::recorder::misuse);
        if (ended_) {
            if (count_ != 0) return "it ended, and there was a report: " + said_;
            // What needs the resource may have come before its holder.
            if (circle_ == planted::wait && refused == 0) return "it ended in spite of a circle";
            if (circle_ == planted::nothing && refused != 0) return "a wait was refused";
            return "";
        }
        if (count_ != 1) {
            return "it stands still, with " + std::to_string(count_) +
                   " reports:" + all_explained();
        }
        if (circle_ == planted::nothing) return "no circle was planted: " + said_;
        return names_needs_of_program() ? "" : "such needs there are not: " + said_;
    }
    bool has_ended() const { return ended_; }
    int reports() const { return count_; }

private:
    static braid::co<> awaits_all(play* self, unsigned i) {
        for (const program::needed& n : self->program_.all[i].needs) {
            if (!n.after) co_await self->ids_[n.task];
        }
        if (const task_id back = self->planted_in(i)) co_await back;
    }
    void wait_for_all(unsigned i) {
        for (const program::needed& n : program_.all[i].needs) {
            if (!n.after) s_->wait(ids_[n.task]);
        }
        if (const task_id back = planted_in(i)) s_->wait(back);
    }
    task_id planted_in(unsigned i) {
        if (i != program_.last || circle_ == planted::nothing) return {};
        if (circle_ == planted::wait) return ids_[program_.first];
        return s_->spawn({.name = "x", .uses = {resource_.get()}}, [] {});
    }

    void run() {
        s_ = std::make_unique<braid::scheduler>(o_);
        resource_ = std::make_unique<braid::resource>(*s_, "file");
        braid::task_builder gate = s_->begin({}, braid::empty);
        for (unsigned i = program::tasks; i-- != 0;) {
            const program::task& t = program_.all[i];
            names_[i] = "t" + std::to_string(i);
            std::vector<task_id> after{gate.id()};
            for (const program::needed& n : t.needs) {
                if (n.after) after.push_back(ids_[n.task]);
            }
            const char* const name = names_[i].c_str();
            if (t.is_coroutine) {
                futures_[i] =
                    braid::co_spawn(*s_, {.name = name, .after_all = after}, awaits_all, this, i);
                ids_[i] = futures_[i].id();
            } else if (t.has_resource) {
                ids_[i] = s_->spawn({.name = name, .after_all = after, .uses = {resource_.get()}},
                                    [this, i] { wait_for_all(i); });
            } else {
                const braid::thread_ref on = t.is_pinned ? s_->this_thread() : braid::thread_ref{};
                ids_[i] = s_->spawn({.name = name, .after_all = after, .on = on},
                                    [this, i] { wait_for_all(i); });
            }
        }
        gate.finish();
        for (const task_id id : ids_) s_->wait(id);
        for (auto& f : futures_) f = {};
        resource_.reset();
        s_.reset();
        ended_ = true;
    }

    std::string all_explained() const {
        std::string all;
        const auto add = [](void* to, task_id, const char* text) {
            *static_cast<std::string*>(to) += std::string("\n") + text;
        };
        braid::explain_all(*s_, add, &all);
        return all;
    }
    bool names_needs_of_program() const {
        braid_test::unread_text text{said_};
        unsigned tasks = 0, at = 0;
        constexpr unsigned x = program::tasks;
        const auto name = [&] {
            if (text.read("'x'")) return (at = x, true);
            at = text.left.size() > 2 ? static_cast<unsigned>(text.left[2] - '0') : x;
            return at < x && text.read("'" + names_[at] + "'");
        };
        const std::string head = text.left.substr(0, text.left.find(": '") + 2);
        if (!text.read(head) || !name()) return false;
        const unsigned first = at;
        do {
            const unsigned before = at;
            if (!text.read(tasks == 0 ? " " : ", which ")) return false;
            constexpr const char* all[] = {"waits for what needs ", "waits for ", "awaits ",
                                           "begins only after ",
                                           "needs the resource 'file', held by "};
            const auto* const verb = std::find_if(std::begin(all), std::end(all),
                                                  [&](const char* one) { return text.read(one); });
            if (verb == std::end(all) || !name()) return false;
            if (!is_so(before, static_cast<unsigned>(verb - all), at)) return false;
            ++tasks;
        } while (at != first);
        return head == "scene: a deadlock of " + std::to_string(tasks) + " tasks: " &&
               text.left.starts_with(". No thread can go on with any of them. ");
    }
    bool is_so(unsigned a, unsigned verb, unsigned b) const {
        constexpr unsigned x = program::tasks;
        const bool back_to_x = circle_ == planted::resource && a == program_.last && b == x;
        const bool back = circle_ == planted::wait && a == program_.last && b == program_.first;
        switch (verb) {
            case 0:
                return reaches(a, b);
            case 1:
            case 2:
                if (a == x || (verb == 2) != program_.all[a].is_coroutine) return false;
                return back || back_to_x || (b != x && program_.needs(a, b, false));
            case 3:
                return a != x && b != x && program_.needs(a, b, true);
            default:
                return b != x && program_.all[b].has_resource &&
                       (a == x || program_.all[a].has_resource);
        }
    }
    /// Over several needs, the planted one among them.
    bool reaches(unsigned a, unsigned b) const {
        constexpr unsigned x = program::tasks;
        const auto leads = [&](unsigned from, unsigned to) {
            return from == to || (from != x && to != x && program_.leads(from, to));
        };
        return leads(a, b) || (leads(a, program_.last) && (b == x || leads(program_.first, b)));
    }

    const program program_;
    const planted circle_;
    braid_test::seeded_chooser* const chooser_;
    braid_test::recorder notes_;
    braid::scheduler_options o_;
    std::unique_ptr<braid::scheduler> s_;
    std::unique_ptr<braid::resource> resource_;
    std::string names_[program::tasks];
    task_id ids_[program::tasks];
    braid::future<void> futures_[program::tasks];
    std::string said_;
    std::atomic<int> count_{0};
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

/// What cannot go on keeps its threads, so there are only so many in a process.
constexpr unsigned seeds_of_a_process = 50;

[[noreturn]] void play_programs(int workers, unsigned first_seed, bool under_chooser) {
    const braid_test::deadline guard;
    std::vector<std::unique_ptr<play>> hanging;
    for (unsigned seed = first_seed; seed < first_seed + seeds_of_a_process; ++seed) {
        for (const planted circle : {planted::wait, planted::resource, planted::nothing}) {
            if (circle == planted::resource && seed % 2 != 0) continue;
            auto* const chooser = under_chooser ? new braid_test::seeded_chooser(seed) : nullptr;
            auto played = std::make_unique<play>(program(seed), circle, workers, chooser);
            const std::string wrong = played->judge();
            if (!wrong.empty()) {
                std::fprintf(stderr, "seed %u, %u: %s\n", seed, static_cast<unsigned>(circle),
                             wrong.c_str());
                std::_Exit(1);
            }
            if (!played->has_ended()) {
                hanging.push_back(std::move(played));
            } else {
                delete chooser;
            }
        }
    }
    // The threads have looked many times more at those that were reported first.
    const bool twice = std::any_of(hanging.begin(), hanging.end(),
                                   [](const auto& p) { return p->reports() != 1; });
    if (twice) std::fprintf(stderr, "a circle was reported twice\n");
    // On one thread most of these waits are refused.
    std::_Exit(twice ? 1 : workers != 0 && hanging.empty() ? 2 : 0);
}

class RandomHangs : public testing::TestWithParam<int> {
protected:
    void play_all(bool under_chooser, std::size_t processes) {
        if (GetParam() > 8) GTEST_SKIP() << "so many threads add nothing here";
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        for (std::size_t n = 0; n < processes; ++n) {
            const unsigned first_seed = static_cast<unsigned>(n) * seeds_of_a_process + 1;
            EXPECT_EXIT(play_programs(GetParam(), first_seed, under_chooser),
                        testing::ExitedWithCode(0), "");
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, RandomHangs, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(RandomHangs, AreReportedOnceUnderAChooserOrOneWaitIsRefused) {
    play_all(true, braid_test::stress_scaled(1));
}

TEST_P(RandomHangs, AreReportedOnceOnThreadsOrOneWaitIsRefused) {
    play_all(false, braid_test::stress_scaled(1));
}

}  // namespace
