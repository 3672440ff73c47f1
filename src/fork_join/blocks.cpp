#include "braid/fork_join/parallel_for.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

struct edge_of_block {
    std::size_t extent;
    std::size_t& block;
    bool chosen;  // by the caller
    std::size_t count() const { return (extent + block - 1) / block; }
};

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
    while (edges[0].count() * edges[1].count() * edges[2].count() < wanted) {
        edge_of_block* longest = nullptr;
        for (edge_of_block& edge : edges) {
            if (edge.chosen || edge.block == 1) continue;
            if (longest == nullptr || edge.block > longest->block) longest = &edge;
        }
        if (longest == nullptr) break;
        longest->block = (longest->block + 1) / 2;
    }
    return e;
}

}  // namespace detail
BRAID_NAMESPACE_END
