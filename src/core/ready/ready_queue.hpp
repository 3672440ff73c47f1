#pragma once
// Holds the ready tasks of one thread at one priority level. The owner pops the newest task first,
// and thieves steal the oldest task first. Any thread may also claim a task from the middle, as a
// waiter does with the tasks that it needs.
//
//      top_ (owner)        hint_ (thieves)             bottom_ (owner)
//        │                   │                           │
//   … [ 0 ][ 0 ][ id ][ 0 ][ id ][ id ][ 0 ][ id ] …     ▼ next push
//             oldest ──────────────────────► newest
//
// A queue has one owner and any number of thieves.
// Q1  A cell holds the id of a ready task, or 0. The thread that changes an id to 0 owns the task.
//     The owner uses an exchange at the ends; every other claim is a CAS. Ids carry a generation,
//     so a thief that was asleep for a whole lap of the ring either claims a task that is ready
//     now, or fails.
// Q2  All ids lie in [top_, bottom_). Only the owner moves either end. top_ passes only empty
//     cells; bottom_ goes down only over cells that the owner saw empty.
// Q3  No push is lost. push() publishes bottom_ with a seq_cst exchange, and its caller then checks
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

    /// Gives the ring its cells. `count` is a power of two, and the cells are zero. The caller owns
    /// the cells, which must live as long as the queue.
    void attach(cell* cells, std::size_t count) {
        cells_ = cells;
        mask_ = count - 1;
    }

    /// Returns the number of cells.
    std::size_t size() const { return mask_ + 1; }

    /// Pushes a task. Only the owner calls this. Returns false if the ring is full; the caller then
    /// makes room. Cost: one exchange.
    bool push(std::uint64_t id) {
        const std::uint64_t bottom = bottom_.load(relaxed);  // only the owner writes it
        if (!room_at(bottom)) return false;
        // release: pairs with the acquire CAS in claim(); the claimer sees the built task (I2).
        at(bottom).store(id, release);
        // seq_cst: Q3, pairs with the load in maybe_work().
        bottom_.exchange(bottom + 1, seq_cst);
        if (bottom % 8 == 0) raise_top(bottom, 16);
        return true;
    }

    /// Returns true if the next push() finds a place. Only the owner calls this.
    bool has_room() { return room_at(bottom_.load(relaxed)); }

    /// Takes the newest task, or returns 0 if there is none. Only the owner calls this.
    std::uint64_t pop() {
        std::uint64_t bottom = bottom_.load(relaxed);
        const std::uint64_t top = top_.load(relaxed);  // only the owner writes it
        std::uint64_t id = 0;
        while (bottom != top && id == 0) {
            --bottom;
            // Only the owner puts ids in, so this exchange takes the id that the load saw, or
            // nothing if a thief was quicker. It costs half as much as a CAS. relaxed: this thread
            // itself has pushed the task.
            if (at(bottom).load(relaxed) != 0) id = at(bottom).exchange(0, relaxed);
        }
        // release: a thread that reads this store instead of the store of a push must see the tasks
        // below it, too. Since C++20 a plain store ends the release sequence of the exchange before
        // it (Q3).
        bottom_.store(bottom, release);
        return id;
    }

    /// Returns the newest task and leaves it in its place, or returns 0 if there is none. Only the
    /// owner calls this. Drops the empty cells above that task, which claims from the middle leave
    /// behind.
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
    /// Takes the task that newest() has just returned. Only the owner calls this. Returns false if
    /// another thread was quicker.
    bool take_newest() {
        const std::uint64_t bottom = bottom_.load(relaxed) - 1;
        const bool taken = at(bottom).exchange(0, relaxed) != 0;  // memory order: as in pop()
        bottom_.store(bottom, release);
        return taken;
    }

    /// Takes up to `limit` of the oldest tasks and returns how many it took. Only the owner calls
    /// this.
    std::size_t take_oldest(std::uint64_t* ids, std::size_t limit) {
        const std::uint64_t bottom = bottom_.load(relaxed);
        std::uint64_t top = top_.load(relaxed);
        std::size_t taken = 0;
        for (; top != bottom && taken != limit; ++top) {
            ids[taken] = at(top).exchange(0, relaxed);  // memory order: as in pop()
            if (ids[taken] != 0) ++taken;
        }
        top_.store(top, release);  // as in raise_top()
        return taken;
    }

    /// Puts `count` ids into the empty queue, at most as many as there are cells. Only the owner
    /// calls this. The first of these ids is popped first.
    void refill(const std::uint64_t* ids, std::size_t count) {
        std::uint64_t bottom = bottom_.load(relaxed);
        top_.store(bottom, release);  // as in raise_top(): passes only empty cells
        for (std::size_t i = count; i-- != 0;) at(bottom++).store(ids[i], release);  // as in push()
        bottom_.exchange(bottom, seq_cst);                                           // as in push()
    }

    /// Returns true if [top_, bottom_) is empty, so that steal() would find nothing. Any thread may
    /// call this. acquire: as in steal().
    bool looks_empty() const { return bottom_.load(acquire) <= top_.load(acquire); }

    /// Steals the oldest task, or returns 0 if it saw none. Any thread may call this.
    std::uint64_t steal() {
        std::uint64_t id = 0;
        steal(&id, 1);
        return id;
    }
    /// Steals up to `limit` of the oldest tasks, but at most half as many as there are cells in the
    /// range that it searches (or one task). Any thread may call this. Returns how many it stole.
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

    /// Calls `wanted(id)` on up to `limit` ids, the newest first, and claims the first id that
    /// `wanted` accepts. Any thread may call this. Returns 0 if it claimed none.
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

    /// Does what claim_newest_if() does, but checks the oldest id first.
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

    /// Returns true if it saw a task. A thread calls this after it has announced that it wants to
    /// sleep (Q3).
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

    /// Returns true if cell `i` is free. Only the owner calls this. If the cell still holds an id
    /// of the previous lap of the ring, it is free only once that id is claimed.
    bool room_at(std::uint64_t i) {
        if (i - top_.load(relaxed) <= mask_) return true;
        raise_top(i, mask_ + 1);
        return i - top_.load(relaxed) <= mask_;
    }

    /// Moves top_ over up to `steps` empty cells below `end`. Only the owner calls this. push()
    /// calls it now and then, so that a scan of the whole range meets few empty cells.
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

    // The owner writes these members, so they have a cache line of their own.
    alignas(64) cell* cells_ = nullptr;
    std::uint64_t mask_ = 0;
    atomic<std::uint64_t> bottom_{0};
    atomic<std::uint64_t> top_{0};
    // Thieves write this member, so it has a cache line of its own.
    alignas(64) atomic<std::uint64_t> hint_{0};
};

using ready_queue = basic_ready_queue<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
