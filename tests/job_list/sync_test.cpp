// G7: sync points in two phases.
#include "job_list_fixture.hpp"

#include <random>

namespace {

using braid_test::add_one;
using braid_test::door;
using braid_test::scaled;

BRAID_JOB_LIST_TEST(JobSync);

TEST_P(JobSync, JobsBetweenOverlapWhatCameBeforeTheSignal) {
    if (GetParam() == 0) GTEST_SKIP() << "takes two threads";
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    door between_ran;
    e.with.add(l, [&] { between_ran.pass(); });
    l->signal();
    e.with.add(l, [&] { between_ran.open(); });
    l->synchronize();
    l->submit();
    l->wait();
    EXPECT_TRUE(between_ran.is_open());
}

TEST_P(JobSync, LaterJobsDoNotWaitForJobsBetween) {
    if (GetParam() == 0) GTEST_SKIP() << "takes two threads";
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    std::atomic<int> before{0}, early{0};
    for (int round = 0; round < 20; ++round) {
        door later_ran;
        // A thread that has run the last job before the signal and goes on with one between must
        // have counted it: this one takes until the later one has run.
        l->add(&add_one, &before);
        l->signal();
        e.with.add(l, [&] { later_ran.pass(); });
        l->synchronize();
        e.with.add(l, [&, round] {
            early += before != round + 1;
            later_ran.open();
        });
        l->submit({.parallelism = 2});
        l->wait();
    }
    EXPECT_EQ(early, 0);
}

/// A list with random sync points, each of whose jobs looks at those it must come after.
struct random_list {
    struct node {
        random_list* of;
        std::uint32_t index, after;  // jobs below `after` have ended when this one starts
        int ran = 0;                 // plain: ThreadSanitizer is the judge of the order
    };
    static void run(void* data) {
        node& n = *static_cast<node*>(data);
        for (std::uint32_t i = 0; i < n.after; ++i) n.of->early += n.of->nodes[i].ran != 1;
        ++n.ran;
    }

    /// Which jobs each one is after, said by the words alone and not by the code under test.
    void fill(braid::job_list* l, std::mt19937& random) {
        nodes.clear();
        nodes.reserve(60);
        std::uint32_t signalled = 0, waits_for = 0;
        bool open = false;
        const auto jobs = static_cast<std::uint32_t>(random() % 50);
        while (nodes.size() < jobs) {
            switch (random() % 6) {
                case 0:
                    if (open) break;
                    open = l->signal();
                    signalled = static_cast<std::uint32_t>(nodes.size());
                    break;
                case 1:
                    if (!open) break;
                    l->synchronize();
                    open = false;
                    waits_for = signalled;
                    break;
                default:
                    nodes.push_back({this, static_cast<std::uint32_t>(nodes.size()), waits_for});
                    l->add(&run, &nodes.back());
            }
        }
        if (open) l->synchronize();
    }

    std::vector<node> nodes;
    std::atomic<int> early{0};
};

TEST_P(JobSync, LaterJobsNeverStartEarly) {
    engine e(options());
    e.lists.register_job(&random_list::run, "node");
    braid::job_list* l = e.lists.allocate({.max_jobs = 64, .max_syncs = 64});
    random_list list;
    for (unsigned seed = 0; seed < scaled(300); ++seed) {
        std::mt19937 random(seed);
        list.fill(l, random);
        ASSERT_TRUE(l->submit({.parallelism = static_cast<int>(seed % 6) - 1}));
        l->wait();
        ASSERT_EQ(list.early, 0) << "seed " << seed;
        for (const random_list::node& n : list.nodes) ASSERT_EQ(n.ran, 1) << "seed " << seed;
    }
}

TEST_P(JobSync, PointsWithoutJobsAroundThemHoldNobodyBack) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    const auto sync = [&] {
        EXPECT_TRUE(l->signal());
        EXPECT_TRUE(l->synchronize());
    };
    for (const int parallelism : {-1, 0, 1, 5}) {
        std::string order;
        sync();  // at the beginning
        sync();
        e.with.add(l, [&order] { order += 'a'; });
        sync();
        sync();  // one after the other
        e.with.add(l, [&order] { order += 'b'; });
        EXPECT_TRUE(l->signal());
        EXPECT_TRUE(l->synchronize());
        e.with.add(l, [&order] { order += 'c'; });
        sync();  // at the end
        ASSERT_TRUE(l->submit({.parallelism = parallelism}));
        l->wait();
        EXPECT_EQ(order, "abc");
        EXPECT_EQ(l->statistics().syncs, 6U);
        sync();  // and nothing else
        ASSERT_TRUE(l->submit({.parallelism = parallelism}));
        l->wait();
    }
}

TEST_P(JobSync, AWaitForWhatCameBeforeAnEarlierSignalIsKept) {
    if (GetParam() == 0) GTEST_SKIP() << "takes two threads";
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    // What comes between the signals ends long before what comes before the first: the second
    // sync point must not be taken for open.
    door between_ran;
    bool over = false, seen = false;
    e.with.add(l, [&] {
        between_ran.pass();
        over = true;
    });
    l->signal();
    e.with.add(l, [&] { between_ran.open(); });
    l->synchronize();
    l->signal();
    l->synchronize();
    e.with.add(l, [&] { seen = over; });
    l->submit();
    l->wait();
    EXPECT_TRUE(seen);
}

TEST_P(JobSync, AnUnmatchedSignalIsRefusedAndLeavesNothingBehind) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate();
    std::atomic<int> ran{0};
    EXPECT_FALSE(l->synchronize());
    EXPECT_EQ(reported_.text, "signal() comes before synchronize(); it says what is waited for");
    l->add(&add_one, &ran);
    EXPECT_TRUE(l->signal());
    EXPECT_FALSE(l->signal());
    EXPECT_EQ(reported_.text, "synchronize() comes before the next signal()");
    l->add(&add_one, &ran);
    EXPECT_FALSE(l->submit());
    EXPECT_EQ(reported_.text, "signal() without synchronize(): what is added next would not wait");
    EXPECT_EQ(reported_.count, 3);
    EXPECT_TRUE(l->synchronize());
    ASSERT_TRUE(l->submit());
    l->wait();
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(l->statistics().syncs, 1U);

    l->add(&add_one, &ran);
    l->signal();
    l->clear();
    l->add(&add_one, &ran);
    ASSERT_TRUE(l->submit()) << "cleared: no signal is open";
    l->wait();
    EXPECT_EQ(l->statistics().syncs, 0U);
    EXPECT_EQ(ran, 3);
}

}  // namespace
