// Light binning as data, for a processor that is no core. The planes of the tiles are made on the
// cores, and the rest is sums and products; light_bins.comp has the same.
#include "game.hpp"
#include "render/light_bins.hpp"
#include "render/renderer.hpp"

#include <algorithm>

#ifdef ARENA_HAS_SHADERS
#include "light_bins_spirv.hpp"
#endif

namespace arena {
namespace {

constexpr std::uint32_t tiles_of_group = 64;

template <class T>
std::span<const T> read(const kernel_work& there, std::uint32_t which) {
    const std::span<const std::byte> bytes = there.reads[which];
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

void list_some(const kernel_work& there, std::uint32_t group) {
    const std::span<const tile_sides> sides = read<tile_sides>(there, 1);
    auto* const lists = reinterpret_cast<light_list*>(there.writes.data());
    const std::size_t first = std::size_t{group} * tiles_of_group;
    const std::size_t end = std::min(first + tiles_of_group, sides.size());
    for (std::size_t tile = first; tile < end; ++tile) {
        list_lights(sides[tile], read<seen_light>(there, 0), lists[tile]);
    }
}

void light_pieces(game& game, std::size_t most_bytes, void (*take)(void* to, const kernel_work&),
                  void* to) {
    const light_work all = game.setup.picture->lights_as_data();
    constexpr std::size_t per_tile = sizeof(tile_sides) + sizeof(light_list);
    const std::size_t fixed = all.lights.size_bytes() + 64;
    // One tile, if not even that fits: who takes it says what is too much.
    const std::size_t fits = most_bytes > fixed ? (most_bytes - fixed) / per_tile : 0;
    const std::size_t step = most_bytes == 0 ? all.sides.size() : std::max<std::size_t>(fits, 1);
    for (std::size_t tile = 0; tile < all.sides.size(); tile += step) {
        const std::size_t count = std::min(step, all.sides.size() - tile);
        take(to,
             {.reads = {std::as_bytes(all.lights), std::as_bytes(all.sides.subspan(tile, count))},
              .writes = std::as_writable_bytes(all.lists.subspan(tile, count)),
              .read_count = 2,
              .groups = block_count(static_cast<std::uint32_t>(count), tiles_of_group)});
    }
}

void light_arrays(game& game, void (*take)(void* to, std::span<std::byte>), void* to) {
    for (const std::span<std::byte> one : game.setup.picture->light_arrays()) take(to, one);
}

}  // namespace

constexpr kernel light_kernel{.name = "light binning",
                              .run = list_some,
#ifdef ARENA_HAS_SHADERS
                              .shader = light_bins_spirv,
#else
                              .shader = {},
#endif
                              .pieces = light_pieces,
                              .arrays = light_arrays};

}  // namespace arena
