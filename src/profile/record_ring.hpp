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

#include <algorithm>
#include <cstddef>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// `Record` is the model's in tests/model.
template <class Policy, class Record>
class basic_record_ring {
public:
    /// As many records as a power of two, which outlive the ring.
    explicit basic_record_ring(std::span<Record> records)
        : mask_(static_cast<std::uint32_t>(records.size() - 1)), records_(records) {}

    // ---- the writer

    /// Where the next record goes. Null: there is no room, and that is counted.
    Record* begin_push() {
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

    /// There is room for a record, known without a look at the reader's line.
    bool has_room() const { return head_.load(relaxed) - tail_seen_ <= mask_; }
    /// After has_room().
    void push(const Record& r) {
        const std::uint64_t at = head_.load(relaxed);  // its own
        records_[at & mask_] = r;
        head_.store(at + 1, release);  // as end_push()
    }

    // ---- the reader

    /// Calls f(span of records) for what is there, at most twice; afterwards the writer has the
    /// room.
    template <class F>
    void pop(F&& f) {
        const std::uint64_t end = head_.load(acquire);  // pairs with end_push()
        const std::uint64_t begin = tail_.load(relaxed);
        const std::span<const Record> all(records_);
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
    template <class T>
    using atomic = typename Policy::template atomic<T>;

    alignas(64) atomic<std::uint64_t> head_{0};
    std::uint64_t tail_seen_ = 0;
    atomic<std::uint64_t> dropped_{0};
    std::uint32_t mask_;
    alignas(64) atomic<std::uint64_t> tail_{0};
    const std::span<Record> records_;
};

using record_ring = basic_record_ring<active_policy, record>;

}  // namespace profile
BRAID_NAMESPACE_END
