// Random programs from a seed: trees of tasks that depend, wait, fail, use resources and post.
// Claim: every program ends, runs each body once or cancels it, and leaves nothing behind.
#include "scheduler_test.hpp"

#include <memory>
#include <random>

namespace {

struct program {
    braid::scheduler& s;
    braid::resource& exclusive;
    braid::resource& counted;
    braid::scope& posts;
    std::atomic<int> in_exclusive{0}, in_counted{0};
    std::atomic<int> bodies{0}, posted{0}, violations{0};
    std::atomic<int> budget;

    program(braid::scheduler& sched, braid::resource& one, braid::resource& two, braid::scope& sc,
            int tasks)
        : s(sched), exclusive(one), counted(two), posts(sc), budget(tasks) {}

    void body(unsigned seed, int depth, braid::task_id self) {
        ++bodies;
        std::mt19937 random(seed);
        const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
        std::vector<braid::task_id> made;
        const unsigned count = depth == 0 ? 6 : static_cast<unsigned>(random() % 4);
        for (unsigned i = 0; i < count && depth < 6 && --budget > 0; ++i) {
            braid::task_options o{.name = "random"};
            const braid::task_id before = made.empty() ? braid::task_id{} : made.back();
            if (chance(40)) o.parent = self;
            if (chance(30)) o.after_all = braid::task_ids(&before, 1);
            if (chance(20)) o.priority = braid::priority_level::high;
            if (chance(10)) o.priority = braid::priority_level::low;
            if (chance(5)) o.runs_as = braid::task_class::background;
            const unsigned child = static_cast<unsigned>(random());
            const bool fails = chance(5);
            const auto run = [this, child, depth, fails](braid::task_context& c) {
                body(child, depth + 1, c.id());
                if (fails) throw std::runtime_error("planned");
            };
            // A task that waits while it holds a resource may wait for one that needs it.
            if (chance(10)) {
                made.push_back(
                    s.spawn({.name = "exclusive", .uses = {&exclusive, &counted}}, [this] {
                        if (++in_exclusive > 1) ++violations;
                        if (++in_counted > 2) ++violations;
                        --in_counted;
                        --in_exclusive;
                    }));
            } else {
                made.push_back(s.spawn(o, run));
            }
            if (chance(15)) posts.post([this] { ++posted; });
            if (chance(10)) {
                auto e = std::make_shared<braid::event>(s);
                s.post([e] { e->set(); });
                s.do_work_while_waiting_for(*e);
            }
        }
        if (made.empty() || !chance(60)) return;
        const braid::task_id id = made[random() % made.size()];
        try {
            if (chance(20)) {
                s.wait_for(id, braid::microseconds(50));
            } else {
                s.wait(id);
            }
        } catch (const std::exception&) {
        }
    }
};

BRAID_SCHEDULER_TEST(RandomPrograms);

TEST_P(RandomPrograms, EndAndLeaveNothingBehind) {
    const char* scale = std::getenv("BRAID_STRESS_SCALE");
    const unsigned rounds = 20 * (scale != nullptr ? static_cast<unsigned>(std::atoi(scale)) : 1);
    for (unsigned seed = 1; seed <= rounds; ++seed) {
        SCOPED_TRACE(seed);
        braid::scheduler_options o = options();
        o.ring = seed % 3 == 0 ? 2 : 1024;
        o.idle = seed % 2 == 0 ? braid::parking::power : braid::parking::balanced;
        braid::scheduler s(o);
        braid::resource one(s, "one");
        braid::resource two(s, "two", 2);
        braid::scope posts(s);
        program p(s, one, two, posts, 400);
        const auto root = [&p, seed](braid::task_context& c) { p.body(seed, 0, c.id()); };
        const braid::task_id id = s.spawn({.name = "root"}, root);
        try {
            s.wait(id);
        } catch (const std::exception&) {
        }
        posts.wait();
        s.shut_down();
        EXPECT_EQ(p.violations.load(), 0);
        expect_all_ended(s);
        const braid::scheduler_statistics sum = s.statistics();
        EXPECT_EQ(sum.created, sum.executed + sum.failed + sum.cancelled);
    }
}

}  // namespace
