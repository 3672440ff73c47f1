#pragma once
// What every scheduler test shares: worker counts, a deadline, and an account of what was left.

#include "scale.hpp"

#include <braid/braid.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace braid_test {

/// Ends the process when a test hangs: the name of the test is the last line of the output. A test
/// that stress_scale() makes longer may take longer by the same factor.
class deadline {
public:
    explicit deadline(std::chrono::seconds limit = hang_limit)
        : watcher_([this, limit] {
              std::unique_lock lock(mutex_);
              const auto scaled_limit = limit * std::max(1.0, stress_scale());
              if (over_.wait_for(lock, scaled_limit, [this] { return done_; })) return;
              const auto* test = testing::UnitTest::GetInstance()->current_test_info();
              std::fprintf(stderr, "deadline passed in %s.%s\n",
                           test != nullptr ? test->test_suite_name() : "",
                           test != nullptr ? test->name() : "");
              std::abort();
          }) {}
    ~deadline() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        over_.notify_all();
        watcher_.join();
    }

private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread watcher_;
};

/// BRAID_TEST_WORKERS=0,2,8 or the full set.
inline std::vector<int> worker_counts() {
    const char* text = std::getenv("BRAID_TEST_WORKERS");
    if (text == nullptr) return {0, 1, 2, 4, 8, 64};
    std::vector<int> counts;
    for (const char* at = text; *at != '\0';) {
        char* end = nullptr;
        counts.push_back(static_cast<int>(std::strtol(at, &end, 10)));
        at = *end == ',' ? end + 1 : end;
    }
    return counts;
}

inline std::size_t thread_count() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/task")) {
        ++count;
    }
    return count;
}

/// Counts every byte that a scheduler takes and gives back. What it hands out is no zeros, or who
/// forgets to write there would go unseen.
struct counting_memory {
    std::atomic<std::int64_t> live{0};
    std::atomic<std::uint64_t> calls{0};

    braid::memory_hooks hooks() {
        return {.allocate =
                    [](void* user, std::size_t bytes, std::size_t alignment, braid::memory_tag) {
                        auto& self = *static_cast<counting_memory*>(user);
                        self.live += static_cast<std::int64_t>(bytes);
                        ++self.calls;
                        void* p = ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
                        if (p != nullptr) std::memset(p, 0xa5, bytes);
                        return p;
                    },
                .release =
                    [](void* user, void* p, std::size_t bytes, std::size_t alignment,
                       braid::memory_tag) {
                        static_cast<counting_memory*>(user)->live -=
                            static_cast<std::int64_t>(bytes);
                        ::operator delete(p, std::align_val_t{alignment});
                    },
                .user = this};
    }
};

/// What the scheduler had to say; each field is a count unless it is a text.
struct recorder {
    std::mutex mutex;
    std::vector<std::string> log, misuse, lost;
    bool expects_misuse = false;  // the test looked at it

    void install(braid::scheduler_options& options) {
        options.log = {[](void* user, braid::log_level, const char* message) {
                           auto& self = *static_cast<recorder*>(user);
                           const std::lock_guard lock(self.mutex);
                           self.log.emplace_back(message);
                       },
                       this};
        options.assertion = {[](void* user, const char*, const char* what, const char*, int) {
                                 auto& self = *static_cast<recorder*>(user);
                                 const std::lock_guard lock(self.mutex);
                                 self.misuse.emplace_back(what);
                             },
                             this};
        options.unobserved_exception = {[](void* user, const char* task, std::exception_ptr) {
                                            auto& self = *static_cast<recorder*>(user);
                                            const std::lock_guard lock(self.mutex);
                                            self.lost.emplace_back(task);
                                        },
                                        this};
    }
    std::size_t count(std::vector<std::string> recorder::* list, const char* part = "") {
        const std::lock_guard lock(mutex);
        expects_misuse = expects_misuse || list == &recorder::misuse;
        std::size_t n = 0;
        for (const std::string& line : this->*list) n += line.find(part) != std::string::npos;
        return n;
    }
};

/// Runs at each worker count; afterwards no byte, no task and no thread may be left.
class scheduler_test : public testing::TestWithParam<int> {
protected:
    scheduler_test() : threads_before_(thread_count()) {}

    void TearDown() override {
        if (!notes_.expects_misuse) {
            EXPECT_EQ(notes_.misuse, std::vector<std::string>());
        }
        EXPECT_EQ(memory_.live.load(), 0) << "bytes that the scheduler did not give back";
        // A joined thread may be listed for a moment longer than its join: a long one for a thread
        // of the idle class, on a busy machine and under an emulator.
        const auto limit = std::chrono::steady_clock::now() + hang_limit;
        while (thread_count() > threads_before_ && std::chrono::steady_clock::now() < limit) {
            std::this_thread::yield();
        }
        EXPECT_LE(thread_count(), threads_before_) << "threads left behind";
    }

    /// Options with this test's worker count, counting memory and recording handlers.
    braid::scheduler_options options() {
        braid::scheduler_options o;
        o.workers = GetParam();
        o.max_workers = 64;
        o.memory = memory_.hooks();
        // A task is also long when its thread loses its core, which is no fault.
        o.long_task = braid::nanoseconds(0);
        notes_.install(o);
        return o;
    }
    /// At rest, everything that came in has gone out.
    static void expect_all_ended(const braid::scheduler& s) {
        const braid::scheduler_statistics sum = s.statistics();
        EXPECT_EQ(sum.created, sum.ended());
    }

    deadline deadline_;
    counting_memory memory_;
    recorder notes_;

private:
    std::size_t threads_before_;
};

}  // namespace braid_test

/// Gives a suite its worker counts: BRAID_SCHEDULER_TEST(Deps); TEST_P(Deps, …).
#define BRAID_SCHEDULER_TEST(Suite)                                                          \
    class Suite : public braid_test::scheduler_test {};                                      \
    INSTANTIATE_TEST_SUITE_P(Workers, Suite, testing::ValuesIn(braid_test::worker_counts()), \
                             [](const auto& count) { return std::to_string(count.param); })
