// Until a socket is watched, a poller sleeps on an event and a timer of high resolution. From then
// on it sleeps in WSAPoll(), which knows sockets only. A wake is then a datagram to a socket of the
// poller's own. When the timer runs out, the system sends one.
#include "base/platform/poller.hpp"
#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <new>
#include <utility>

namespace braid::platform {
namespace {

constexpr const char* no_handle = "the system has no handle left to wait with";
constexpr const char* no_socket = "the system has no socket left to wait with";
constexpr const char* no_datagrams =
    "no datagram comes back from 127.0.0.1, by which a wait for sockets is woken: a filter drops "
    "it";
constexpr const char* no_memory = "the system has no memory left to wait for sockets";

class locked {
public:
    explicit locked(SRWLOCK& lock) noexcept : lock_(lock) { AcquireSRWLockExclusive(&lock_); }
    ~locked() { ReleaseSRWLockExclusive(&lock_); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;

private:
    SRWLOCK& lock_;
};

/// A socket of datagrams that go to itself.
SOCKET open_bell() noexcept {
    const SOCKET bell = WSASocketW(AF_INET, SOCK_DGRAM, IPPROTO_UDP, nullptr, 0,
                                   WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (bell == INVALID_SOCKET) return INVALID_SOCKET;
    // No other program may bind to the same port.
    const BOOL yes = TRUE;
    setsockopt(bell, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes),
               sizeof yes);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    int size = sizeof own;
    u_long no_wait = 1;
    if (bind(bell, address, size) == 0 && getsockname(bell, address, &size) == 0 &&
        connect(bell, address, size) == 0 && ioctlsocket(bell, FIONBIO, &no_wait) == 0) {
        return bell;
    }
    closesocket(bell);
    return INVALID_SOCKET;
}

short bits_of(descriptor_events wanted) noexcept {
    return static_cast<short>((wanted.readable ? POLLRDNORM : 0) |
                              (wanted.writable ? POLLWRNORM : 0));
}

bool is_socket(SOCKET one) noexcept {
    int type = 0;
    int size = sizeof type;
    return getsockopt(one, SOL_SOCKET, SO_TYPE, reinterpret_cast<char*>(&type), &size) == 0;
}

}  // namespace

/// What WSAPoll() is asked for. A sleep copies it, so its cost grows with the number of sockets.
struct poller::sockets {
    static constexpr unsigned most = 4096;

    struct watched {
        SOCKET socket;
        std::uint64_t tag;
        short wanted;
        bool armed;
    };

    /// Null, or a sentence.
    const char* open(HANDLE clock) noexcept {
        WSADATA about{};
        if (WSAStartup(MAKEWORD(2, 2), &about) != 0) return no_socket;
        const char* const refused = open_bell_and_clock(clock);
        if (refused == nullptr) return nullptr;
        if (bell != INVALID_SOCKET) closesocket(bell);
        WSACleanup();
        return refused;
    }
    void close() noexcept {
        UnregisterWaitEx(clock_wait, INVALID_HANDLE_VALUE);  // returns when no call goes on
        closesocket(bell);
        WSACleanup();
    }

    /// A bell that is full has rung.
    void ring() const noexcept { send(bell, "x", 1, 0); }
    void silence() const noexcept {
        char bytes[64];
        while (recv(bell, bytes, sizeof bytes, 0) > 0) {
        }
    }

    watched* find(SOCKET one) noexcept {
        watched* const found =
            std::find_if(all, all + count, [&](const watched& w) { return w.socket == one; });
        return found != all + count ? found : nullptr;
    }

    /// Only the thread that sleeps calls it. Returns how many arrived.
    unsigned poll(int limit_ms, arrival* to, unsigned room) noexcept {
        const ULONG asked = copy_armed();
        const int found = WSAPoll(fds, asked, limit_ms);
        if (found < 0) Sleep(1);  // the system lacks memory; the caller comes again at once
        if (found <= 0) return 0;
        if (fds[0].revents != 0) silence();
        const locked hold(lock);
        unsigned arrived = 0;
        // A check starts behind the last socket that arrived, so that none waits for ever if more
        // are ready than there is room for.
        const ULONG others = asked - 1;
        const ULONG start = last_arrived;
        for (ULONG i = 0; i < others && arrived < room; ++i) {
            const ULONG at = 1 + (start + i) % others;
            if (fds[at].revents != 0 && report(at, to[arrived])) {
                last_arrived = at;
                ++arrived;
            }
        }
        return arrived;
    }

