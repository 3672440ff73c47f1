#pragma once
// Searches for cycles of tasks that need each other. The search is depth first, from a task to the
// tasks that need it, in bounded memory and bounded time.

#include "core/explain/needs.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Searches for cycles. Only one thread at a time may use the object. It contains all memory of the
/// search, so a search allocates nothing.
class cycle_search {
public:
    /// A cycle of more nodes (bodies and tasks) than this is not found.
    static constexpr unsigned longest = 512;

    /// Leaves the tables uninitialized, because most programs never use them.
    cycle_search() {}

    /// Starts a new scan, which continues where the scan before it stopped.
    void begin();
    /// Continues the scan. Returns true if it has found a cycle, and has read it a second time.
    /// Cycles that share a task with one that this scan has already found are not found. Returns
    /// false if there are no more cycles; `in_part` is then true if tasks are left for the next
    /// scan.
    bool next(wait_room& rt, bool& in_part);
    void rewind() { at_ = 0; }

    /// Return the length and the members of the cycle that was found. Each member needs the next
    /// one, and the last member needs the first.
    unsigned count() const { return depth_ - from_; }
    const dependent& member(unsigned i) const { return path_[depth_ - 1 - i].came; }

private:
    struct step {
        dependent came;  // the node, and why it needs the node before
        need_cursor cursor;
        std::uint16_t place = 0;
    };

    bool search_from(const needs& facts, task_id start);
    void enter(const dependent& d);
    void finish(const need_node& n) { finished_[place_of(n)] = key_of(n); }
    void leave() { index_[path_[--depth_].place] = 0; }
    unsigned on_path(const need_node& n) const;
    bool is_still_there(const needs& facts);
    static std::uint64_t key_of(const need_node& n) {
        // The bit is the generation's top bit. So after 2^31 tasks in one slot, two nodes may have
        // the same key, and a cycle may be missed.
        return n.task.value ^ (n.is_body() ? std::uint64_t{1} << 63 : 0);
    }
    static unsigned place_of(const need_node& n) {
        return static_cast<unsigned>(key_of(n) * 0x9e37'79b9'7f4a'7c15U >> 54);
    }

    static constexpr unsigned places = 2 * longest;
    static_assert(places == 1U << (64 - 54));
    static constexpr std::uint32_t most_steps = 50'000;  // steps of one scan, about 2 ms
    static constexpr std::uint32_t most_starts =
        65'536;  // slots that one scan starts from, about 2 ms, too

    // The slot of the next start, and the slot behind the last start of this scan.
    std::uint32_t at_ = 0, stop_ = 0;
    unsigned depth_ = 0, from_ = 0;
    std::uint64_t steps_ = 0;
    // A hash table with linear probing. A place has 1 plus the index of a node on the path, or 0 if
    // it is free. The last node to enter is the first to leave, so no free place comes before a
    // node that was put behind it.
    std::uint16_t index_[places];
    std::uint64_t finished_[places];  // the last finished key of each place
    union {
        step path_[longest];
    };
};

}  // namespace detail
BRAID_NAMESPACE_END
