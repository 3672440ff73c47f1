#pragma once
// The ready tasks of one thread at one priority. The owner pops the newest first, others steal the
// oldest first, and anybody may claim a task from the middle (a waiter takes what it needs).
//
//      top_ (owner)        hint_ (thieves)             bottom_ (owner)
//        │                   │                           │
//   … [ 0 ][ 0 ][ id ][ 0 ][ id ][ id ][ 0 ][ id ] …     ▼ next push
//             oldest ──────────────────────► newest
//
// Roles: one owner, and any number of thieves.
// Q1  A cell holds the id of a ready task, or 0. The thread that changes an id to 0 owns the task.
//     The owner uses an exchange at the ends; every other claim is a CAS. Ids carry a generation,
//     so a thief that was asleep for a whole lap of the ring either claims a task that is ready
//     now, or fails.
// Q2  All ids lie in [top_, bottom_). Only the owner moves either end. top_ passes only empty
//     cells; bottom_ goes down only over cells that the owner saw empty.
// Q3  No push is lost. push() publishes bottom_ with a seq_cst exchange, and its caller then looks
//     for sleepers. A thread that wants to sleep announces itself (seq_cst) and then calls
//     maybe_work(). One of the two sees the other.
// The index words are only hints for finding cells; safety rests on the cells alone. So this queue
// has what Chase and Lev's deque (SPAA 2005) cannot offer: claims from the middle, no wrap, no
// fence.

#include "braid/base/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class Policy>
class basic_ready_queue {
    template <class T>
    using atomic = typename Policy::template atomic<T>;

public:
    using cell = atomic<std::uint64_t>;

    /// Sets the cells of the ring: `count` zeroed cells, a power of two, which the caller owns for
    /// the life of the queue.
    void attach(cell* cells, std::size_t count) {
        cells_ = cells;
        mask_ = count - 1;
    }

    /// Returns the number of cells.
    std::size_t size() const { return mask_ + 1; }

    /// Owner only. Returns false if the ring is full; the caller then makes room. Cost: one
    /// exchange.
    bool push(std::uint64_t id) {
        const std::uint64_t bottom = bottom_.load(relaxed);  // own word
        if (!room_at(bottom)) return false;
        // release: pairs with the acquire CAS in claim(); the claimer sees the built task (I2).
        at(bottom).store(id, release);
        // seq_cst: Q3, pairs with the load in maybe_work().
        bottom_.exchange(bottom + 1, seq_cst);
        if (bottom % 8 == 0) raise_top(bottom, 16);
        return true;
    }

    /// Owner only. Returns true if the next push() finds a place.
    bool has_room() { return room_at(bottom_.load(relaxed)); }

    /// Owner only. Takes the newest task, or returns 0 if there is none.
    std::uint64_t pop() {
        std::uint64_t bottom = bottom_.load(relaxed);
        const std::uint64_t top = top_.load(relaxed);  // own word
        std::uint64_t id = 0;
        while (bottom != top && id == 0) {
            --bottom;
            // Only the owner puts ids in, so this exchange takes the id that it saw, or nothing, at
            // half the price of a CAS. relaxed: this thread itself has pushed what belongs to the
            // id.
            if (at(bottom).load(relaxed) != 0) id = at(bottom).exchange(0, relaxed);
        }
        // release: a thread that reads this store instead of a push must see the tasks below it,
        // too. Since C++20 a plain store ends the release sequence of the exchange before it (Q3).
        bottom_.store(bottom, release);
        return id;
    }

    /// Owner only. Returns the newest task, which stays where it is, or 0 if there is none. Forgets
    /// empty cells above it, which claims from the middle leave behind.
    std::uint64_t newest() {
        const std::uint64_t bottom = bottom_.load(relaxed);
        const std::uint64_t top = top_.load(relaxed);
        for (std::uint64_t i = bottom; i != top; --i) {
            const std::uint64_t id = at(i - 1).load(relaxed);
            if (id == 0) continue;
            if (i != bottom) bottom_.store(i, release);  // as in pop()
            return id;
        }
        return 0;
    }
    /// Owner only, after newest() returned a task. Takes that task. Returns false if somebody was
    /// quicker.
    bool take_newest() {
        const std::uint64_t bottom = bottom_.load(relaxed) - 1;
        const bool taken = at(bottom).exchange(0, relaxed) != 0;  // orders: as in pop()
        bottom_.store(bottom, release);
        return taken;
    }

    /// Owner only. Takes up to `limit` of the oldest tasks and returns how many it took.
    std::size_t take_oldest(std::uint64_t* ids, std::size_t limit) {
        const std::uint64_t bottom = bottom_.load(relaxed);
        std::uint64_t top = top_.load(relaxed);
        std::size_t taken = 0;
        for (; top != bottom && taken != limit; ++top) {
            ids[taken] = at(top).exchange(0, relaxed);  // orders: as in pop()
            if (ids[taken] != 0) ++taken;
        }
        top_.store(top, release);  // as in raise_top()
        return taken;
    }

    /// Owner only, of an empty queue. Puts `count` ids in, at most as many as there are cells. The
    /// first of them is popped first.
    void refill(const std::uint64_t* ids, std::size_t count) {
        std::uint64_t bottom = bottom_.load(relaxed);
        top_.store(bottom, release);  // as in raise_top(): passes only empty cells
        for (std::size_t i = count; i-- != 0;) at(bottom++).store(ids[i], release);  // as in push()
        bottom_.exchange(bottom, seq_cst);                                           // as in push()
    }

