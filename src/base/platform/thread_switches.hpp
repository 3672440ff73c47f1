#pragma once
// Whether and when the system takes a thread off its core. Three sources, from cheap to exact; each
// may be missing.

#include "base/platform/platform.hpp"

#include <atomic>

namespace braid::platform {

/// What the kernel keeps up to date in each thread (Linux: struct rseq, shared with the C library).
struct thread_area {
    std::uint32_t core_at_start;
    std::uint32_t core;
    std::uint64_t section;
};
/// Of the calling thread; null where there is none.
thread_area* own_thread_area() noexcept;

/// A word that the kernel clears when the thread is switched out: it is told of a section of code
/// that must not be interrupted, and in which the thread never is.
class switch_flag {
public:
    /// Null area: says nothing. Tried out once in a process: newer kernels may do otherwise.
    explicit switch_flag(thread_area* area) noexcept
        : area_(works() ? area : nullptr), section_(section()) {}

    static bool works() noexcept;
    void arm() const noexcept {
        // relaxed: the kernel looks at it on this very thread.
        if (area_ != nullptr) word().store(section_, std::memory_order_relaxed);
    }
    void disarm() const noexcept {
        if (area_ != nullptr) word().store(0, std::memory_order_relaxed);
    }
    /// Since arm().
    bool was_switched() const noexcept {
        return area_ != nullptr && word().load(std::memory_order_relaxed) != section_;
    }

private:
    std::atomic_ref<std::uint64_t> word() const noexcept {
        return std::atomic_ref<std::uint64_t>(area_->section);
    }
    static std::uint64_t section() noexcept;
    static bool try_out() noexcept;
    thread_area* area_;
    std::uint64_t section_;
};

/// How often the calling thread left its core so far: by itself, and because others wanted it.
/// 0.3 us.
struct switch_counts {
    std::uint64_t voluntary = 0, involuntary = 0;
};
switch_counts own_switch_counts() noexcept;

/// Each switch of one thread, from a ring that the kernel fills. Read by any one thread.
class switch_log {
public:
    struct entry {
        std::int64_t time;  // CLOCK_MONOTONIC, ns
        std::uint32_t core;
        bool out;        // else in
        bool preempted;  // out, and it wanted to go on
    };

    switch_log() = default;
    switch_log(const switch_log&) = delete;
    switch_log& operator=(const switch_log&) = delete;
    ~switch_log();

    /// False: the system does not allow it.
    bool open(std::uint32_t thread_number) noexcept;
    bool is_open() const noexcept { return pages_ != nullptr; }
    /// The oldest that is left. False: there is none.
    bool next(entry& to) noexcept;

private:
    void* pages_ = nullptr;
    int file_ = -1;
};

}  // namespace braid::platform
