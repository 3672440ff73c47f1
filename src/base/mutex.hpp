#pragma once
// Locks whose rules the compiler checks: a member says which mutex guards it, a function which one
// it wants (clang's thread-safety analysis, -Wthread-safety; other compilers see nothing of it).
// Templates over a policy, as the atomics are, so that a model checker puts its own in their place.

#include "braid/base/policy.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#if defined(__clang__)
#define BRAID_LOCK_RULE(rule) __attribute__((rule))
#else
#define BRAID_LOCK_RULE(rule)
#endif
#define BRAID_GUARDED_BY(mutex) BRAID_LOCK_RULE(guarded_by(mutex))
#define BRAID_REQUIRES(...) BRAID_LOCK_RULE(requires_capability(__VA_ARGS__))

BRAID_NAMESPACE_BEGIN

/// The mutex behind a policy. A model checker specialises it.
template <class Policy>
struct mutex_of {
    using type = std::mutex;
};

template <class Policy>
class basic_condition;

template <class Policy>
class BRAID_LOCK_RULE(capability("mutex")) basic_mutex {
public:
    basic_mutex() = default;
    basic_mutex(const basic_mutex&) = delete;
    basic_mutex& operator=(const basic_mutex&) = delete;
    void lock() BRAID_LOCK_RULE(acquire_capability()) { mutex_.lock(); }
    bool try_lock() BRAID_LOCK_RULE(try_acquire_capability(true)) { return mutex_.try_lock(); }
    void unlock() BRAID_LOCK_RULE(release_capability()) { mutex_.unlock(); }

private:
    friend class basic_condition<Policy>;
    typename mutex_of<Policy>::type mutex_;
};

/// Holds a mutex as long as it lives.
template <class Policy>
class BRAID_LOCK_RULE(scoped_lockable) basic_locked {
public:
    explicit basic_locked(basic_mutex<Policy>& m) BRAID_LOCK_RULE(acquire_capability(m))
        : mutex_(m) {
        mutex_.lock();
    }
    ~basic_locked() BRAID_LOCK_RULE(release_capability()) { mutex_.unlock(); }
    basic_locked(const basic_locked&) = delete;
    basic_locked& operator=(const basic_locked&) = delete;

private:
    basic_mutex<Policy>& mutex_;
};

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
