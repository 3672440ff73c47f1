#pragma once
// A bounded FIFO queue for any number of producers and consumers. A push or pop needs one CAS when
// no other thread interferes. The queue allocates nothing. Positions count pushes and pops: the
// n-th push and the n-th pop have the same position and use the same cell. The sequence of a cell
// is its state:
//
//   cell i:  sequence == position            free for the push of that position
//            sequence == position + 1        holds the value of that position
//            sequence == position + capacity free for the push one lap later
//
// B1  A push owns a cell from its CAS on `head_` to its release store of the sequence. A pop owns a
//     cell from its CAS on `tail_` to its release store of the sequence. No other thread touches
//     the value in that time, so a cell is never reused before its value has been copied out.
// B2  Positions have 64 bits, so an outdated position does not match a cell again before 2^64
//     pushes. Positions are compared by their difference, so the order is still right when they
//     wrap around to 0.
// The algorithm is from D. Vyukov, "Bounded MPMC queue" (2010).

#include "braid/base/policy.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

template <class T, class Policy = active_policy>
class bounded_queue {
    template <class U>
    using atomic = typename Policy::template atomic<U>;

public:
    struct cell {
        atomic<std::uint64_t> sequence{0};
        T value{};
    };

    /// `cells` must point to `capacity` default-constructed cells that outlive the queue.
    /// `capacity` must be a power of two, at least 2. `first` is the first position. Tests choose a
    /// position that soon wraps around to 0.
    bounded_queue(cell* cells, std::size_t capacity, std::uint64_t first = 0)
        : cells_(cells), mask_(capacity - 1), head_(first), tail_(first) {
        for (std::size_t i = 0; i < capacity; ++i) {
            cells_[(first + i) & mask_].sequence.store(first + i, relaxed);
        }
    }
    bounded_queue(const bounded_queue&) = delete;
    bounded_queue& operator=(const bounded_queue&) = delete;

    /// Pushes one value, and calls write(T&) to fill the value in. Any thread may call push_with().
    /// Returns false if the queue is full.
    template <class Write>
    bool push_with(Write&& write) {
        std::uint64_t position = head_.load(relaxed);
        while (true) {
            cell& c = cells_[position & mask_];
            // acquire: pairs with the release in pop_with(), so that the thread that popped the old
            // value has read it before write() overwrites it.
            const std::uint64_t sequence = c.sequence.load(acquire);
            if (sequence == position) {
                // relaxed: the CAS only assigns the position to this thread. The store to
                // `sequence` publishes the value.
                if (!head_.compare_exchange_weak(position, position + 1, relaxed, relaxed))
                    continue;
                write(c.value);
                c.sequence.store(position + 1, release);  // pairs with the acquire in pop_with()
                return true;
            }
            if (behind(sequence, position)) return false;
            position = head_.load(relaxed);
        }
    }

    /// Pops the oldest value, and calls read(T&) with it. Any thread may call pop_with(). Returns
    /// false if the queue is empty.
    template <class Read>
    bool pop_with(Read&& read) {
        std::uint64_t position = tail_.load(relaxed);
        while (true) {
            cell& c = cells_[position & mask_];
            const std::uint64_t sequence = c.sequence.load(acquire);  // pairs with push_with()
            if (sequence == position + 1) {
                if (!tail_.compare_exchange_weak(position, position + 1, relaxed, relaxed))
                    continue;
                read(c.value);
                c.sequence.store(position + mask_ + 1, release);  // pairs with push_with()
                return true;
            }
            if (behind(sequence, position + 1)) return false;
            position = tail_.load(relaxed);
        }
    }

    /// Calls f(const T&) for each value, from the oldest to the newest. No thread may pop a value
    /// during the call. Values that are pushed during the call may be left out.
    template <class Look>
    void each(Look&& f) const {
        for (std::uint64_t position = tail_.load(relaxed);; ++position) {
            const cell& c = cells_[position & mask_];
            if (c.sequence.load(acquire) != position + 1) return;  // pairs with push_with()
            f(c.value);
        }
    }

    /// Returns the number of values. The number is exact while no thread pushes or pops. Otherwise
    /// it is approximate.
    std::size_t size() const {
        const std::uint64_t tail = tail_.load(relaxed);
        const std::uint64_t head = head_.load(relaxed);
        return behind(tail, head) ? static_cast<std::size_t>(head - tail) : 0;
    }
    std::size_t capacity() const { return mask_ + 1; }

private:
    /// Returns true if position `a` is before position `b`. The result is right even if the
    /// positions wrapped around to 0 between `a` and `b`, because two positions in use are never
    /// 2^63 apart.
    static bool behind(std::uint64_t a, std::uint64_t b) {
        return static_cast<std::int64_t>(a - b) < 0;
    }

    cell* cells_;
    std::size_t mask_;
    alignas(64) atomic<std::uint64_t> head_;
    alignas(64) atomic<std::uint64_t> tail_;
};

BRAID_NAMESPACE_END
