#pragma once
// Locks with rules that clang checks (thread-safety analysis, -Wthread-safety). Other compilers
// ignore the rules. The declaration of a member says which mutex guards it. The declaration of a
// function says which mutex its caller must hold. The locks are templates over a policy, like the
// atomics, so that a model checker can supply its own locks.

#include "braid/base/policy.hpp"

#include <mutex>

#if defined(__clang__)
#define BRAID_LOCK_RULE(rule) __attribute__((rule))
#else
#define BRAID_LOCK_RULE(rule)
#endif
#define BRAID_GUARDED_BY(mutex) BRAID_LOCK_RULE(guarded_by(mutex))
#define BRAID_REQUIRES(...) BRAID_LOCK_RULE(requires_capability(__VA_ARGS__))

BRAID_NAMESPACE_BEGIN

/// The mutex type that a policy uses. A model checker specializes this template.
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

/// Locks a mutex in its constructor, and unlocks it in its destructor.
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

namespace detail {
using mutex = basic_mutex<active_policy>;
using locked = basic_locked<active_policy>;
}  // namespace detail

BRAID_NAMESPACE_END
