#pragma once
// One thread asleep until a descriptor has something, a moment comes, or another thread wakes it.

#include <atomic>
#include <cstdint>

namespace braid::platform {

/// What a descriptor is waited for, and what came of it.
struct descriptor_events {
    bool readable = false;
    bool writable = false;
    bool hung_up =
        false;  // the other side has gone, or an error waits to be read; always waited for
};

/// Any thread may call add(), arm_again(), remove() and wake(); one at a time wait(). Functions
/// that return a text return null, or one sentence that says what the system refused.
class poller {
public:
    struct arrival {
        std::uint64_t tag = 0;
        descriptor_events events = {};
    };

    poller() = default;
    ~poller() { close(); }
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    /// Takes three descriptors.
    const char* open() noexcept;
    void close() noexcept;

    /// The descriptor arrives once, with `tag`, and then no more before arm_again().
    const char* add(int descriptor, descriptor_events wanted, std::uint64_t tag) noexcept;
    const char* arm_again(int descriptor, descriptor_events wanted, std::uint64_t tag) noexcept;
    /// A wait() that goes on at that moment may still report it.
    void remove(int descriptor) noexcept;

    /// Sleeps until something arrives, wake() or the deadline (monotonic ns; INT64_MAX: forever),
    /// whichever is first; one that has passed: looks. May return early. Returns how many arrived.
    unsigned wait(std::int64_t deadline_ns, arrival* to, unsigned room) noexcept;
    /// Ends the wait() that goes on, or the next one.
    void wake() noexcept;

private:
#if defined(_WIN32)
    struct sockets;
    const char* open_sockets() noexcept;
    bool set_clock(std::int64_t left_ns) noexcept;

    void *wakes_ = nullptr, *clock_ = nullptr;
    std::atomic<sockets*> sockets_{nullptr};  // null until the first is added
    bool clock_is_set_ = false;               // of the thread that waits
#else
    bool set_clock(std::int64_t deadline_ns) noexcept;

    int epoll_ = -1;
    int wakes_ = -1;
    int clock_ = -1;
    std::int64_t clock_set_to_ = 0;  // 0: it does not run
#endif
};

}  // namespace braid::platform
