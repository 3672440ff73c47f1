#pragma once
// Decides which token of a pipeline runs next, without locks and without any thread waiting. Used
// by pipeline.hpp; not for programs. The invariants: docs/design/fork-join.md
//
// A token is a place for one item, named by an index. At any time it is in one of these places:
// returned (empty), with the thread that runs it, parked at the gate of a serial stage, or ready.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t no_token = UINT32_MAX;

/// Holds what is ready and waits for a thread, newest first, and the number of threads that run the
/// pipeline (runners). Both are in one word, so no runner leaves while something is ready, and no
/// thread is called in vain.
template <class Policy>
class basic_ready_tokens {
    using word = std::uint64_t;
    static constexpr unsigned head_bits = 24, runner_bits = 12;
    static constexpr word head_mask = (word{1} << head_bits) - 1;
    static constexpr word one_runner = word{1} << head_bits;
    static constexpr word runner_mask = (word{1} << runner_bits) - 1;
    // A token that was taken and is ready again makes another word with the same head.
    static constexpr word version = word{1} << (head_bits + runner_bits);
    static constexpr word without_head(word w) { return w & ~head_mask; }

public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;
    static constexpr std::uint32_t most_tokens = 1U << 20;
    static constexpr std::uint32_t most_runners = runner_mask;

    static constexpr unsigned runners(word w) {
        return static_cast<unsigned>(w >> head_bits & runner_mask);
    }

    /// Counts the caller as the first runner.
    basic_ready_tokens() : word_(one_runner) {}

    /// Called by a runner. Returns true if there were fewer than `most` runners: one more is then
    /// counted, and the caller must call a thread.
    bool push(std::uint32_t token, atomic<std::uint32_t>* next, unsigned most) {
        word seen = word_.load(relaxed);
        word wanted = 0;
        bool call = false;
        do {
            next[token].store(static_cast<std::uint32_t>(seen & head_mask), relaxed);
            call = runners(seen) < most;
            wanted = (without_head(seen) + version + (call ? one_runner : 0)) | (token + 1);
            // release: pairs with pop_or_leave(), also through what others exchange in between.
        } while (!word_.compare_exchange_weak(seen, wanted, release, relaxed));
        return call;
    }

    /// Called by a runner. Returns no_token if nothing is ready; the runner is then no longer
    /// counted.
    std::uint32_t pop_or_leave(atomic<std::uint32_t>* next) {
        // acquire: pairs with push(), here and where the exchange fails.
        word seen = word_.load(acquire);
        while (true) {
            const auto head = static_cast<std::uint32_t>(seen & head_mask);
            // relaxed: if the token was taken meanwhile, the value may be anything, and the
            // exchange fails.
            const word wanted =
                head == 0 ? seen - one_runner : without_head(seen) | next[head - 1].load(relaxed);
            if (word_.compare_exchange_weak(seen, wanted, acquire, acquire)) return head - 1;
        }
    }

    /// Called when a runner that was counted does not come.
    void drop_runner() { word_.fetch_sub(one_runner, relaxed); }

private:
    atomic<word> word_;
};

/// Holds the empty tokens on their way back to the source, and whether the source waits for one.
template <class Policy>
class basic_returned_tokens {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;

    /// Called by any runner. Returns true if the source has been waiting: it is the caller's now,
    /// with this token.
    bool give(std::uint32_t token, atomic<std::uint32_t>* next) {
        std::uint32_t seen = word_.load(relaxed);
        while (true) {
            if (seen == source_waits) {
                // acquire: pairs with take_or_wait(), of what the source keeps for itself.
                if (!word_.compare_exchange_weak(seen, none, acquire, relaxed)) continue;
                next[token].store(none, relaxed);
                return true;
            }
            next[token].store(seen, relaxed);
            // release: pairs with take_or_wait(); the item is gone from the token.
            if (word_.compare_exchange_weak(seen, token + 1, release, relaxed)) return false;
        }
    }

    /// Called by the thread that has the source. Returns all tokens that have come back, linked by
    /// `next`. Returns no_token if there are none; the source is then no longer the caller's, but
    /// belongs to the thread that gives the next token.
    std::uint32_t take_or_wait() {
        std::uint32_t seen = word_.load(relaxed);
        while (true) {
            if (seen == none) {
                // release: pairs with give().
                if (word_.compare_exchange_weak(seen, source_waits, release, relaxed)) {
                    return no_token;
                }
                continue;
            }
            // acquire: pairs with give(). Only the source takes tokens, so none comes back in
            // between.
            if (word_.compare_exchange_weak(seen, none, acquire, relaxed)) return seen - 1;
        }
    }
    /// Returns what follows in a list that was taken, or no_token.
    static std::uint32_t after(std::uint32_t token, const atomic<std::uint32_t>* next) {
        return next[token].load(relaxed) - 1;
    }

private:
    static constexpr std::uint32_t none = 0, source_waits = UINT32_MAX;
    atomic<std::uint32_t> word_{none};
};

/// The gate of one serial stage: it lets items through in their order, one at a time. Two things
/// must come together for each item, in either order: the item arrives, and the one before it opens
/// the gate. The thread that comes second runs the item. There is a cell for each item that may be
/// in flight, so the item that used a cell before has left the stage.
template <class Policy>
class basic_serial_gate {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;
    using cell = atomic<std::uint32_t>;

    /// `count` is a power of two, and at least the number of items in flight. Each cell is 0.
    void use(cell* cells, std::uint32_t count) {
        cells_ = cells;
        mask_ = count - 1;
        cells_[0].store(open, relaxed);  // before any other thread is called
    }

    /// Returns true if the gate is open for the item. Otherwise the item is parked, and from here
    /// on belongs to another thread.
    bool arrive(std::uint64_t item, std::uint32_t token) {
        cell& mine = cells_[item & mask_];
        std::uint32_t seen = mine.load(acquire);  // pairs with pass()
        // release: pairs with pass(), whose caller runs the item. acquire, where it fails: pairs
        // with pass(), too.
        if (seen != open &&
            mine.compare_exchange_strong(seen, token + first_token, acq_rel, acquire)) {
            return false;
        }
        mine.store(empty, relaxed);  // the cell's next item comes after this one has passed
        return true;
    }

    /// Called after the item before `item` has left the stage. Returns the token of `item` if that
    /// is parked, otherwise no_token.
    std::uint32_t pass(std::uint64_t item) {
        cell& next = cells_[item & mask_];
        std::uint32_t seen = empty;
        // release: pairs with arrive(); what the stage wrote is visible to its next call. acquire,
        // where it fails: pairs with arrive(), the parked item.
        if (next.compare_exchange_strong(seen, open, acq_rel, acquire)) return no_token;
        next.store(empty, relaxed);  // as in arrive()
        return seen - first_token;
    }

private:
    static constexpr std::uint32_t empty = 0, open = 1, first_token = 2;
    cell* cells_ = nullptr;
    std::uint32_t mask_ = 0;
};

using ready_tokens = basic_ready_tokens<active_policy>;
using returned_tokens = basic_returned_tokens<active_policy>;
using serial_gate = basic_serial_gate<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
