#pragma once
// Relacy behind the atomics policy: production headers become model programs, unchanged. Relacy
// replaces `new`, `$` and the names of the memory orders by macros, so a model includes the
// production headers first and this file last; nothing of those macros is left behind.

#include "braid/base/policy.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <source_location>
#include <streambuf>
#include <string>

#include <relacy/relacy.hpp>

#undef $
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace braid_model {

using place = std::source_location;

inline rl::debug_info where(const place& at) {
    return {at.function_name(), at.file_name(), at.line()};
}

constexpr rl::memory_order order_of(std::memory_order order) {
    switch (order) {
        case std::memory_order::relaxed:
            return rl::mo_relaxed;
        case std::memory_order::consume:
            return rl::mo_consume;
        case std::memory_order::acquire:
            return rl::mo_acquire;
        case std::memory_order::release:
            return rl::mo_release;
        case std::memory_order::acq_rel:
            return rl::mo_acq_rel;
        case std::memory_order::seq_cst:
            return rl::mo_seq_cst;
    }
    return rl::mo_seq_cst;
}

/// std::atomic's interface over rl::atomic. The call's place in the production header is what
/// Relacy prints in a failing history.
template <class T>
class atomic {
public:
    atomic(T value = T{}) : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order order, place at = place::current()) const {
        return value_.load(order_of(order), where(at));
    }
    void store(T value, std::memory_order order, place at = place::current()) {
        value_.store(value, order_of(order), where(at));
    }
    T exchange(T value, std::memory_order order, place at = place::current()) {
        return value_.exchange(value, order_of(order), where(at));
    }
    T fetch_add(T value, std::memory_order order, place at = place::current()) {
        return value_.fetch_add(value, order_of(order), where(at));
    }
    T fetch_sub(T value, std::memory_order order, place at = place::current()) {
        return value_.fetch_sub(value, order_of(order), where(at));
    }
    T fetch_and(T value, std::memory_order order, place at = place::current()) {
        return value_.fetch_and(value, order_of(order), where(at));
    }
    T fetch_or(T value, std::memory_order order, place at = place::current()) {
        return value_.fetch_or(value, order_of(order), where(at));
    }
    bool compare_exchange_strong(T& expected, T wanted, std::memory_order success,
                                 std::memory_order failure, place at = place::current()) {
        return value_.compare_exchange(rl::bool_t<false>(), expected, wanted, order_of(success),
                                       order_of(failure), where(at));
    }
    bool compare_exchange_weak(T& expected, T wanted, std::memory_order success,
                               std::memory_order failure, place at = place::current()) {
        if (failure == std::memory_order::acquire &&
            (success == std::memory_order::release || success == std::memory_order::relaxed)) {
            // Relacy knows no acquire on failure of these: fail relaxed, then look.
            if (value_.compare_exchange(rl::bool_t<true>(), expected, wanted, order_of(success),
                                        rl::mo_relaxed, where(at))) {
                return true;
            }
            expected = value_.load(rl::mo_acquire, where(at));
            return false;
        }
        return value_.compare_exchange(rl::bool_t<true>(), expected, wanted, order_of(success),
                                       order_of(failure), where(at));
    }

    /// Like the kernel's futex: the newest value is compared, and nothing comes between the
    /// comparison and falling asleep. Wakes for nothing now and then, as the kernel may.
    bool sleep_while(T expected, bool timed, const place& at) const {
        rl::atomic<T>& word = const_cast<rl::atomic<T>&>(value_);
        T seen = expected;
        if (!word.compare_exchange(rl::bool_t<false>(), seen, expected, rl::mo_relaxed,
                                   rl::mo_relaxed, where(at))) {
            return true;
        }
        return word.wait(rl::ctx(), timed, true, where(at)) != rl::unpark_reason_timeout;
    }
    void wake(const place& at) const {
        rl::ctx().sched();
        const_cast<rl::atomic<T>&>(value_).wake(rl::ctx(), 1, where(at));
    }

private:
    rl::atomic<T> value_;
};

