// A task that its owner does not come to is stolen, although steals do not pay.
#include "thief.hpp"

namespace {

class Unclaimed : public testing::Test {
protected:
    Unclaimed() {
        two_.thief().steal_pause = 1;
        two_.thief().steal_again = INT64_MAX;
    }
    /// The next look, at once.
    braid::task_id looks() {
        two_.thief().unclaimed_again = 0;
        return two_.found();
    }

    braid_test::thief_and_victim two_;
};

TEST_F(Unclaimed, ATaskThatIsTheOldestAtTwoLooksIsStolen) {
    const braid::task_id task = two_.give_to_victim();
    EXPECT_FALSE(looks());
    EXPECT_EQ(looks(), task);
}

TEST_F(Unclaimed, TheSecondLookComesTwoMicrosecondsLater) {
    two_.give_to_victim();
    const std::int64_t before = braid::active_policy::now();
    EXPECT_FALSE(two_.found());
    EXPECT_GE(two_.thief().unclaimed_again, before + 2'000);
    two_.thief().unclaimed_again = INT64_MAX;
    EXPECT_FALSE(two_.found());
}

TEST_F(Unclaimed, OneWhoseOwnerComesToItsTasksIsLeftAlone) {
    for (int i = 0; i < 10; ++i) {
        two_.give_to_victim();
        EXPECT_FALSE(looks());
        two_.run(two_.take_from_victim());
    }
}

TEST_F(Unclaimed, ATaskIsStolenAtOnceAfterNobodyHadOrRanOneBetweenTwoLooks) {
    EXPECT_FALSE(looks());
    two_.thief_runs_one();  // its own tasks do not matter
    EXPECT_FALSE(looks());  // there is nothing to be found, but the pause has ended
    EXPECT_NE(two_.thief().steal_again, INT64_MAX);
    EXPECT_NE(two_.thief().steal_pause, 0) << "a small task that comes next makes it longer";
    two_.thief().unclaimed_again = INT64_MAX;
    const braid::task_id task = two_.give_to_victim();
    EXPECT_EQ(two_.found(), task);
}

TEST_F(Unclaimed, OneThatRunsTasksBetweenTwoLooksKeepsTheNextOne) {
    for (int i = 0; i < 10; ++i) {
        two_.victim_runs_one();
        EXPECT_FALSE(looks());
        EXPECT_EQ(two_.thief().steal_again, INT64_MAX);
    }
    two_.give_to_victim();
    EXPECT_FALSE(looks());
    const braid::task_id left = two_.take_from_victim();  // it lay there at one of two looks
    ASSERT_TRUE(left);
    two_.run(left);
    EXPECT_FALSE(looks());
    EXPECT_EQ(two_.thief().steal_again, INT64_MAX);
}

TEST_F(Unclaimed, OneThatHasManyIsAtWork) {
    two_.give_to_victim(5);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(looks());
    two_.run(two_.take_from_victim());
    EXPECT_FALSE(looks());
    EXPECT_TRUE(looks());
}

}  // namespace
