// The parking lot's cost: a wake looks at each record of its bucket once, and leaving looks at
// none.
#include "core/seats/parking_lot.hpp"

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <vector>

namespace {

struct counting_policy : braid::active_policy {};
struct counting_mutex {
    void lock() { ++locks; }
    bool try_lock() { return true; }
    void unlock() {}
    static inline unsigned locks = 0;
};

}  // namespace

BRAID_NAMESPACE_BEGIN
template <>
struct mutex_of<counting_policy> {
    using type = counting_mutex;
};
BRAID_NAMESPACE_END

namespace {

using lot = braid::detail::basic_parking_lot<counting_policy, 1>;
using record = braid::detail::basic_wait_record<counting_policy>;
using task_record = braid::detail::basic_task_wait_record<counting_policy>;

constexpr std::uint64_t key = 7, other_key = 8;

/// All in one bucket, every third one under another key; of the rest every fifth is a thread.
class ParkingLot : public testing::Test {
protected:
    void enter_all() {
        for (std::size_t i = 0; i < records_.size(); ++i) {
            records_[i].is_task = i % 5 != 0;
            records_[i].completion = i + 1;
            const auto seat = static_cast<std::uint16_t>(i);
            ASSERT_TRUE(lot_.enter(records_[i], key_of(i), seat, [] { return true; }));
        }
        counting_mutex::locks = 0;
    }
    static std::uint64_t key_of(std::size_t i) { return i % 3 == 0 ? other_key : key; }

    braid_test::deadline deadline_;
    lot lot_;
    std::vector<task_record> records_ = std::vector<task_record>(braid_test::scaled(300'000));
};

TEST_F(ParkingLot, WakesThreadsAndTakesTasksUnderOneLockHoweverManyThereAre) {
    enter_all();
    std::size_t threads = 0, tasks = 0;
    record* next = lot_.wake_threads_and_take_tasks(key, UINT32_MAX, [&](unsigned) { ++threads; });
    EXPECT_EQ(counting_mutex::locks, 1U);
    std::uint64_t before = UINT64_MAX;
    for (; next != nullptr; next = next->next) {
        ASSERT_TRUE(next->done);
        const std::uint64_t completion = static_cast<const task_record*>(next)->completion;
        ASSERT_LT(completion, before) << "found in the order of the bucket";
        before = completion;
        ++tasks;
    }
    std::size_t done = 0;
    for (std::size_t i = 0; i < records_.size(); ++i) {
        ASSERT_EQ(records_[i].done.load(), key_of(i) == key);
        done += records_[i].done.load();
    }
    EXPECT_EQ(threads + tasks, done);
    EXPECT_EQ(threads, (done + 2) / 5);
    EXPECT_EQ(lot_.wake_threads_and_take_tasks(key, UINT32_MAX, [](unsigned) {}), nullptr);
}

TEST_F(ParkingLot, ALimitCountsBothKinds) {
    enter_all();
    std::size_t threads = 0, tasks = 0;
    const record* next = lot_.wake_threads_and_take_tasks(key, 100, [&](unsigned) { ++threads; });
    for (; next != nullptr; next = next->next) ++tasks;
    EXPECT_EQ(threads, 20U);
    EXPECT_EQ(tasks, 80U);
}

TEST_F(ParkingLot, WhoLeavesLooksAtNoOtherRecord) {
    // The one that came first lies last. In the time that is given a walk for each would not end.
    enter_all();
    for (record& r : records_) ASSERT_FALSE(lot_.leave(r));
    EXPECT_EQ(counting_mutex::locks, records_.size());
    for (const std::uint64_t k : {key, other_key}) {
        EXPECT_EQ(lot_.wake(k, UINT32_MAX, [](record&) { return true; }, [](unsigned) {}), 0U);
    }
}

}  // namespace
