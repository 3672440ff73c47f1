#pragma once
// The classes in this file decide which token of a pipeline runs next. They use no locks, and no
// thread waits in them. pipeline.hpp uses them; programs do not. docs/design/fork-join.md lists the
// invariants.
//
// A token is a place for one item and is identified by an index. At any time a token is in one of
// these states: it is returned (empty), a thread runs it, it is parked at the gate of a serial
// stage, or it is ready.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t no_token = UINT32_MAX;

/// Holds the ready tokens that wait for a thread, newest first, and the number of threads that run
/// the pipeline (runners). The head of the list and the number are in one word. So no runner leaves
/// while a token is ready, and no thread is called without need.
template <class Policy>
class basic_ready_tokens {
    using word = std::uint64_t;
    static constexpr unsigned head_bits = 24, runner_bits = 12;
    static constexpr word head_mask = (word{1} << head_bits) - 1;
    static constexpr word one_runner = word{1} << head_bits;
    static constexpr word runner_mask = (word{1} << runner_bits) - 1;
    // The version makes the word different when a token was taken and is the head again.
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

    /// Counts the caller of the pipeline as the first runner.
    basic_ready_tokens() : word_(one_runner) {}

    /// Makes a token ready. Must be called by a runner. If there were fewer than `most` runners,
    /// counts one more runner and returns true. The caller must then call a thread.
    bool push(std::uint32_t token, atomic<std::uint32_t>* next, unsigned most) {
        word seen = word_.load(relaxed);
        word wanted = 0;
        bool call = false;
        do {
            next[token].store(static_cast<std::uint32_t>(seen & head_mask), relaxed);
            call = runners(seen) < most;
            wanted = (without_head(seen) + version + (call ? one_runner : 0)) | (token + 1);
            // release: pairs with the acquire in pop_or_leave(), so that the token's item is
            // visible, also if other threads exchange the word in between.
        } while (!word_.compare_exchange_weak(seen, wanted, release, relaxed));
        return call;
    }

    /// Takes the newest ready token. Must be called by a runner. If no token is ready, removes the
    /// caller from the number of runners and returns no_token.
    std::uint32_t pop_or_leave(atomic<std::uint32_t>* next) {
        // acquire: pairs with the release in push(), here and in the exchange, even if the exchange
        // fails.
        word seen = word_.load(acquire);
        while (true) {
            const auto head = static_cast<std::uint32_t>(seen & head_mask);
            // relaxed: if another thread has taken the token meanwhile, the loaded value may be
            // anything, and the exchange fails.
            const word wanted =
                head == 0 ? seen - one_runner : without_head(seen) | next[head - 1].load(relaxed);
            if (word_.compare_exchange_weak(seen, wanted, acquire, acquire)) return head - 1;
        }
    }

    /// Reduces the number of runners by one. Called if the task of a counted runner is refused or
    /// cancelled.
    void drop_runner() { word_.fetch_sub(one_runner, relaxed); }

private:
    atomic<word> word_;
};

/// Holds the empty tokens that were returned to the source, and whether the source waits for a
/// token.
template <class Policy>
class basic_returned_tokens {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;

    /// Returns an empty token to the source. Any runner may call give(). The result is true if the
    /// source was waiting for a token. The source and the token then belong to the caller.
    bool give(std::uint32_t token, atomic<std::uint32_t>* next) {
        std::uint32_t seen = word_.load(relaxed);
        while (true) {
            if (seen == source_waits) {
                // acquire: pairs with the release in take_or_wait(), so that the private data of
                // the source is visible.
                if (!word_.compare_exchange_weak(seen, none, acquire, relaxed)) continue;
                next[token].store(none, relaxed);
                return true;
            }
            next[token].store(seen, relaxed);
            // release: pairs with the acquire in take_or_wait(), so that the source sees that the
            // item has left the token.
            if (word_.compare_exchange_weak(seen, token + 1, release, relaxed)) return false;
        }
    }

    /// Takes all returned tokens. Must be called by the thread that owns the source. Returns the
    /// first token; the other tokens are linked by `next`. If no token was returned, returns
    /// no_token. The source then no longer belongs to the caller, but to the thread that returns
    /// the next token.
    std::uint32_t take_or_wait() {
        std::uint32_t seen = word_.load(relaxed);
        while (true) {
            if (seen == none) {
                // release: pairs with the acquire in give(), so that the private data of the source
                // is visible.
                if (word_.compare_exchange_weak(seen, source_waits, release, relaxed)) {
                    return no_token;
                }
                continue;
            }
            // acquire: pairs with the release in give(). Only the owner of the source takes tokens,
            // so no token is taken and returned between the load and the exchange.
            if (word_.compare_exchange_weak(seen, none, acquire, relaxed)) return seen - 1;
        }
    }
    /// Returns the next token after `token` in a list of tokens that the source took, or no_token
    /// at the end of the list.
    static std::uint32_t after(std::uint32_t token, const atomic<std::uint32_t>* next) {
        return next[token].load(relaxed) - 1;
    }

private:
    static constexpr std::uint32_t none = 0, source_waits = UINT32_MAX;
    atomic<std::uint32_t> word_{none};
};

/// The gate of one serial stage lets items through one at a time, in the order of the items. Two
/// events must happen for each item, in either order: the item arrives, and the item before it
/// opens the gate. The thread of the second event runs the item. The gate has a cell for each item
/// that may be in flight. So when an item uses a cell, the previous item in that cell has left the
/// stage.
template <class Policy>
class basic_serial_gate {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;
    using cell = atomic<std::uint32_t>;

    /// Sets the cells of the gate. `count` must be a power of two and at least the maximum number
    /// of items in flight. Each cell must be 0.
    void use(cell* cells, std::uint32_t count) {
        cells_ = cells;
        mask_ = count - 1;
        cells_[0].store(open, relaxed);  // relaxed: no other thread is called yet
    }

    /// Returns true if the gate is open for `item`. Otherwise parks the item and returns false. A
    /// parked item belongs to the thread that opens the gate for it.
    bool arrive(std::uint64_t item, std::uint32_t token) {
        cell& mine = cells_[item & mask_];
        std::uint32_t seen = mine.load(acquire);  // pairs with the release in pass()
        // release: pairs with the acquire in pass(), so that the item is visible to the thread that
        // calls pass() and then runs the item. acquire on failure: pairs with the release in
        // pass().
        if (seen != open &&
            mine.compare_exchange_strong(seen, token + first_token, acq_rel, acquire)) {
            return false;
        }
        mine.store(empty, relaxed);  // the next item in this cell arrives after this item has left
        return true;
    }

    /// Opens the gate for `item`. Called after the item before it has left the stage. Returns the
    /// token of `item` if the item is parked, and no_token otherwise.
    std::uint32_t pass(std::uint64_t item) {
        cell& next = cells_[item & mask_];
        std::uint32_t seen = empty;
        // release: pairs with the acquire in arrive(), so that the writes of this call of the stage
        // are visible to the next call. acquire on failure: pairs with the release in arrive(), so
        // that the parked item is visible.
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
