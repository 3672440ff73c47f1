// What the system has at once: reads of a pipe, which it has until somebody writes.
#include <braid/async/file_reader.hpp>

#include "scheduler_test.hpp"
#include "work_until.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <string>
#include <vector>

namespace {

using braid::priority_level;

class FileFlights : public braid_test::scheduler_test {
protected:
    FileFlights() { EXPECT_EQ(pipe(ends_), 0); }
    ~FileFlights() override {
        close(ends_[0]);
        close(ends_[1]);
    }
    std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }
    void write_bytes(std::size_t count) const {
        const std::string bytes(count, 'x');
        EXPECT_EQ(write(ends_[1], bytes.data(), count), static_cast<ssize_t>(count));
    }

private:
    int ends_[2];
};
INSTANTIATE_TEST_SUITE_P(Workers, FileFlights, testing::Values(0));

constexpr const char* only_uring =
    "only io_uring gives a device so much that others have to wait for it";

TEST_P(FileFlights, ReadsOfLowPriorityTakeAQuarterOfThem) {
    braid::scheduler s(options());
    const braid::file from(path());
    braid::file_reader io(s, {.in_flight = 16});
    if (io.statistics().back_end != std::string("uring")) {
        GTEST_SKIP() << only_uring;
    }
    std::vector<braid::task_id> all;
    // A read is counted as asked for before it is in flight, and another thread may begin it.
    const auto ask = [&](std::size_t count, priority_level level, unsigned in_flight) {
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(io.read_then({}, from, 0, 1, [](auto) {}, {.priority = level}));
        }
        braid_test::work_until(s, [&] {
            const braid::file_reader_statistics n = io.statistics();
            return n.queued + n.in_flight == all.size() && n.in_flight >= in_flight;
        });
        EXPECT_EQ(io.statistics().in_flight, in_flight);
    };
    ask(20, priority_level::low, 4);
    ask(5, priority_level::normal, 9);
    ask(2, priority_level::high, 11);
    ask(9, priority_level::normal, 16);
    write_bytes(all.size());
    for (const braid::task_id read : all) s.wait(read);
    EXPECT_EQ(io.statistics().read, all.size());
}

TEST_P(FileFlights, ReadsOfLowPriorityAloneHaveOneOfThemAtLeast) {
    braid::scheduler s(options());
    const braid::file from(path());
    braid::file_reader io(s, {.in_flight = 1});
    if (io.statistics().back_end != std::string("uring")) GTEST_SKIP() << only_uring;
    write_bytes(3);
    for (int i = 0; i < 3; ++i) {
        s.wait(io.read_then({}, from, 0, 1, [](auto) {}, {.priority = priority_level::low}));
    }
    EXPECT_EQ(io.statistics().read, 3U);
}

}  // namespace
