#pragma once
// Looks for tasks that need each other in a circle. The search is depth first, from a task to the
// tasks that need it, in bounded memory and bounded time.

#include "core/explain/needs.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Searches for circles, for one thread at a time. The object holds all memory that it needs, so no
/// search lacks memory.
class cycle_search {
public:
    /// A circle of more bodies and tasks than this is not found.
    static constexpr unsigned longest = 512;

    /// Writes no byte of the tables, because most programs never use them.
    cycle_search() {}

    /// Starts a look, which goes on from the tasks where the look before has stopped.
    void begin();
    /// Returns true if a circle is found, which was read twice. A circle that shares a task with
    /// one that this look has found is not found. Returns false if there is no other circle. If
    /// `in_part` is then true, there are tasks left for the next look.
    bool next(wait_room& rt, bool& in_part);
    void rewind() { at_ = 0; }

    /// Return the length and the members of the circle that was found. Each member needs the next
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
        // The bit is one of the generation's bits. So a slot that has had 2^31 tasks may be taken
        // for another node, and a circle may be missed.
        return n.task.value ^ (n.is_body() ? std::uint64_t{1} << 63 : 0);
    }
    static unsigned place_of(const need_node& n) {
        return static_cast<unsigned>(key_of(n) * 0x9e37'79b9'7f4a'7c15U >> 54);
    }

    static constexpr unsigned places = 2 * longest;
    static_assert(places == 1U << (64 - 54));
    static constexpr std::uint32_t most_steps = 50'000;   // steps of one look, about 2 ms
    static constexpr std::uint32_t most_starts = 65'536;  // slots that one look starts from

    // The slot of the next start, and the slot behind the last start of this look.
    std::uint32_t at_ = 0, stop_ = 0;
    unsigned depth_ = 0, from_ = 0;
    std::uint64_t steps_ = 0;
    // A hash table. A place holds the index of a node on the path plus 1, or 0 if it is free. A
    // node lies at its place or behind it. The last node to enter is the first to leave, so no gap
    // hides a node.
    std::uint16_t index_[places];
    std::uint64_t finished_[places];  // the latest key of each place; its node is in no circle
    union {
        step path_[longest];
    };
};

}  // namespace detail
BRAID_NAMESPACE_END
