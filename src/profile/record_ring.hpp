#pragma once
// The records of one thread on their way to the recorder's thread: one writer, one reader.
//
//   R1  head is the writer's, tail is the reader's; records [tail, head) belong to the reader.
//   R2  A ring that is full drops what comes and counts it. It never waits.
//
// The same queue as Lamport's of 1983, with the writer's copy of the tail (FastForward, Giacomoni
// et al. 2008) so that the two cores meet once a round and not once a record.

#include "braid/base/policy.hpp"
#include "braid/profile/capture.hpp"

#include <bit>
#include <span>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

class record_ring {
public:
    /// `capacity` is a power of two. Touches the memory, so that no later record has to.
    explicit record_ring(std::size_t capacity)
        : mask_(static_cast<std::uint32_t>(capacity - 1)), records_(capacity) {}

    // ---- the writer

    /// Where the next record goes. Null: there is no room, and that is counted.
    record* begin_push() {
        const std::uint64_t at = head_.load(relaxed);  // its own
        if (at - tail_seen_ > mask_) [[unlikely]] {
            tail_seen_ = tail_.load(acquire);  // pairs with pop(): it has read what was there
            if (at - tail_seen_ > mask_) {
                // relaxed: a count of its own.
                dropped_.store(dropped_.load(relaxed) + 1, relaxed);
                return nullptr;
            }
        }
        return &records_[at & mask_];
    }
    void end_push() {
        // release: pairs with the acquire in pop(); the record is written.
        head_.store(head_.load(relaxed) + 1, release);
    }

    // ---- the reader

    /// Calls f(span of records) for what is there, at most twice; afterwards the writer has the
    /// room.
    template <class F>
    void pop(F&& f) {
        const std::uint64_t end = head_.load(acquire);  // pairs with end_push()
        const std::uint64_t begin = tail_.load(relaxed);
        const std::span<const record> all(records_);
        const std::size_t first = begin & mask_;
        const std::size_t count = end - begin;
        const std::size_t straight = std::min(count, all.size() - first);
        if (straight != 0) f(all.subspan(first, straight));
        if (count != straight) f(all.first(count - straight));
        tail_.store(end, release);  // pairs with begin_push()
    }
    /// Since the beginning.
    std::uint64_t dropped() const { return dropped_.load(relaxed); }
    std::uint64_t pushed() const { return head_.load(relaxed); }

private:
    alignas(64) atomic<std::uint64_t> head_{0};
    std::uint64_t tail_seen_ = 0;
    atomic<std::uint64_t> dropped_{0};
    std::uint32_t mask_;
    alignas(64) atomic<std::uint64_t> tail_{0};
    std::vector<record> records_;
};

}  // namespace profile
BRAID_NAMESPACE_END