    /// Any thread. Returns true if steal() would find nothing. acquire: as there.
    bool looks_empty() const { return bottom_.load(acquire) <= top_.load(acquire); }

    /// Any thread. Steals the oldest task, or returns 0 if it saw none.
    std::uint64_t steal() {
        std::uint64_t id = 0;
        steal(&id, 1);
        return id;
    }
    /// Any thread. Steals up to `limit` of the oldest tasks, but at most half of what lies there
    /// (or one). Returns how many it stole.
    std::size_t steal(std::uint64_t* ids, std::size_t limit) {
        const std::uint64_t bottom = bottom_.load(acquire);
        const std::uint64_t top = top_.load(acquire);
        if (bottom <= top) return 0;
        std::uint64_t start = hint_.load(relaxed);
        if (start < top || start > bottom) start = top;
        limit = std::min<std::size_t>(limit, (bottom - start + 1) / 2);
        const std::size_t count =
            steal_between(start, bottom, ids, std::max<std::size_t>(limit, 1));
        if (count != 0 || start == top) return count;
        return steal_between(top, start, ids, 1);
    }

    /// Any thread. Calls `wanted(id)` on up to `limit` ids, newest first, and claims the first id
    /// that it accepts. Returns 0 if there is none.
    template <class Wanted>
    std::uint64_t claim_newest_if(Wanted&& wanted, std::size_t limit) {
        const std::uint64_t top = top_.load(acquire);
        for (std::uint64_t i = bottom_.load(acquire); i > top && limit != 0; --i) {
            const std::uint64_t seen = at(i - 1).load(acquire);
            if (seen == 0) continue;
            --limit;
            if (!wanted(seen)) continue;
            if (const std::uint64_t id = claim(i - 1, seen)) return id;
        }
        return 0;
    }

    /// Any thread. Like claim_newest_if(), but oldest first.
    template <class Wanted>
    std::uint64_t claim_oldest_if(Wanted&& wanted, std::size_t limit) {
        const std::uint64_t bottom = bottom_.load(acquire);
        for (std::uint64_t i = top_.load(acquire); i < bottom && limit != 0; ++i) {
            const std::uint64_t seen = at(i).load(acquire);
            if (seen == 0) continue;
            --limit;
            if (!wanted(seen)) continue;
            if (const std::uint64_t id = claim(i, seen)) return id;
        }
        return 0;
    }

    /// Any thread, after it has announced that it wants to sleep (Q3). Returns true if it saw a
    /// task.
    bool maybe_work() const {
        // seq_cst: pairs with the exchange in push(). bottom_ is read before top_, because a stale
        // top_ only makes the range larger.
        const std::uint64_t bottom = bottom_.load(seq_cst);
        for (std::uint64_t i = top_.load(relaxed); i < bottom; ++i) {
            if (at(i).load(relaxed) != 0) return true;
        }
        return false;
    }

private:
    cell& at(std::uint64_t i) const { return cells_[i & mask_]; }

    /// Owner only. Returns true if cell `i` is free. A cell that still holds an id of the lap
    /// before is free only once that id is claimed.
    bool room_at(std::uint64_t i) {
        if (i - top_.load(relaxed) <= mask_) return true;
        raise_top(i, mask_ + 1);
        return i - top_.load(relaxed) <= mask_;
    }

    /// Owner only. Moves top_ over up to `steps` empty cells below `end`. push() calls it now and
    /// then, so that a thread that looks at the whole range looks at few dead cells.
    void raise_top(std::uint64_t end, std::uint64_t steps) {
        const std::uint64_t before = top_.load(relaxed);
        std::uint64_t top = before;
        // relaxed: an empty cell stays empty until the owner writes it again.
        while (top != end && steps-- != 0 && at(top).load(relaxed) == 0) ++top;
        // release: pairs with the acquire loads of thieves, so that no thief starts at a cell whose
        // pushes it cannot see.
        if (top != before) top_.store(top, release);
    }

    std::uint64_t claim(std::uint64_t i, std::uint64_t seen) {
        // acquire: pairs with the release store in push().
        if (seen != 0 && at(i).compare_exchange_strong(seen, 0, acquire, relaxed)) return seen;
        return 0;
    }

    std::size_t steal_between(std::uint64_t begin, std::uint64_t end, std::uint64_t* ids,
                              std::size_t limit) {
        std::size_t count = 0;
        std::uint64_t i = begin;
        for (; i < end && count != limit; ++i) {
            ids[count] = claim(i, at(i).load(relaxed));
            if (ids[count] != 0) ++count;
        }
        if (count != 0) hint_.store(i, relaxed);  // a wrong hint costs a scan, never a task
        return count;
    }

    // The owner's cache line.
    alignas(64) cell* cells_ = nullptr;
    std::uint64_t mask_ = 0;
    atomic<std::uint64_t> bottom_{0};
    atomic<std::uint64_t> top_{0};
    // The thieves' cache line.
    alignas(64) atomic<std::uint64_t> hint_{0};
};

using ready_queue = basic_ready_queue<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
