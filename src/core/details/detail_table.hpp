#pragma once
// Stores the data that only few tasks have, and finds it from the slot of a task.

#include "core/details/detail_block.hpp"
#include "core/slots/index_pool.hpp"
#include "core/slots/slot.hpp"

#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The table's part of a seat: caches of free objects, for the seat's thread only.
struct details_part {
    pool_cache blocks, resource_lists;
};

/// Stores the detail_blocks of tasks, and their lists of resources. `own` is the part of the seat
/// of the calling thread.
class detail_table {
public:
    explicit detail_table(accounted_memory& memory);

    /// Returns null if the task has no detail_block.
    detail_block* find(const slot& s) const {
        const std::uint32_t d = s.detail.load(acquire);  // pairs with make()
        return d == no_index ? nullptr : &blocks_[d];
    }
    /// Returns the detail_block of a task that has one.
    detail_block& at(const slot& s) const { return blocks_[s.detail.load(acquire)]; }
    /// Returns the task's detail_block. Makes one if there is none yet. Returns null if there is no
    /// memory.
    detail_block* make(details_part& own, slot& s);
    /// Frees the task's detail_block, if it has one, and its list of resources. The slot keeps
    /// the index until it is cleaned. A thread with a stale id may still read the block, and must
    /// not rely on what it reads.
    void free(details_part& own, const slot& s) { free(own, s.detail.load(relaxed)); }
    /// Frees the detail_block whose index was removed from its slot, and its list of resources.
    /// Does nothing if `block` is no_index.
    void free(details_part& own, std::uint32_t block);

    /// Returns true if only certain threads may run the task. Any thread may call it, even if the
    /// task in the slot may have changed.
    bool is_direct(const slot& s) const {
        const detail_block* d = s.has(flag_detailed) ? find(s) : nullptr;
        return d != nullptr && d->direct.load(relaxed);
    }
    /// Returns true if the task has been suspended before. Its body is then called again even if
    /// the task is cancelled.
    bool was_suspended(const slot& s) const {
        return s.has(flag_detailed) && find(s)->was_suspended.load(relaxed);
    }
    /// Returns true if the task has been suspended before. Unlike was_suspended(), it may be called
    /// for a task that may be complete by now.
    bool may_be_suspended(const slot& s) const {
        const detail_block* const d = s.has(flag_detailed) ? find(s) : nullptr;
        return d != nullptr && d->was_suspended.load(relaxed);
    }

    bool uses_resources(const slot& s) const {
        return s.has(flag_detailed) && find(s)->resource_count != 0;
    }
    std::span<resource* const> resources_of(const detail_block& d) const {
        if (d.resource_count == 0) return {};
        return {resource_lists_[d.resources].of, d.resource_count};
    }
    /// Makes the list of a task that uses resources. Returns null if there is no memory.
    resource_list* make_resource_list(details_part& own, detail_block& d);

private:
    index_pool<detail_block> blocks_;
    index_pool<resource_list> resource_lists_;
};

}  // namespace detail
BRAID_NAMESPACE_END
