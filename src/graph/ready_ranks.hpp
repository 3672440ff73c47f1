#pragma once
// The ready nodes of a run, by rank: the next thread takes the most urgent. One bit a node.
//
//   ranks   0 1 2 3 4 …       0: the longest way to the end of the run behind it
//   words  [. 1 . . 1 …]      1: ready, and nobody has taken it
//
//   releases a node   add(its rank), then a ticket into a queue of the scheduler
//   takes a ticket    take(): the lowest rank, whosever ticket it was
//
// R1  A ticket becomes visible after its bit, so there are never fewer bits than tickets: take()
// ends. R2  A bit is taken once: only the fetch_and that finds it set has it. The words belong to
// the user of this class, so that a model checker can bring its own.

#include "braid/base/policy.hpp"

#include <bit>
#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class Policy>
class basic_ready_ranks {
public:
    using word = typename Policy::template atomic<std::uint64_t>;
    static constexpr std::size_t words_for(std::size_t ranks) { return (ranks + 63) / 64; }

    basic_ready_ranks() = default;
    basic_ready_ranks(word* words, std::size_t count) : words_(words), count_(count) {}

    void add(std::uint32_t rank) {
        // release: pairs with take(); what the node's predecessors wrote comes with the bit, not
        // with the ticket.
        words_[rank / 64].fetch_or(bit_of(rank), release);
    }
    /// Holders of a ticket only.
    std::uint32_t take() {
        for (;; Policy::relax()) {
            for (std::size_t i = 0; i < count_; ++i) {
                const std::uint32_t rank = take_lowest_of(i);
                if (rank != none) return rank;
            }
        }
    }
    /// Takes the node of that rank. False: another thread has it.
    bool take(std::uint32_t rank) {
        // acquire: pairs with add(). The bits of a word share its release sequence.
        return (words_[rank / 64].fetch_and(~bit_of(rank), acquire) & bit_of(rank)) != 0;
    }

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    std::uint32_t take_lowest_of(std::size_t i) {
        for (std::uint64_t seen = words_[i].load(relaxed); seen != 0; seen &= seen - 1) {
            const auto rank = static_cast<std::uint32_t>(i * 64) +
                              static_cast<std::uint32_t>(std::countr_zero(seen));
            if (take(rank)) return rank;
        }
        return none;
    }
    static constexpr std::uint64_t bit_of(std::uint32_t rank) {
        return std::uint64_t{1} << rank % 64;
    }

    word* words_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
