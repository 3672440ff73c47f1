#pragma once
// Several threads divide a range of indices among themselves. The indices are the bodies of a batch
// or the units of a loop. The thread that holds the range takes indices from the front. Each other
// thread takes the upper half of the remaining indices, and divides this half in the same way. So
// other threads can still take all work that has not started. (Lazy splitting of ranges: Tzannes,
// Caragea, Barua, Vishkin, "Lazy Binary-Splitting", PPoPP 2010.)

#include "braid/base/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// The indices [begin, end). A loop's body never gets an empty range.
struct index_range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

namespace detail {

/// The remaining indices of a range, and a mark that the user of the class can set. Both are stored
/// in one word: {end, mark, begin}. All indices are below `capacity`.
class shared_range {
public:
    static constexpr std::size_t capacity = INT32_MAX;

    shared_range() = default;
    /// `all.end` must be at most `capacity`.
    explicit shared_range(index_range all) : word_(make(all.begin, all.end)) {}

    // relaxed, throughout: the word only assigns indices to threads, and orders nothing else. The
    // writes of the bodies are ordered by the join that the helpers belong to, or by the tickets of
    // the batch.

    /// Takes a piece from the front. The pieces become smaller toward the end. Returns false if no
    /// indices remain.
    bool take_front(index_range& piece) {
        constexpr std::size_t pieces = 32;
        std::uint64_t seen = word_.load(relaxed);
        do {
            const std::size_t begin = begin_of(seen), end = end_of(seen);
            if (begin >= end) return false;
            piece = {begin, (std::min)(end, begin + 1 + (end - begin) / pieces)};
        } while (!word_.compare_exchange_weak(seen, seen + piece.size(), relaxed, relaxed));
        return true;
    }
    struct first_index {
        std::size_t index;
        std::size_t left;  // remaining indices including `index`; 0 means that no index remained
        bool marked;
    };
    /// Takes the next index. Only one thread may take from the front. take_first() is cheaper than
    /// take_front(). After take_first() has returned `left` = 0, refill() must be called before the
    /// next take_first().
    first_index take_first() {
        const std::uint64_t seen = word_.fetch_add(1, relaxed);
        return {begin_of(seen), left_of(seen), (seen & mark_bit) != 0};
    }
    /// Takes the upper half of the remaining indices, rounded up, so that repeated calls take all.
    /// Returns false if no indices remain.
    bool take_half(index_range& half) {
        std::uint64_t seen = word_.load(relaxed);
        std::uint64_t taken = 0;
        do {
            const std::size_t end = end_of(seen);
            taken = (left_of(seen) + 1) / 2;
            if (taken == 0) return false;
            half = {end - taken, end};
        } while (!word_.compare_exchange_weak(seen, seen - (taken << end_shift), relaxed, relaxed));
        return true;
    }
    std::size_t left() const { return left_of(word_.load(relaxed)); }
    /// Sets a new range. No indices may remain in the old range. The mark does not change.
    void refill(index_range all) {
        // The old range is empty, so no thread takes indices from it. Only the mark can change
        // before the exchange succeeds.
        std::uint64_t seen = word_.load(relaxed);
        while (!word_.compare_exchange_weak(seen, make(all.begin, all.end) | (seen & mark_bit),
                                            relaxed, relaxed)) {
        }
    }
    /// Empties the range and removes the mark.
    void close() { word_.store(0, relaxed); }

    /// Sets the mark. Returns true if the mark was not set before.
    bool mark() { return (word_.fetch_or(mark_bit, relaxed) & mark_bit) == 0; }
    void unmark() { word_.fetch_and(~mark_bit, relaxed); }

private:
    // take_first() may increment `begin` to one beyond the end. So `begin` uses all 32 bits below
    // the mark.
    static constexpr std::uint64_t mark_bit = std::uint64_t{1} << 32;
    static constexpr unsigned end_shift = 33;

    static std::uint64_t make(std::size_t begin, std::size_t end) {
        return std::uint64_t{end} << end_shift | begin;
    }
    static std::size_t begin_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
    static std::size_t end_of(std::uint64_t word) { return word >> end_shift; }
    static std::size_t left_of(std::uint64_t word) {
        return end_of(word) > begin_of(word) ? end_of(word) - begin_of(word) : 0;
    }

    atomic<std::uint64_t> word_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
