#pragma once
// Timers by deadline: a hierarchical timing wheel (G. Varghese, T. Lauck: "Hashed and Hierarchical
// Timing Wheels", SOSP 1987). A data structure and nothing else: the thread, the clock and the lock
// are the caller's.
//
//   level 0   64 buckets of 1 ns        A deadline lies at the level of the highest group of six
//   level 1   64 buckets of 64 ns       bits in which it differs from `base_`, up to which time has
//   …                                   passed. When time reaches a bucket its timers go down to
//   level 10  8 buckets of 36 years     levels below, ten times at most in the life of a timer.

#include "base/accounted_array.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Names one timer of a wheel: generation and index. Never reused; the empty one is no timer.
struct timer_id {
    std::uint64_t value = 0;
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr bool operator==(timer_id, timer_id) = default;
};

/// Times are ns on one clock that does not go back. The timer may be served from `deadline` on, and
/// should be by `deadline + slack`. Every deadline is in range: one that has passed is due at once,
/// INT64_MAX is due when time is INT64_MAX. A slack below 0 counts as 0, and the sum ends at
/// INT64_MAX.
template <class Payload>
struct timer_entry {
    std::int64_t deadline = 0;
    std::int64_t slack = 0;
    Payload payload{};
};

/// One thread at a time. 40 bytes and the payload for each timer that is armed at the same time,
/// 17 KiB besides.
template <class Payload, memory_tag Tag>
class timer_wheel {
public:
    using entry = timer_entry<Payload>;

    explicit timer_wheel(accounted_memory& memory) : nodes_(memory), payloads_(memory) {}

    /// O(1); allocates when more timers are armed than ever before. Empty: no memory.
    timer_id arm(const entry& what) {
        const std::uint32_t index = take_node();
        if (index == none) return {};
        node& n = nodes_[index];
        n.deadline = what.deadline;
        n.latest = sum(what.deadline, std::max<std::int64_t>(what.slack, 0));
        payloads_[index] = what.payload;
        n.armed = true;
        ++size_;
        link(index);
        return id_of(index);
    }
    /// O(1). False: the timer was taken or cancelled before, or never armed.
    bool cancel(timer_id id) {
        const std::uint32_t index = index_of(id);
        if (index == none) return false;
        remove(index);
        return true;
    }
    bool is_armed(timer_id id) const { return index_of(id) != none; }

    /// Takes the timer with the earliest deadline if that is `now` or earlier; of equal ones the
    /// one that was armed first. False: none is due, and time has passed up to `now`.
    bool take_due(std::int64_t now, entry& to) {
        const std::uint64_t limit = key_of(now);
        for (position p; first(p);) {
            bucket& b = at(p);
            if (p.level != 0) {
                if (start_of(p) > limit) break;
                base_ = start_of(p);
                spread(p);
                continue;
            }
            if (b.unsorted) sort(b);
            if (nodes_[b.first].deadline > now) break;
            take(b.first, to);
            return true;
        }
        base_ = std::max(base_, limit);
        return false;
    }
    /// Takes each timer that is `wanted(payload)`, in no order, and calls `taken(entry)` for it,
    /// which must not touch the wheel. Returns how many. Looks at all.
    template <class Wanted, class Taken>
    std::size_t take_if(Wanted&& wanted, Taken&& taken) {
        const std::size_t before = size_;
        for (std::uint32_t i = 0; i < nodes_.size() && size_ != 0; ++i) {
            if (!nodes_[i].armed || !wanted(payloads_[i])) continue;
            entry one;
            take(i, one);
            taken(one);
        }
        return before - size_;
    }

    /// The latest moment at which all timers can still be served in time; INT64_MAX: none has one.
    /// Never later than that. It may be earlier where more than 256 timers lie in one bucket and
    /// the most urgent of them was removed; who comes then finds nothing, and asks again. Looks at
    /// each bucket at most that begins before the answer.
    std::int64_t next_wake() {
        std::int64_t best = INT64_MAX;
        for (unsigned level = 0; level < levels; ++level) {
            for (std::uint64_t left = occupied_[level]; left != 0; left &= left - 1) {
                const position p{level, static_cast<unsigned>(std::countr_zero(left))};
                if (static_cast<std::int64_t>(start_of(p)) >= best) return best;
                bucket& b = at(p);
                if (b.stale) refresh(b);
                best = std::min(best, b.latest);
            }
        }
        return best;
    }

    std::size_t size() const { return size_; }

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    static constexpr unsigned bits = 6, slots = 1U << bits, levels = 11;
    static constexpr unsigned most_looks = 256;

    // Without the payload: timers that go down to other levels touch memory for their nodes alone.
    struct node {
        std::int64_t deadline, latest;
        std::uint32_t generation;
        std::uint32_t next, before;  // in its bucket; `next` also among those that are free
        std::uint16_t bucket;
        bool armed;
    };
    struct bucket {
        std::uint32_t first = none, last = none;
        std::int64_t latest = INT64_MAX;  // of all its timers; stale: or earlier
        bool stale = false;
        bool unsorted = false;  // a timer came whose deadline had passed
    };
    struct position {
        unsigned level = 0, slot = 0;
    };

