// Vertices of bodies, moved by the bones that hold them: by parts of a stage, or as data for a
// processor that is no core. Both come to the same bits, since there are sums and products only, in
// one order; skin.comp has the same.
#include "assets.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef ARENA_HAS_SHADERS
#include "skin_spirv.hpp"
#endif

namespace arena {
namespace {

using vec4 = float __attribute__((vector_size(16)));

vec4 load(const float* from) { return vec4{from[0], from[1], from[2], from[3]}; }

void skin_vertices(const model_vertex* source, const bone_matrix* palette, skinned_vertex* out,
                   std::uint32_t count) {
    for (std::uint32_t v = 0; v < count; ++v) {
        const model_vertex& vertex = source[v];
        vec4 columns[4] = {};
        for (int k = 0; k < 4 && vertex.weights[k] != 0; ++k) {
            const float weight = static_cast<float>(vertex.weights[k]) * (1.0f / 255.0f);
            const bone_matrix& bone = palette[vertex.bones[k]];
            for (int c = 0; c < 4; ++c) columns[c] += load(bone.columns[c]) * weight;
        }
        const vec4 p = columns[0] * vertex.position[0] + columns[1] * vertex.position[1] +
                       columns[2] * vertex.position[2] + columns[3];
        const vec4 n = columns[0] * vertex.normal[0] + columns[1] * vertex.normal[1] +
                       columns[2] * vertex.normal[2];
        out[v] = {{p[0], p[1], p[2]}, {n[0], n[1], n[2]}};
    }
}

const model_view& model_of(const game& game, const visible_body& body) {
    return game.models[game.shown().characters[body.owner].model];
}

const model_vertex* vertices_of(const game& game, const visible_body& body) {
    return game.levels[game.shown().characters[body.owner].model][body.lod].get();
}

// ---- as data -----------------------------------------------------------------------------------

// The kernel reads items, the palette, and the vertices of each model.
constexpr std::uint32_t first_model = 2;
static_assert(first_model + max_models <= kernel_work::most_reads);

template <class T>
const T* read(const kernel_work& there, std::uint32_t which) {
    return reinterpret_cast<const T*>(there.reads[which].data());
}

void skin_item_of(const kernel_work& there, std::uint32_t group) {
    const skin_item& item = read<skin_item>(there, 0)[group];
    skin_vertices(read<model_vertex>(there, first_model + item.model) + item.first_source,
                  read<bone_matrix>(there, 1) + item.first_matrix,
                  reinterpret_cast<skinned_vertex*>(there.writes.data()) + item.first_vertex,
                  item.count);
}

using take_piece = void (*)(void* to, const kernel_work&);

/// Where a processor finds the vertices of that model: in the model, or where some of its levels
/// are pages, which lie anywhere and not long, in `copy`.
std::span<const std::byte> vertices_in_one(const game& game, std::uint32_t m, std::byte* copy) {
    const model_view& model = game.models[m];
    bool all_own = true;
    for (std::uint32_t level = 0; level < lod_count; ++level)
        all_own = all_own && game.levels[m][level].get() == own_vertices(model, level);
    const std::span<const std::byte> own = std::as_bytes(model.vertices());
    if (all_own) return own;
    for (std::uint32_t level = 0; level < lod_count; ++level) {
        if (!game.levels_shown.has(m, level)) continue;
        const model_lod& lod = model.header().lods[level];
        std::memcpy(copy + lod.first_vertex * sizeof(model_vertex), game.levels[m][level].get(),
                    lod.vertex_count * sizeof(model_vertex));
    }
    return {copy, own.size()};
}

/// All bodies, a group each.
void whole_crowd(game& game, take_piece take, void* to) {
    const std::span<const visible_body> bodies = game.visible.first(game.visible_count);
    skin_item* const items = game.skin_items();
    std::uint32_t vertices = 0, matrices = 0;
    for (std::uint32_t i = 0; i < bodies.size(); ++i) {
        const visible_body& body = bodies[i];
        const model_header& model = model_of(game, body).header();
        const model_lod& lod = model.lods[body.lod];
        items[i] = {static_cast<std::uint32_t>(game.shown().characters[body.owner].model),
                    lod.first_vertex,
                    body.first_matrix,
                    body.first_vertex,
                    lod.vertex_count,
                    {}};
        vertices = std::max(vertices, body.first_vertex + lod.vertex_count);
        matrices = std::max(matrices, body.first_matrix + model.palette_count);
    }
    kernel_work all{.reads = {std::as_bytes(std::span(items, bodies.size())),
                              std::as_bytes(std::span(game.palette(), matrices))},
                    .writes = std::as_writable_bytes(game.vertices().first(vertices)),
                    .read_count = first_model + max_models,
                    .groups = static_cast<std::uint32_t>(bodies.size())};
    std::byte* copy = game.level_copies().data();
    for (std::uint32_t m = 0; m < game.model_count; ++m) {
        all.reads[first_model + m] = vertices_in_one(game, m, copy);
        copy += level_copy_bytes_of(game.models[m]);
    }
    for (std::uint32_t m = game.model_count; m < max_models; ++m)
        all.reads[first_model + m] = all.reads[first_model];
    if (vertices != 0) take(to, all);
}

/// Some vertices of one body each.
void small_pieces(game& game, std::size_t most_bytes, take_piece take, void* to) {
    constexpr std::size_t fixed = max_palette * sizeof(bone_matrix) + sizeof(skin_item) + 64;
    constexpr std::size_t per_vertex = sizeof(model_vertex) + sizeof(skinned_vertex);
    const std::size_t fits = most_bytes > fixed ? (most_bytes - fixed) / per_vertex : 0;
    const auto step = static_cast<std::uint32_t>(std::max(fits, least_skin_piece));
    skin_item* item = game.skin_items();
    for (const visible_body& body : game.visible.first(game.visible_count)) {
        const model_view& model = model_of(game, body);
        const model_lod& lod = model.header().lods[body.lod];
        const std::span source(vertices_of(game, body), lod.vertex_count);
        const auto out = game.vertices().subspan(body.first_vertex, lod.vertex_count);
        for (std::uint32_t v = 0; v < lod.vertex_count; v += step) {
            const std::uint32_t count = std::min(step, lod.vertex_count - v);
            *item = {.model = 0,
                     .first_source = 0,
                     .first_matrix = 0,
                     .first_vertex = 0,
                     .count = count,
                     .unused = {}};
            take(to, {.reads = {std::as_bytes(std::span(item++, 1)),
                                std::as_bytes(std::span(game.palette() + body.first_matrix,
                                                        model.header().palette_count)),
                                std::as_bytes(source.subspan(v, count))},
                      .writes = std::as_writable_bytes(out.subspan(v, count)),
                      .read_count = 3,
                      .groups = 1});
        }
    }
}

void skin_pieces(game& game, std::size_t most_bytes, take_piece take, void* to) {
    most_bytes == 0 ? whole_crowd(game, take, to) : small_pieces(game, most_bytes, take, to);
}

/// What this frame leaves for later stages, and the vertices that the models came with, which
/// nobody writes.
void skin_arrays(game& game, void (*take)(void* to, std::span<std::byte>), void* to) {
    take(to, game.scratch);
    for (std::uint32_t m = 0; m < game.model_count; ++m) {
        const std::span<const model_vertex> all = game.models[m].vertices();
        take(to,
             std::as_writable_bytes(std::span(const_cast<model_vertex*>(all.data()), all.size())));
    }
}

}  // namespace

void skin(game& game, std::uint32_t part) {
    const body_range range = game.skin_parts[part];
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        const visible_body& body = game.visible[i];
        const model_view& model = model_of(game, body);
        const model_lod& lod = model.header().lods[body.lod];
        skin_vertices(vertices_of(game, body), game.palette() + body.first_matrix,
                      game.vertices().data() + body.first_vertex, lod.vertex_count);
    }
}

constexpr kernel skin_kernel{.name = "skin",
                             .run = skin_item_of,
#ifdef ARENA_HAS_SHADERS
                             .shader = skin_spirv,
#else
                             .shader = {},
#endif
                             .pieces = skin_pieces,
                             .arrays = skin_arrays};

}  // namespace arena
