#pragma once
// Looks for tasks that need each other in a circle: depth first, from a task to those that need it,
// in bounded memory and bounded time.

#include "core/explain/needs.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// One thread at a time. What it needs it holds in itself, so no search lacks memory.
class cycle_search {
public:
    /// A circle of more bodies and tasks than this is not found.
    static constexpr unsigned longest = 512;

    /// Writes no byte of its tables: most programs never use them.
    cycle_search() {}

    /// Begins a look, which searches on from the tasks where the one before has stopped.
    void begin();
    /// True: a circle is found, which was read twice. Circles that share a task with one that this
    /// look has found are not. False: there is no other, or, with `in_part`, there are tasks left
    /// for the next look.
    bool next(wait_room& rt, bool& in_part);
    void rewind() { at_ = 0; }

    /// The circle that was found: each member needs the next one, and the last needs the first.
    unsigned count() const { return depth_ - from_; }
    const dependent& member(unsigned i) const { return path_[depth_ - 1 - i].came; }

private:
    struct step {
        dependent came;  // the node, and why it needs the one before
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
        // The bit is a generation's: a slot that has had 2^31 tasks may be taken for another one,
        // and a circle be missed.
        return n.task.value ^ (n.is_body() ? std::uint64_t{1} << 63 : 0);
    }
    static unsigned place_of(const need_node& n) {
        return static_cast<unsigned>(key_of(n) * 0x9e37'79b9'7f4a'7c15U >> 54);
    }

    static constexpr unsigned places = 2 * longest;
    static_assert(places == 1U << (64 - 54));
    static constexpr std::uint32_t most_steps = 50'000;   // of one look: about 2 ms
    static constexpr std::uint32_t most_starts = 65'536;  // the same

    std::uint32_t at_ = 0, stop_ = 0;  // slots of starts: the next one, and behind the last one
    unsigned depth_ = 0, from_ = 0;
    std::uint64_t steps_ = 0;
    // Where on the path a node is, plus 1; 0: a free place. Nodes lie at their place or behind it,
    // and the last to enter is the first to leave, so no gap hides one.
    std::uint16_t index_[places];
    std::uint64_t finished_[places];  // keys, the latest of each place: in no circle
    union {
        step path_[longest];
    };
};

}  // namespace detail
BRAID_NAMESPACE_END