    static std::int64_t sum(std::int64_t a, std::int64_t b) {
        return a > INT64_MAX - b ? INT64_MAX : a + b;
    }
    static std::uint64_t key_of(std::int64_t time) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0));
    }

    // ---- nodes
    timer_id id_of(std::uint32_t index) const {
        return {std::uint64_t{nodes_[index].generation} << 32 | index};
    }
    std::uint32_t index_of(timer_id id) const {
        const auto index = static_cast<std::uint32_t>(id.value);
        const bool is_it = index < nodes_.size() && nodes_[index].armed && id_of(index) == id;
        return is_it ? index : none;
    }
    std::uint32_t take_node() {
        if (free_ != none) {
            const std::uint32_t index = free_;
            free_ = nodes_[index].next;
            return index;
        }
        if (nodes_.size() == none) return none;
        node fresh{};
        fresh.generation = 1;
        // One payload more than nodes does no harm.
        if (payloads_.size() == nodes_.size() && !payloads_.push({})) return none;
        if (!nodes_.push(fresh)) return none;
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    void take(std::uint32_t index, entry& to) {
        const node& n = nodes_[index];
        to = {n.deadline, n.latest - n.deadline, payloads_[index]};
        remove(index);
    }
    void remove(std::uint32_t index) {
        unlink(index);
        node& n = nodes_[index];
        n.armed = false;
        --size_;
        // A generation never wraps: the node is retired with its last one.
        if (++n.generation == UINT32_MAX) return;
        n.next = free_;
        free_ = index;
    }

    // ---- buckets
    bucket& at(position p) { return buckets_[p.level * slots + p.slot]; }
    /// The earliest bucket with a timer: whatever lies at a level comes before all above it.
    bool first(position& to) const {
        for (unsigned level = 0; level < levels; ++level) {
            if (occupied_[level] == 0) continue;
            to = {level, static_cast<unsigned>(std::countr_zero(occupied_[level]))};
            return true;
        }
        return false;
    }
    std::uint64_t start_of(position p) const {
        const unsigned shift = bits * p.level;
        const std::uint64_t above = shift + bits < 64 ? base_ >> (shift + bits) : 0;
        return (above << bits | p.slot) << shift;
    }
    void link(std::uint32_t index) {
        node& n = nodes_[index];
        const std::uint64_t key = std::max(key_of(n.deadline), base_);
        const std::uint64_t differs = key ^ base_;
        const unsigned top = differs == 0 ? 0 : static_cast<unsigned>(std::bit_width(differs)) - 1;
        const unsigned level = top / bits;
        const position p{level, static_cast<unsigned>(key >> (bits * level)) % slots};
        n.bucket = static_cast<std::uint16_t>(p.level * slots + p.slot);
        bucket& b = at(p);
        n.before = b.last;
        n.next = none;
        (b.last != none ? nodes_[b.last].next : b.first) = index;
        b.last = index;
        b.latest = std::min(b.latest, n.latest);
        b.unsorted = b.unsorted || n.deadline < static_cast<std::int64_t>(base_);
        occupied_[p.level] |= std::uint64_t{1} << p.slot;
    }
    void unlink(std::uint32_t index) {
        const node& n = nodes_[index];
        bucket& b = buckets_[n.bucket];
        (n.before != none ? nodes_[n.before].next : b.first) = n.next;
        (n.next != none ? nodes_[n.next].before : b.last) = n.before;
        b.stale = b.stale || n.latest == b.latest;
        if (b.first == none) empty(n.bucket);
    }
    void empty(std::uint32_t bucket_index) {
        buckets_[bucket_index] = {};
        occupied_[bucket_index / slots] &= ~(std::uint64_t{1} << bucket_index % slots);
    }
    /// Time has reached the bucket: its timers go to levels below.
    void spread(position p) {
        std::uint32_t index = at(p).first;
        empty(p.level * slots + p.slot);
        while (index != none) {
            const std::uint32_t next = nodes_[index].next;
            link(index);
            index = next;
        }
    }
    void refresh(bucket& b) {
        std::int64_t latest = INT64_MAX;
        unsigned looks = 0;
        for (std::uint32_t i = b.first; i != none; i = nodes_[i].next) {
            if (++looks > most_looks) return;
            latest = std::min(latest, nodes_[i].latest);
        }
        b.latest = latest;
        b.stale = false;
    }

    // ---- timers that were armed too late lie in one bucket with those that are due at that moment
    /// A merge sort of the list by deadline, equal ones in the order in which they came.
    void sort(bucket& b) {
        std::uint32_t runs[32];  // of 2^i timers each, or none; later ones hold earlier timers
        std::fill(std::begin(runs), std::end(runs), none);
        for (std::uint32_t at = b.first; at != none;) {
            std::uint32_t run = at;
            at = nodes_[at].next;
            nodes_[run].next = none;
            unsigned i = 0;
            for (; runs[i] != none; ++i) run = merge(std::exchange(runs[i], none), run);
            runs[i] = run;
        }
        b.first = none;
        for (const std::uint32_t run : runs) b.first = merge(run, b.first);
        b.last = none;
        for (std::uint32_t i = b.first; i != none; i = nodes_[i].next) {
            nodes_[i].before = std::exchange(b.last, i);
        }
        b.unsorted = false;
    }
    std::uint32_t merge(std::uint32_t earlier, std::uint32_t later) {
        std::uint32_t head = none;
        std::uint32_t* end = &head;
        while (earlier != none && later != none) {
            std::uint32_t& from =
                nodes_[later].deadline < nodes_[earlier].deadline ? later : earlier;
            *end = from;
            end = &nodes_[from].next;
            from = *end;
        }
        *end = earlier != none ? earlier : later;
        return head;
    }

    std::uint64_t base_ = 0;
    std::uint64_t occupied_[levels] = {};
    bucket buckets_[levels * slots];
    accounted_array<node, Tag> nodes_;
    accounted_array<Payload, Tag> payloads_;
    std::uint32_t free_ = none;
    std::size_t size_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
