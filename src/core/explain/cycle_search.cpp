#include "core/explain/cycle_search.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

void cycle_search::begin() {
    std::fill_n(index_, places, std::uint16_t{0});
    std::fill_n(finished_, places, std::uint64_t{0});
    depth_ = from_ = 0;
    steps_ = 0;
    stop_ = at_ + most_starts;
}

bool cycle_search::next(wait_room& rt, bool& in_part) {
    const needs facts(rt);
    const std::uint32_t count = rt.slots.count();
    // The call before found a cycle. Its nodes are finished now.
    for (unsigned i = from_; i < depth_; ++i) finish(path_[i].came.node);
    bool found = false;
    while (!found && at_ < std::min(stop_, count) && steps_ < most_steps) {
        const bool is_first = at_ == stop_ - most_starts;
        const task_id start = rt.slots.id_of(at_++);
        found = rt.slots.is_open(start) && search_from(facts, start) && is_still_there(facts);
        // The step limit cut this search short. The next scan starts with the same task, and gives
        // it up if its steps are not enough either.
        if (!found && depth_ != 0 && steps_ >= most_steps && !is_first) --at_;
    }
    in_part = at_ < count;
    return found;
}

namespace {

/// Returns how many steps it costs to read the next fact. The reader may have to skip the facts
/// before it in a list, or to scan all buckets of the parking lot.
std::uint64_t cost_of(const need_cursor& c) {
    if (c.part < 2) return 1;
    return c.part == 3 ? 64U : 1U + c.at;
}

}  // namespace

bool cycle_search::search_from(const needs& facts, task_id start) {
    while (depth_ != 0) leave();
    enter({.node = {.task = start}});
    dependent found;
    while (depth_ != 0 && steps_ < most_steps) {
        step& last = path_[depth_ - 1];
        const bool is_one = facts.next(last.came.node, last.cursor, found);
        steps_ += cost_of(last.cursor);
        if (!is_one) {
            finish(last.came.node);
            leave();
            continue;
        }
        from_ = on_path(found.node);
        if (from_ != depth_) {
            path_[from_].came = found;
            return true;
        }
        const bool is_finished = finished_[place_of(found.node)] == key_of(found.node);
        if (!is_finished && depth_ != longest) enter(found);
    }
    return false;
}

void cycle_search::enter(const dependent& d) {
    unsigned place = place_of(d.node);
    while (index_[place] != 0) place = (place + 1) % places;
    path_[depth_] = {.came = d, .cursor = {}, .place = static_cast<std::uint16_t>(place)};
    index_[place] = static_cast<std::uint16_t>(++depth_);
}

/// Returns the index of the node on the path, or `depth_` if the node is not on it.
unsigned cycle_search::on_path(const need_node& n) const {
    for (unsigned place = place_of(n); index_[place] != 0; place = (place + 1) % places) {
        const unsigned at = index_[place] - 1U;
        if (path_[at].came.node.is_same_as(n)) return at;
    }
    return depth_;
}

bool cycle_search::is_still_there(const needs& facts) {
    for (unsigned i = 0; i < count(); ++i) {
        const need_node& needed = member((i + 1) % count()).node;
        if (!facts.holds(needed, member(i), steps_)) return false;
    }
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
