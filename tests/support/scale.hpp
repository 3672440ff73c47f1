#pragma once
// Sizes that fit the build, and the small tools with which tests force an order of events.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace braid_test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

#if defined(BRAID_TEST_EMULATED)
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif

/// After this time a test hangs: a guard, never a claim, so it is long enough for the slowest
/// machine, and shorter than the limit of CTest (CMakePresets.json), so that it names the test.
inline constexpr std::chrono::seconds hang_limit{600};

/// A tenth under the sanitizers and emulators, which make everything about that much slower.
constexpr std::size_t scaled(std::size_t n) { return sanitized || emulated ? (n + 9) / 10 : n; }

/// BRAID_STRESS_SCALE (a decimal number; the nightly run raises it), or 1.
inline double stress_scale() {
    const char* text = std::getenv("BRAID_STRESS_SCALE");
    return text != nullptr ? std::strtod(text, nullptr) : 1.0;
}

/// scaled() times stress_scale().
inline std::size_t stress_scaled(std::size_t n) {
    const auto size = static_cast<std::size_t>(static_cast<double>(scaled(n)) * stress_scale());
    return size == 0 ? 1 : size;
}

/// Looks until it is so; the deadline of the fixture ends what never becomes so.
template <class Condition>
void until(Condition&& condition) {
    while (!condition()) std::this_thread::yield();
}

/// Blocks who wants through until somebody opens it. Not std::atomic::wait(): where the C++ library
/// has no call of the system for it, that of g++ 12 sometimes sleeps on.
class door {
public:
    void open() {
        // Under the lock: who passes may end the door as soon as it is free.
        const std::lock_guard lock(mutex_);
        open_.store(true);
        opened_.notify_all();
    }
    /// To be used again. Nobody may be inside a call.
    void close() { open_.store(false); }
    void pass() const {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [this] { return open_.load(); });
    }
    bool is_open() const { return open_.load(); }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable opened_;
    std::atomic<bool> open_{false};
};

}  // namespace braid_test
