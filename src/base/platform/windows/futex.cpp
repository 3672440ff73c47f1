// WaitOnAddress() ends with a tick of the system's clock, up to 15.6 ms after its time. So a sleep
// that has a deadline waits for a timer of high resolution, and for an event that futex_wake_one()
// finds by the address of the word.
#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <atomic>

namespace braid::platform {
namespace {

/// Of one thread, which has both as soon as it first sleeps with a deadline.
struct alarm {
    HANDLE event = nullptr, timer = nullptr;

    bool open() noexcept {
        if (event == nullptr) event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
        if (timer == nullptr) timer = create_timer();
        return event != nullptr && timer != nullptr;
    }
    // Runs under the loader's lock, so it takes no lock and waits for nobody.
    ~alarm() {
        if (event != nullptr) CloseHandle(event);
        if (timer != nullptr) CloseHandle(timer);
    }
};

thread_local alarm own_alarm;

struct sleeper {
    const void* word;
    HANDLE event;
    sleeper* next;
};

/// Those who sleep with a deadline, by their word.
struct bucket {
    SRWLOCK lock = SRWLOCK_INIT;
    std::atomic<unsigned> count{0};
    sleeper* first = nullptr;
};

constinit bucket buckets[64];

bucket& bucket_of(const void* word) noexcept {
    return buckets[reinterpret_cast<std::uintptr_t>(word) / 64 % std::size(buckets)];
}

bool is_still(const void* word, std::uint32_t expected) noexcept {
    auto& value = *const_cast<std::uint32_t*>(static_cast<const std::uint32_t*>(word));
    // seq_cst: pairs with the fence in futex_wake_one(). Either this sees the changed word, or that
    // sees the count.
    return std::atomic_ref<std::uint32_t>(value).load(std::memory_order_seq_cst) == expected;
}

void sleep_until(const void* word, std::uint32_t expected, std::int64_t ns) noexcept {
    alarm& own = own_alarm;
    if (!own.open() || !set_timer(own.timer, ns)) {
        // Late is better than never.
        const auto ms = static_cast<DWORD>(std::min<std::int64_t>(ns / 1'000'000 + 1, 1'000));
        WaitOnAddress(const_cast<void*>(word), &expected, sizeof expected, ms);
        return;
    }
    bucket& b = bucket_of(word);
    sleeper self{word, own.event, nullptr};
    AcquireSRWLockExclusive(&b.lock);
    self.next = b.first;
    b.first = &self;
    b.count.fetch_add(1, std::memory_order_seq_cst);  // pairs with futex_wake_one()
    ReleaseSRWLockExclusive(&b.lock);
    const HANDLE either[] = {own.event, own.timer};
    if (is_still(word, expected)) WaitForMultipleObjects(2, either, FALSE, INFINITE);
    AcquireSRWLockExclusive(&b.lock);
    for (sleeper** at = &b.first; *at != nullptr; at = &(*at)->next) {
        if (*at != &self) continue;
        *at = self.next;
        break;
    }
    b.count.fetch_sub(1, std::memory_order_relaxed);  // under the lock
    ReleaseSRWLockExclusive(&b.lock);
    // One that came too late: it would end the next sleep at once, which may end early, but not
    // again and again.
    ResetEvent(own.event);
}

/// Returns true if somebody slept there with a deadline.
bool ring(const void* word) noexcept {
    bucket& b = bucket_of(word);
    AcquireSRWLockExclusive(&b.lock);
    const sleeper* found = b.first;
    while (found != nullptr && found->word != word) found = found->next;
    // Under the lock: the event is its thread's, which takes the lock before it goes.
    if (found != nullptr) SetEvent(found->event);
    ReleaseSRWLockExclusive(&b.lock);
    return found != nullptr;
}

}  // namespace

void futex_wait(const void* word, std::uint32_t expected, std::int64_t deadline_ns) noexcept {
    if (deadline_ns == INT64_MAX) {
        WaitOnAddress(const_cast<void*>(word), &expected, sizeof expected, INFINITE);
        return;
    }
    const std::int64_t left = deadline_ns - monotonic_ns();
    if (left > 0) sleep_until(word, expected, left);
}

void futex_wake_one(const void* word) noexcept {
    // seq_cst: pairs with sleep_until(); the word was changed before.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (bucket_of(word).count.load(std::memory_order_relaxed) != 0 && ring(word)) return;
    WakeByAddressSingle(const_cast<void*>(word));
}

}  // namespace braid::platform
