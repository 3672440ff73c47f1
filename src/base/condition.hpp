#pragma once

#include "braid/base/mutex.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// Sleeps until notified, for the rare places where a thread without a seat waits. The caller holds
/// `mutex` and looks at its condition again each time, as with std::condition_variable.
template <class Policy>
class basic_condition {
public:
    void wait(basic_mutex<Policy>& mutex) BRAID_REQUIRES(mutex) {
        std::unique_lock lock(mutex.mutex_, std::adopt_lock);
        condition_.wait(lock);
        lock.release();  // the caller holds it on
    }
    void wait_for(basic_mutex<Policy>& mutex, std::int64_t ns) BRAID_REQUIRES(mutex) {
        std::unique_lock lock(mutex.mutex_, std::adopt_lock);
        condition_.wait_for(lock, std::chrono::nanoseconds(ns));
        lock.release();
    }
    void notify_all() { condition_.notify_all(); }

private:
    // Not condition_variable_any, which allocates.
    std::condition_variable condition_;
};

BRAID_NAMESPACE_END
