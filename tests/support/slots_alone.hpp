#pragma once
// Slots, details and edges of tasks without a scheduler, on memory that a test can refuse.

#include "core/edges/edge_table.hpp"
#include "refusing_memory.hpp"

#include <cstdint>
#include <cstdlib>

namespace braid_test {

class slots_alone {
protected:
    explicit slots_alone(const braid::scheduler_options& o = {})
        : memory_(refusing_.hooks(), 0, {[](void*, std::size_t, const char*) {}}),
          slots_(o, memory_),
          details_(memory_),
          edges_(memory_, slots_, details_) {}

    /// Opens a task in a free slot, as a scheduler does. Its builder has a share of `waits_for`.
    braid::task_id open() {
        const std::uint32_t index = slots_.take(own_slots_);
        braid::detail::slot& s = slots_.at(index);
        s.flags.store(0, braid::relaxed);
        s.waits_for.store(1, braid::relaxed);
        braid::detail::open_words(s.open, s.successors, s.generation() + 1, 1);
        return slots_.id_of(index);
    }
    /// Completes the task, and gives its slot back.
    void end(braid::task_id id, std::uint16_t failure = 0) {
        braid::detail::slot& s = slots_.at(id);
        if (failure != 0) s.mark(failure);
        (void)braid::detail::close_and_take(s.successors, s.generation());
        slots_.clean_and_give(own_slots_, braid::detail::index_of(id.value));
    }

    refusing_memory refusing_{
        {[](void*, std::size_t bytes, std::size_t alignment, braid::memory_tag) {
             return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
         },
         [](void*, void* bytes, std::size_t, std::size_t, braid::memory_tag) {
             std::free(bytes);
         }}};
    braid::detail::accounted_memory memory_;
    braid::detail::slot_table slots_;
    braid::detail::detail_table details_;
    braid::detail::edge_table edges_;
    braid::detail::pool_cache own_slots_, own_edges_;
    braid::detail::details_part own_details_;
};

}  // namespace braid_test
