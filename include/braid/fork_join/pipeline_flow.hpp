#pragma once
// The classes in this file decide which token of a pipeline runs next. Their functions use no locks
// and never block. pipeline.hpp uses these classes; programs do not. docs/design/fork-join.md lists
// the invariants.
//
// The source is the first stage, which produces the items. A runner is a thread that runs the
// pipeline. A token is a place for one item and is identified by an index. One more index, after
// that of the last token, stands for the source. At any time, a token is in one of these states: it
// is returned (empty), a runner runs it, it is parked at the gate of a serial stage, or it is
// ready. Tokens form lists: `next[token]` is the index of the next token in the list plus 1, or 0
// at the end of the list.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t no_token = UINT32_MAX;

/// Holds the list of ready tokens, newest first, and the number of runners. The head of the list
/// and the number of runners are in one word. So no runner leaves while a token is ready, and no
/// thread is called unless it is needed.
template <class Policy>
class basic_ready_tokens {
    using word = std::uint64_t;
    static constexpr unsigned head_bits = 24, runner_bits = 12;
    static constexpr word head_mask = (word{1} << head_bits) - 1;
    static constexpr word one_runner = word{1} << head_bits;
    static constexpr word runner_mask = (word{1} << runner_bits) - 1;
    // Each push() changes the version. So the word differs even if a token was taken and has become
    // the head again.
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

    /// The caller of the pipeline is the first runner.
    basic_ready_tokens() : word_(one_runner) {}

    /// Makes a token ready. Only a runner may call push(). If there were fewer than `most` runners,
    /// push() adds one to the number of runners and returns true. The caller of push() must then
    /// call one more thread (see crew::call()).
    bool push(std::uint32_t token, atomic<std::uint32_t>* next, unsigned most) {
        word seen = word_.load(relaxed);
        word wanted = 0;
        bool call = false;
        do {
            next[token].store(static_cast<std::uint32_t>(seen & head_mask), relaxed);
            call = runners(seen) < most;
            wanted = (without_head(seen) + version + (call ? one_runner : 0)) | (token + 1);
            // release: pairs with the acquire in pop_or_leave(), so that the token's item is
            // visible there, even if other threads have changed the word in between.
        } while (!word_.compare_exchange_weak(seen, wanted, release, relaxed));
        return call;
    }

    /// Takes the newest ready token. Only a runner may call pop_or_leave(). If no token is ready,
    /// the caller is no longer a runner, and pop_or_leave() returns no_token.
    std::uint32_t pop_or_leave(atomic<std::uint32_t>* next) {
        // acquire: this load pairs with the release in push(), so that the token's item and its
        // link are visible. The exchange below acquires for the same reason, even if it fails.
        word seen = word_.load(acquire);
        while (true) {
            const auto head = static_cast<std::uint32_t>(seen & head_mask);
            // relaxed: if another thread has already taken the token, the loaded link may have any
            // value, but then the exchange fails.
            const word wanted =
                head == 0 ? seen - one_runner : without_head(seen) | next[head - 1].load(relaxed);
            if (word_.compare_exchange_weak(seen, wanted, acquire, acquire)) return head - 1;
        }
    }

    /// Subtracts one from the number of runners. drop_runner() must be called if the task of a
    /// counted runner is refused or cancelled.
    void drop_runner() { word_.fetch_sub(one_runner, relaxed); }

private:
    atomic<word> word_;
};

/// Holds the empty tokens that were returned to the source. Also records whether the source waits
/// for a token.
template <class Policy>
class basic_returned_tokens {
public:
    template <class T>
    using atomic = typename Policy::template atomic<T>;

    /// Returns an empty token to the source. Any runner may call give(). Returns true if the source
    /// was waiting for a token. In this case, the source and the token belong to the caller.
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

    /// Takes all returned tokens. Only the thread that owns the source may call take_or_wait().
    /// Returns the first token in the list of the returned tokens. If no token was returned,
    /// take_or_wait() returns no_token, and the caller no longer owns the source. The thread that
    /// returns the next token becomes the owner.
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
            // acquire: pairs with the release in give(), so that the returned tokens are empty for
            // the caller. Only the owner of the source takes tokens, so no token is taken and
            // returned again between the load and the exchange.
            if (word_.compare_exchange_weak(seen, none, acquire, relaxed)) return seen - 1;
        }
    }
    /// Returns the token after `token` in a list of tokens that the source took, or no_token at the
    /// end of the list.
    static std::uint32_t after(std::uint32_t token, const atomic<std::uint32_t>* next) {
        return next[token].load(relaxed) - 1;
    }

private:
    static constexpr std::uint32_t none = 0, source_waits = UINT32_MAX;
    atomic<std::uint32_t> word_{none};
};

/// The gate of one serial stage lets items through one at a time, in the order of the items. Two
/// events must happen for each item, in either order: the item arrives, and the previous item
/// leaves the stage and opens the gate. The thread of the second event runs the item. The gate has
/// a cell for each item that may be in flight. So an item uses a cell only after the previous item
/// of that cell has left the stage.
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
        cells_[0].store(open, relaxed);  // relaxed: no other thread runs the pipeline yet
    }

    /// Returns true if the gate is open for `item`. Otherwise parks the item and returns false. The
    /// thread that opens the gate for a parked item runs the item.
    bool arrive(std::uint64_t item, std::uint32_t token) {
        cell& mine = cells_[item & mask_];
        std::uint32_t seen = mine.load(acquire);  // pairs with the release in pass()
        // release: pairs with the acquire in pass(), so that the item is visible to the thread that
        // calls pass() and then runs the item. acquire on failure: pairs with the release in
        // pass(), so that the writes of the stage for the previous item are visible.
        if (seen != open &&
            mine.compare_exchange_strong(seen, token + first_token, acq_rel, acquire)) {
            return false;
        }
        mine.store(empty, relaxed);  // the next item in this cell arrives after this item has left
        return true;
    }

    /// Opens the gate for `item`. pass() must be called after the previous item has left the stage.
    /// Returns the token of `item` if the item is parked, and no_token otherwise.
    std::uint32_t pass(std::uint64_t item) {
        cell& next = cells_[item & mask_];
        std::uint32_t seen = empty;
        // release: pairs with the acquire in arrive(), so that the writes of the stage for the
        // previous item are visible to the stage's call for `item`. acquire on failure: pairs with
        // the release in arrive(), so that the parked item is visible.
        if (next.compare_exchange_strong(seen, open, acq_rel, acquire)) return no_token;
        next.store(empty, relaxed);  // relaxed, for the same reason as in arrive()
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