/// Plain memory: Relacy reports every race on it.
template <class T>
class plain {
public:
    plain(T value = T{}) { set(value); }
    void set(T value, place at = place::current()) { value_(where(at)) = value; }
    T get(place at = place::current()) const { return value_(where(at)); }
    operator T() const { return get(); }
    plain& operator=(T value) {
        set(value);
        return *this;
    }
    plain& operator--() {
        set(get() - 1);
        return *this;
    }

private:
    rl::var<T> value_;
};

struct policy {
    template <class T>
    using atomic = braid_model::atomic<T>;

    static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t deadline_ns, place at = place::current()) {
        if (!word.sleep_while(expected, deadline_ns != INT64_MAX, at)) clock = deadline_ns;
    }
    static void wake_one(const atomic<std::uint32_t>& word, place at = place::current()) {
        word.wake(at);
    }
    static std::int64_t now() { return clock; }
    static std::int64_t coarse_now() { return clock; }
    static void relax(place at = place::current()) { rl::yield(1, where(at)); }

    static inline std::int64_t clock = 0;  // passes when a wait runs out of time
};

/// A lock that Relacy knows.
class mutex {
public:
    void lock(place at = place::current()) { mutex_.lock(where(at)); }
    void unlock(place at = place::current()) { mutex_.unlock(where(at)); }

private:
    rl::mutex mutex_;
};

/// What the model says must hold.
inline void require(bool holds, const char* what, place at = place::current()) {
    if (!holds) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, where(at));
}

/// BRAID_MODEL_SCALE, a decimal number: 1 explores what docs/design/memory-model.md lists; without
/// it a fifth, which is what must pass before a change lands.
inline double scale() {
    const char* text = std::getenv("BRAID_MODEL_SCALE");
    const double n = text == nullptr ? 0.2 : std::strtod(text, nullptr);
    return n > 0 ? n : 1;
}

/// How many preemptions to explore where `full` of them take longer than five seconds.
inline unsigned preemptions(unsigned full) { return scale() < 1 ? full - 1 : full; }

/// Keeps the beginning of what Relacy writes, without allocating: Relacy owns `new` while a model
/// runs.
class report_buffer : public std::streambuf {
public:
    report_buffer() { clear(); }
    void clear() { setp(text_, text_ + sizeof text_ - 1); }
    const char* text() {
        *pptr() = '\0';
        return text_;
    }

private:
    char text_[1 << 20];
};

template <class Model>
bool explore(const char* name, const char* how, rl::test_params& params) {
    static report_buffer buffer;
    buffer.clear();
    std::ostream report(&buffer);
    params.output_stream = &report;
    params.progress_stream = &report;
    params.progress_output_period = 1'000'000;
    params.execution_depth_limit = 4000;
    const bool good = rl::simulate<Model>(params);
    if (good) {
        std::printf("%-44s %-34s %10llu runs\n", name, how,
                    static_cast<unsigned long long>(params.stop_iteration));
    } else {
        std::printf("%s, %s: FAILED\n%s\n", name, how, buffer.text());
    }
    std::fflush(stdout);
    return good;
}

/// Every schedule, every value that a load may return (one store back).
template <class Model>
bool explore_all(const char* name) {
    rl::test_params params;
    params.search_type = rl::fair_full_search_scheduler_type;
    return explore<Model>(name, "every schedule", params);
}

/// Every schedule in which at most `switches` times a thread is stopped that could go on.
template <class Model>
bool explore_bounded(const char* name, unsigned switches) {
    rl::test_params params;
    params.search_type = rl::fair_context_bound_scheduler_type;
    params.context_bound = switches;
    const std::string how = "every schedule, " + std::to_string(switches) + " preemptions";
    return explore<Model>(name, how.c_str(), params);
}

/// `runs` schedules drawn at random; loads may return values further back.
template <class Model>
bool explore_randomly(const char* name, unsigned runs) {
    rl::test_params params;
    params.search_type = rl::random_scheduler_type;
    params.iteration_count = static_cast<rl::iteration_t>(runs * scale());
    return explore<Model>(name, "random", params);
}

}  // namespace braid_model