    SRWLOCK lock = SRWLOCK_INIT;  // guards `all` and `count`
    watched all[most];
    unsigned count = 0;

private:
    const char* open_bell_and_clock(HANDLE clock) noexcept {
        bell = open_bell();
        if (bell == INVALID_SOCKET) return no_socket;
        ring();
        WSAPOLLFD heard{bell, POLLRDNORM, 0};
        if (WSAPoll(&heard, 1, 1'000) != 1) return no_datagrams;
        silence();
        const auto rings = [](void* self, BOOLEAN) { static_cast<sockets*>(self)->ring(); };
        const bool good = RegisterWaitForSingleObject(&clock_wait, clock, rings, this, INFINITE,
                                                      WT_EXECUTEINWAITTHREAD) != 0;
        return good ? nullptr : no_handle;
    }

    /// Returns false if the socket was removed or armed again while WSAPoll() looked at it.
    bool report(ULONG at, arrival& to) noexcept {
        watched* const one = find(fds[at].fd);
        if (one == nullptr || !one->armed || one->tag != tags[at]) return false;
        one->armed = false;
        const short bits = fds[at].revents;
        to = {one->tag,
              {.readable = (bits & POLLRDNORM) != 0,
               .writable = (bits & POLLWRNORM) != 0,
               .hung_up = (bits & (POLLHUP | POLLERR | POLLNVAL)) != 0}};
        return true;
    }

    ULONG copy_armed() noexcept {
        const locked hold(lock);
        ULONG asked = 0;
        fds[asked++] = {bell, POLLRDNORM, 0};
        for (const watched* one = all; one != all + count; ++one) {
            if (!one->armed) continue;
            tags[asked] = one->tag;
            fds[asked++] = {one->socket, one->wanted, 0};
        }
        return asked;
    }

    SOCKET bell = INVALID_SOCKET;
    HANDLE clock_wait = nullptr;
    // Of the thread that sleeps.
    ULONG last_arrived = 0;
    WSAPOLLFD fds[most + 1];
    std::uint64_t tags[most + 1];
};

const char* poller::open() noexcept {
    wakes_ = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    clock_ = create_timer();
    if (wakes_ != nullptr && clock_ != nullptr) return nullptr;
    close();
    return no_handle;
}

void poller::close() noexcept {
    // relaxed: nobody else is inside a call.
    if (sockets* const all = sockets_.exchange(nullptr, std::memory_order_relaxed)) {
        all->close();
        HeapFree(GetProcessHeap(), 0, all);
    }
    for (void** const one : {&wakes_, &clock_}) {
        if (*one != nullptr) CloseHandle(*one);
        *one = nullptr;
    }
    clock_is_set_ = false;
}

/// Returns null, or a sentence.
const char* poller::open_sockets() noexcept {
    static constinit SRWLOCK one_at_a_time = SRWLOCK_INIT;
    const locked hold(one_at_a_time);
    if (sockets_.load(std::memory_order_relaxed) != nullptr) return nullptr;
    void* const place = HeapAlloc(GetProcessHeap(), 0, sizeof(sockets));
    if (place == nullptr) return no_memory;
    auto* const made = ::new (place) sockets;
    if (const char* const refused = made->open(clock_)) {
        HeapFree(GetProcessHeap(), 0, made);
        return refused;
    }
    sockets_.store(made);  // seq_cst: pairs with wake()
    SetEvent(wakes_);      // ends a sleep that knows of no sockets
    return nullptr;
}

const char* poller::add(int descriptor, descriptor_events wanted, std::uint64_t tag) noexcept {
    if (sockets_.load() == nullptr) {
        if (const char* const refused = open_sockets()) return refused;
    }
    sockets& s = *sockets_.load();
    // Of a handle 32 bits are significant.
    const auto one = static_cast<SOCKET>(descriptor);
    if (!is_socket(one)) {
        return "the descriptor is closed, or it is no socket: on Windows only sockets can be "
               "waited for";
    }
    {
        const locked hold(s.lock);
        if (s.find(one) != nullptr) {
            return "the descriptor is waited for already: a socket has one source at a time";
        }
        if (s.count == sockets::most) return "on Windows at most 4096 sockets can be waited for";
        s.all[s.count++] = {one, tag, bits_of(wanted), true};
    }
    s.ring();
    return nullptr;
}

const char* poller::arm_again(int descriptor, descriptor_events wanted,
                              std::uint64_t tag) noexcept {
    constexpr const char* closed = "the descriptor is closed";
    sockets* const s = sockets_.load();
    if (s == nullptr) return closed;
    {
        const locked hold(s->lock);
        sockets::watched* const one = s->find(static_cast<SOCKET>(descriptor));
        if (one == nullptr || !is_socket(one->socket)) return closed;
        *one = {one->socket, tag, bits_of(wanted), true};
    }
    s->ring();
    return nullptr;
}

void poller::remove(int descriptor) noexcept {
    sockets* const s = sockets_.load();
    if (s == nullptr) return;
    {
        const locked hold(s->lock);
        sockets::watched* const one = s->find(static_cast<SOCKET>(descriptor));
        if (one == nullptr) return;
        *one = s->all[--s->count];
    }
    s->ring();  // ends a WSAPoll() that still has the socket, which the program may close now
}

/// Returns false if the system refuses.
bool poller::set_clock(std::int64_t left_ns) noexcept {
    const bool runs = left_ns != INT64_MAX;
    if (!runs && !std::exchange(clock_is_set_, false)) return true;
    if (!runs) return CancelWaitableTimer(clock_) != 0;
    clock_is_set_ = true;
    return set_timer(clock_, left_ns);
}

unsigned poller::wait(std::int64_t deadline_ns, arrival* to, unsigned room) noexcept {
    std::int64_t left = INT64_MAX;
    if (deadline_ns <= 0) left = 0;  // the difference could be out of range
    if (deadline_ns > 0 && deadline_ns != INT64_MAX) left = deadline_ns - monotonic_ns();
    DWORD limit_ms = left <= 0 ? 0 : INFINITE;
    if (left > 0 && !set_clock(left)) limit_ms = 1;  // the caller looks at the time
    sockets* const s = sockets_.load();
    if (s == nullptr) {
        const HANDLE either[] = {wakes_, clock_};
        WaitForMultipleObjects(2, either, FALSE, limit_ms);
        return 0;
    }
    if (WaitForSingleObject(wakes_, 0) == WAIT_OBJECT_0) limit_ms = 0;
    return s->poll(limit_ms == INFINITE ? -1 : static_cast<int>(limit_ms), to, room);
}

void poller::wake() noexcept {
    if (const sockets* const s = sockets_.load()) return s->ring();
    SetEvent(wakes_);
    // seq_cst: the first socket may have been added meanwhile, and a wait that knows of it may have
    // used the event up for a wake before this one, or be past its check of the event.
    if (const sockets* const s = sockets_.load()) s->ring();
}

}  // namespace braid::platform
