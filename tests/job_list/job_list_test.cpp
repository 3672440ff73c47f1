#include <braid/job_list/job_list_manager.hpp>

#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(JobList);

void count(void* data) { ++*static_cast<std::atomic<int>*>(data); }

TEST_P(JobList, RunsEachJobOnceInEachSubmission) {
    braid::scheduler s(options());
    braid::job_list_manager lists(s);
    ASSERT_TRUE(lists.register_job(&count, "count"));
    braid::job_list* l = lists.allocate({.name = "counts"});
    ASSERT_NE(l, nullptr);
    std::atomic<int> ran{0};
    for (int round = 1; round <= 20; ++round) {
        for (int i = 0; i < 100; ++i) ASSERT_TRUE(l->add(&count, &ran));
        ASSERT_TRUE(l->submit());
        l->wait();
        EXPECT_EQ(ran, 100 * round);
    }
}

}  // namespace
