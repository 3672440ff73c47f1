// WaitOnAddress() ends with a tick of the system's clock, up to 15.6 ms after its time. So a sleep
// that has a deadline waits for a timer of high resolution, and for an event that futex_wake_one()
// finds by the address of the word.
#include "base/platform/platform.hpp"
#include "base/platform/thread_end.hpp"
#include "base/platform/windows/system.hpp"

#include <atomic>
#include <new>

namespace braid::platform {
namespace {

/// Of one thread, which has both as soon as it first sleeps with a deadline.
struct alarm {
    HANDLE event = nullptr, timer = nullptr;
    thread_end_step end;

    bool open() noexcept {
        event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
        timer = create_timer();
        return event != nullptr && timer != nullptr;
    }
    void give_back() noexcept {
        if (event != nullptr) CloseHandle(event);
        if (timer != nullptr) CloseHandle(timer);
        HeapFree(GetProcessHeap(), 0, this);
    }
};

/// Null: the system refuses, or the thread is at its end.
alarm* own_alarm() noexcept {
    if (alarm* const own = thread_owned<alarm>::get()) return own;
    void* const place = HeapAlloc(GetProcessHeap(), 0, sizeof(alarm));
    if (place == nullptr) return nullptr;
    alarm* const made = ::new (place) alarm;
    if (made->open() && thread_owned<alarm>::set(*made)) return made;
    made->give_back();
    return nullptr;
}

struct sleeper {
    const void* word;
    HANDLE event;
    sleeper* next;
};

/// Those who sleep with a deadline and were not woken yet, by their word.
struct bucket {
    SRWLOCK lock = SRWLOCK_INIT;
    std::atomic<unsigned> count{0};
    sleeper* first = nullptr;

    /// Takes out the first that `fits`, under the lock. Null: there is none.
    template <class Fits>
    sleeper* take(Fits&& fits) noexcept {
        for (sleeper** at = &first; *at != nullptr; at = &(*at)->next) {
            sleeper* const found = *at;
            if (!fits(*found)) continue;
            *at = found->next;
            count.fetch_sub(1, std::memory_order_relaxed);  // whoever misses it takes the lock
            return found;
        }
        return nullptr;
    }
};

constinit bucket buckets[64];

bucket& bucket_of(const void* word) noexcept {
    return buckets[reinterpret_cast<std::uintptr_t>(word) / 64 % std::size(buckets)];
}

bool is_still(const void* word, std::uint32_t expected) noexcept {
    auto& value = *const_cast<std::uint32_t*>(static_cast<const std::uint32_t*>(word));
    // relaxed: what add() read of the count orders it.
    return std::atomic_ref<std::uint32_t>(value).load(std::memory_order_relaxed) == expected;
}

void add(bucket& b, sleeper& self) noexcept {
    AcquireSRWLockExclusive(&b.lock);
    self.next = b.first;
    b.first = &self;
    // acq_rel: pairs with futex_wake_one(). Of the two the later one reads what the earlier one
    // wrote: either this thread sees the word as it was changed, or that one sees the count.
    b.count.fetch_add(1, std::memory_order_acq_rel);
    ReleaseSRWLockExclusive(&b.lock);
}

void sleep_until(const void* word, std::uint32_t expected, std::int64_t ns) noexcept {
    const alarm* const own = own_alarm();
    if (own == nullptr || !set_timer(own->timer, ns)) {
        // Late is better than never.
        const auto ms = static_cast<DWORD>(std::min<std::int64_t>(ns / 1'000'000 + 1, 1'000));
        WaitOnAddress(const_cast<void*>(word), &expected, sizeof expected, ms);
        return;
    }
    bucket& b = bucket_of(word);
    sleeper self{word, own->event, nullptr};
    add(b, self);
    const HANDLE either[] = {own->event, own->timer};
    if (is_still(word, expected)) WaitForMultipleObjects(2, either, FALSE, INFINITE);
    AcquireSRWLockExclusive(&b.lock);
    b.take([&](const sleeper& other) { return &other == &self; });  // unless it was woken
    ReleaseSRWLockExclusive(&b.lock);
    // What woke it too late would end the next sleep at once.
    ResetEvent(own->event);
}

/// Returns true if somebody slept there with a deadline.
bool ring(bucket& b, const void* word) noexcept {
    AcquireSRWLockExclusive(&b.lock);
    const sleeper* const found = b.take([&](const sleeper& other) { return other.word == word; });
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
    bucket& b = bucket_of(word);
    // acq_rel, although it changes nothing: pairs with add(), and the word was changed before.
    if (b.count.fetch_add(0, std::memory_order_acq_rel) != 0 && ring(b, word)) return;
    WakeByAddressSingle(const_cast<void*>(word));
}

}  // namespace braid::platform
