#include "braid/fork_join/parallel_for.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

struct edge_of_block {
    std::size_t extent;
    std::size_t& block;
    bool chosen;  // by the caller
    std::size_t count() const { return even_pieces(extent, block).count(); }
};

/// SIZE_MAX: that many or more.
std::size_t blocks_of(const edge_of_block (&edges)[3]) {
    std::size_t all = 1;
    for (const edge_of_block& edge : edges) {
        // No extent is 0 here, so that there is one.
        const std::size_t n = std::max<std::size_t>(edge.count(), 1);
        all = all > SIZE_MAX / n ? SIZE_MAX : all * n;
    }
    return all;
}

}  // namespace

block_extent with_blocks(block_extent e) {
    constexpr std::size_t wanted = 256;
    edge_of_block edges[] = {{e.x, e.block_x, e.block_x != 0},
                             {e.y, e.block_y, e.block_y != 0},
                             {e.z, e.block_z, e.block_z != 0}};
    for (edge_of_block& edge : edges) {
        edge.block = edge.chosen ? std::min(edge.block, edge.extent) : edge.extent;
    }
    // The longest edge that is free is halved until there are enough.
    while (blocks_of(edges) < wanted) {
        edge_of_block* longest = nullptr;
        for (edge_of_block& edge : edges) {
            if (edge.chosen || edge.block == 1) continue;
            if (longest == nullptr || edge.block > longest->block) longest = &edge;
        }
        if (longest == nullptr) break;
        longest->block = longest->block / 2 + longest->block % 2;
    }
    // More than can be numbered: the smallest edge that can grow is doubled until there are fewer.
    while (blocks_of(edges) == SIZE_MAX) {
        edge_of_block* smallest = nullptr;
        for (edge_of_block& edge : edges) {
            if (edge.block == edge.extent) continue;
            if (smallest == nullptr || edge.block < smallest->block) smallest = &edge;
        }
        if (smallest == nullptr) break;
        const std::size_t most = smallest->extent;
        smallest->block = smallest->block > most / 2 ? most : 2 * smallest->block;
    }
    return e;
}

}  // namespace detail
BRAID_NAMESPACE_END
