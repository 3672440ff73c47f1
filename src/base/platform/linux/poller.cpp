#include "base/platform/poller.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

namespace braid::platform {
namespace {

// Of the poller's own; tags of others may have any value but these.
constexpr std::uint64_t wake_tag = UINT64_MAX, clock_tag = UINT64_MAX - 1;

const char* sentence_of(int error) noexcept {
    switch (error) {
        case EMFILE:
        case ENFILE:
            return "the system has no descriptor left to wait with: raise the limit of open files";
        case ENOMEM:
            return "the system has no memory left to wait for one more descriptor";
        case ENOSPC:
            return "the system watches as many descriptors as it may: raise "
                   "fs.epoll.max_user_watches";
        case EBADF:
        case ENOENT:
            return "the descriptor is closed";
        case EPERM:
            return "a regular file or folder cannot be waited for: the system calls it always "
                   "ready";
        case EEXIST:
            return "the descriptor is waited for already; give each source its own by dup()";
        default:
            return "the system refuses to wait for this descriptor";
    }
}

epoll_event event_for(descriptor_events wanted, std::uint64_t tag) noexcept {
    epoll_event e{};
    e.events = EPOLLONESHOT | EPOLLRDHUP;
    if (wanted.readable) e.events |= EPOLLIN;
    if (wanted.writable) e.events |= EPOLLOUT;
    e.data.u64 = tag;
    return e;
}

void empty(int descriptor) noexcept {
    std::uint64_t count = 0;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

}  // namespace

const char* poller::open() noexcept {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ >= 0) wakes_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wakes_ >= 0) clock_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    epoll_event on_wake{};
    on_wake.events = EPOLLIN;
    on_wake.data.u64 = wake_tag;
    epoll_event on_time = on_wake;
    on_time.data.u64 = clock_tag;
    if (clock_ >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, wakes_, &on_wake) == 0 &&
        epoll_ctl(epoll_, EPOLL_CTL_ADD, clock_, &on_time) == 0) {
        return nullptr;
    }
    const int error = errno;
    close();
    return sentence_of(error);
}

void poller::close() noexcept {
    for (int* const one : {&epoll_, &wakes_, &clock_}) {
        if (*one >= 0) ::close(*one);
        *one = -1;
    }
    clock_set_to_ = 0;
}

const char* poller::add(int descriptor, descriptor_events wanted, std::uint64_t tag) noexcept {
    epoll_event e = event_for(wanted, tag);
    return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &e) == 0 ? nullptr : sentence_of(errno);
}

const char* poller::arm_again(int descriptor, descriptor_events wanted,
                              std::uint64_t tag) noexcept {
    epoll_event e = event_for(wanted, tag);
    return epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &e) == 0 ? nullptr : sentence_of(errno);
}

void poller::remove(int descriptor) noexcept {
    epoll_event unused{};  // kernels before 2.6.9 want one
    epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &unused);
}

/// A timer descriptor has an absolute time in ns, which epoll_wait() has not. One that is set to
/// that time already costs no call. False: the system refused it.
bool poller::set_clock(std::int64_t deadline_ns) noexcept {
    if (deadline_ns == clock_set_to_) return true;
    itimerspec when{};
    when.it_value.tv_sec = deadline_ns / 1'000'000'000;
    when.it_value.tv_nsec = deadline_ns % 1'000'000'000;
    if (timerfd_settime(clock_, TFD_TIMER_ABSTIME, &when, nullptr) != 0) return false;
    clock_set_to_ = deadline_ns;
    return true;
}

unsigned poller::wait(std::int64_t deadline_ns, arrival* to, unsigned room) noexcept {
    constexpr unsigned most = 64;
    epoll_event events[most];
    int limit_ms = -1;
    if (deadline_ns <= 0) limit_ms = 0;
    // Where a clock that ran out would wake a sleep that has no end it is stopped.
    const std::int64_t clock = deadline_ns == INT64_MAX ? 0 : deadline_ns;
    if (limit_ms != 0 && !set_clock(clock)) limit_ms = 1;  // the caller looks at the time
    const int found = epoll_wait(epoll_, events, static_cast<int>(std::min(room, most)), limit_ms);
    unsigned count = 0;
    for (int i = 0; i < found; ++i) {
        const epoll_event& e = events[i];
        if (e.data.u64 == wake_tag || e.data.u64 == clock_tag) {
            const bool on_time = e.data.u64 == clock_tag;
            empty(on_time ? clock_ : wakes_);
            if (on_time) clock_set_to_ = 0;  // it ran out, and is stopped
            continue;
        }
        const std::uint32_t bits = e.events;
        to[count++] = {e.data.u64,
                       {.readable = (bits & EPOLLIN) != 0,
                        .writable = (bits & EPOLLOUT) != 0,
                        .hung_up = (bits & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0}};
    }
    return count;
}

void poller::wake() noexcept {
    const std::uint64_t one = 1;
    // A full count wakes as well.
    while (write(wakes_, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

}  // namespace braid::platform
