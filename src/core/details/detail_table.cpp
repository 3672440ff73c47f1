#include "core/details/detail_table.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

detail_table::detail_table(accounted_memory& memory)
    : blocks_(memory, memory_tag::detail), resource_lists_(memory, memory_tag::detail) {}

detail_block* detail_table::make(details_part& own, slot& s) {
    if (detail_block* d = find(s)) return d;
    const std::uint32_t index = blocks_.take(own.blocks);
    if (index == no_index) return nullptr;
    detail_block& d = blocks_[index];
    d.holders.store(0, relaxed);
    d.seat.store(UINT16_MAX, relaxed);
    d.visit = 0;
    d.direct.store(false, relaxed);
    d.has_value.store(false, relaxed);
    d.resource_count = d.resources_held = 0;
    d.resources = no_index;
    d.workers = 0;
    d.result = nullptr;
    d.stable_id = 0;
    d.creations = 0;
    d.was_suspended.store(false, relaxed);
    d.listed = false;
    d.shielded.store(false, relaxed);
    s.detail.store(index, release);  // pairs with find()
    return &d;
}

void detail_table::free(details_part& own, std::uint32_t block) {
    if (block == no_index) return;
    const std::uint32_t list = blocks_[block].resources;
    if (list != no_index) resource_lists_.give(own.resource_lists, list);
    blocks_.give(own.blocks, block);
}

resource_list* detail_table::make_resource_list(details_part& own, detail_block& d) {
    d.resources = resource_lists_.take(own.resource_lists);
    return d.resources != no_index ? &resource_lists_[d.resources] : nullptr;
}

}  // namespace detail
BRAID_NAMESPACE_END
