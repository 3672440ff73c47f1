// Frames of random job lists: sync points, orders between lists, every parallelism and priority,
// failures, children, waits and lists within jobs; some are freed while they run.
#include <braid/job_list/job_list_manager.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <memory>
#include <random>

namespace {

using braid_test::stress_scaled;

BRAID_SCHEDULER_TEST(JobListStress);

struct failure {};

/// A list with an account of what each of its jobs should see.
struct random_list {
    struct node {
        random_list* of;
        std::uint32_t after;  // jobs below it have ended when this one starts
        unsigned kind;
        unsigned frame = 0;  // of the run before; plain: read by those that come after
    };

    random_list(braid::scheduler& scheduler, braid::job_list_manager& manager, unsigned seed)
        : s(scheduler), lists(manager), random(seed) {
        const auto priority = static_cast<braid::priority_level>(random() % 3);
        list = lists.allocate({.priority = priority, .max_jobs = 64, .max_syncs = 64});
        nodes.reserve(64);
    }

    static void run(void* data) {
        node& n = *static_cast<node*>(data);
        random_list& l = *n.of;
        for (std::uint32_t i = 0; i < n.after; ++i) l.early += l.nodes[i].frame != l.frame;
        for (const random_list* other : l.before) {
            for (const node& m : other->nodes) l.early += m.frame != other->frame;
        }
        if (n.kind == 1) {
            int done = 0;
            l.s.wait(l.s.spawn([&done] { done = 1; }));
            l.early += done != 1;
        } else if (n.kind == 2) {
            l.s.spawn({.parent = braid::this_task::id()}, [] {});
        }
        l.ran.fetch_add(1, std::memory_order_relaxed);
        n.frame = l.frame;
        if (n.kind == 3) throw failure();
    }

    void fill() {
        nodes.clear();
        fails = false;
        ++frame;
        ran = 0;
        std::uint32_t signalled = 0, after = 0;
        bool open = false;
        const auto count = static_cast<std::uint32_t>(random() % 60);
        while (nodes.size() < count) {
            const std::size_t what = random() % 8;
            if (what == 0 && !open) {
                open = list->signal();
                signalled = static_cast<std::uint32_t>(nodes.size());
            } else if (what == 1 && open) {
                open = !list->synchronize();
                after = signalled;
            } else {
                const std::size_t kind = random() % 40;
                nodes.push_back({this, after, kind > 3 ? 0 : static_cast<unsigned>(kind)});
                fails = fails || kind == 3;
                list->add(&run, &nodes.back());
            }
        }
        if (open) list->synchronize();
    }
    void submit(random_list* first, random_list* second) {
        before.clear();
        for (random_list* l : {first, second}) {
            if (l != nullptr) before.push_back(l);
        }
        ASSERT_TRUE(list->submit({.after = {first != nullptr ? first->list : nullptr,
                                            second != nullptr ? second->list : nullptr},
                                  .parallelism = static_cast<int>(random() % 9) - 3}));
    }
    void collect() {
        bool failed = false;
        try {
            list->wait();
        } catch (const failure&) {
            failed = true;
        }
        EXPECT_EQ(failed, fails);
        EXPECT_EQ(ran, nodes.size());
        const braid::job_list_statistics sum = list->statistics();
        EXPECT_EQ(sum.executed, nodes.size());
        EXPECT_GE(sum.processing_ns, 0);
        EXPECT_GE(sum.wasted_ns, 0);
    }

    braid::scheduler& s;
    braid::job_list_manager& lists;
    braid::job_list* list;
    std::mt19937 random;
    std::vector<node> nodes;
    std::vector<const random_list*> before;
    unsigned frame = 0;
    bool fails = false;
    std::atomic<unsigned> ran{0}, early{0};
};

TEST_P(JobListStress, FramesOfRandomListsRunAsTheySay) {
    braid::scheduler s(options());
    braid::job_list_manager lists(s);
    lists.register_job(&random_list::run, "node");
    const auto play = [&](unsigned seed) {
        std::mt19937 random(seed);
        std::vector<std::unique_ptr<random_list>> all;
        for (unsigned i = 0; i < 5; ++i) {
            all.push_back(std::make_unique<random_list>(s, lists, seed * 31 + i));
        }
        for (unsigned frame = 0; frame < 6; ++frame) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                all[i]->fill();
                random_list* before[2] = {};
                for (random_list*& b : before) {
                    if (i != 0 && random() % 2 == 0) b = all[random() % i].get();
                }
                all[i]->submit(before[0], before[1]);
            }
            for (auto& l : all) l->collect();
        }
        for (auto& l : all) {
            EXPECT_EQ(l->early, 0U) << "seed " << seed;
            l->fill();
            l->submit(nullptr, nullptr);
            lists.free(l->list);  // while it runs
            EXPECT_EQ(l->ran, l->nodes.size());
        }
    };
    for (unsigned seed = 0; seed < stress_scaled(40); ++seed) {
        // Two at once in tasks, one on this thread.
        const auto first = s.spawn({.may_be_long = true}, [&play, seed] { play(3 * seed); });
        const auto second = s.spawn({.may_be_long = true}, [&play, seed] { play(3 * seed + 1); });
        play(3 * seed + 2);
        s.wait(first);
        s.wait(second);
    }
}

TEST_P(JobListStress, TinyListsAreFreedAsSoonAsTheyAreOver) {
    braid::scheduler s(options());
    braid::job_list_manager lists(s);
    constexpr braid::job_function nothing = [](void*) {};
    lists.register_job(nothing, "nothing");
    for (std::size_t round = 0; round < stress_scaled(3'000); ++round) {
        braid::job_list* l = lists.allocate({.max_jobs = 8, .max_syncs = 4});
        for (std::size_t i = 0; i < round % 8; ++i) {
            if (i % 2 == 0) l->signal();
            l->add(nothing, nullptr);
            if (i % 2 == 1) l->synchronize();
        }
        if (round % 2 == 1) l->synchronize();
        ASSERT_TRUE(l->submit({.parallelism = 1 + static_cast<int>(round % 5)}));
        if (round % 3 == 0) l->wait();
        lists.free(l);
    }
}

}  // namespace
