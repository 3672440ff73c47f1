#pragma once
// Which token of a pipeline runs next, without locks and without anybody waiting. Used by
// pipeline.hpp; not for programs. The invariants: docs/design/fork-join.md
//
// A token is a place for one item, named by an index. It is, at any time, in one of these places:
// returned (empty), with the thread that runs it, parked at the gate of a serial stage, or ready.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t no_token = UINT32_MAX;

/// What can run and waits for a thread, newest first, and how many threads run the pipeline: one
/// word, so that nobody leaves beside something that is ready, and nobody is called in vain.
template <class Policy>
class basic_ready_tokens {
    using word = std::uint64_t;
    static constexpr unsigned head_bits = 24, runner_bits = 12;
    static constexpr word head_mask = (word{1} << head_bits) - 1;
    static constexpr word one_runner = word{1} << head_bits;
    static constexpr word runner_mask = (word{1} << runner_bits) - 1;
    // A token that was taken and is ready again makes another word of the same head.
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

    /// The caller's own run.
    basic_ready_tokens() : word_(one_runner) {}

    /// By a runner. True: there were fewer than `most`; one more is counted, and to be called.
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

    /// By a runner. no_token: nothing is ready, and this runner is counted no more.
    std::uint32_t pop_or_leave(atomic<std::uint32_t>* next) {
        // acquire: pairs with push(), here and where the exchange fails.
        word seen = word_.load(acquire);
        while (true) {
            const auto head = static_cast<std::uint32_t>(seen & head_mask);
            // relaxed: of a token that was taken meanwhile this may be anything; the exchange
            // fails.
            const word wanted =
                head == 0 ? seen - one_runner : without_head(seen) | next[head - 1].load(relaxed);
            if (word_.compare_exchange_weak(seen, wanted, acquire, acquire)) return head - 1;
        }
    }

    /// One that was counted does not come.
    void drop_runner() { word_.fetch_sub(one_runner, relaxed); }

private:
    atomic<word> word_;
};

/// Empty tokens on their way back to the source, and whether the source waits for one.
template <class Policy>
class basic_returned_tokens {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;

    /// By anybody. True: the source has been waiting; it is the caller's now, with this token.
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

    /// By the source: all that have come back, linked by `next`. no_token: none, and the source is
    /// no longer the caller's, but belongs to the thread that gives the next one.
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
            // acquire: pairs with give(). Only the source takes, so nothing comes back in between.
            if (word_.compare_exchange_weak(seen, none, acquire, relaxed)) return seen - 1;
        }
    }
    /// What follows in a list that was taken, or no_token.
    static std::uint32_t after(std::uint32_t token, const atomic<std::uint32_t>* next) {
        return next[token].load(relaxed) - 1;
    }

private:
    static constexpr std::uint32_t none = 0, source_waits = UINT32_MAX;
    atomic<std::uint32_t> word_{none};
};

/// The gate of one serial stage: it lets items through in their order, one at a time. For each item
/// two come together, in either order: the item, and the one before it, which opens the gate for
/// it. The thread that comes second runs the item. There is a cell for each item that may be in
/// flight, so the item that used a cell before has left the stage.
template <class Policy>
class basic_serial_gate {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;
    using cell = atomic<std::uint32_t>;

    /// `count`: a power of two, at least as many as items in flight; each cell is 0.
    void use(cell* cells, std::uint32_t count) {
        cells_ = cells;
        mask_ = count - 1;
        cells_[0].store(open, relaxed);  // before anybody else is called
    }

    /// True: the gate is open for the item. False: it is parked, and from here on another's.
    bool arrive(std::uint64_t item, std::uint32_t token) {
        cell& mine = cells_[item & mask_];
        std::uint32_t seen = mine.load(acquire);  // pairs with pass()
        // release: pairs with pass(), whose caller runs the item. acquire, where it fails: pairs
        // with pass(), too.
        if (seen != open &&
            mine.compare_exchange_strong(seen, token + first_token, acq_rel, acquire)) {
            return false;
        }
        mine.store(empty, relaxed);  // the next to use it comes after this item has passed
        return true;
    }

    /// After the item before `item`. Returns the token of `item`, if that is parked.
    std::uint32_t pass(std::uint64_t item) {
        cell& next = cells_[item & mask_];
        std::uint32_t seen = empty;
        // release: pairs with arrive(), what the stage wrote is visible to its next call. acquire,
        // where it fails: pairs with arrive(), the parked item.
        if (next.compare_exchange_strong(seen, open, acq_rel, acquire)) return no_token;
        next.store(empty, relaxed);  // as above
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
