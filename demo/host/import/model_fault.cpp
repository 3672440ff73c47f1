#include "model_fault.hpp"

#include "../../game/hash_bytes.hpp"
#include "../../game/model.hpp"

#include <cmath>
#include <cstring>

namespace arena::import {
namespace {

template <class Item>
bool fits(std::uint32_t offset, std::uint32_t count, std::size_t bytes) {
    return offset % alignof(Item) == 0 && offset >= sizeof(model_header) && offset <= bytes &&
           count <= (bytes - offset) / sizeof(Item);
}

bool all_finite(const float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (!std::isfinite(values[i]) || std::fabs(values[i]) > 1e4f) return false;
    return true;
}

bool text_ends(const char (&text)[32]) { return std::memchr(text, 0, sizeof text) != nullptr; }

const char* find_layout_fault(const model_header& header, std::size_t bytes) {
    if (header.magic != model_magic) return "it is not a model block";
    if (header.bytes != bytes) return "its size is not the one it states";
    if (!text_ends(header.name)) return "its name does not end";
    if (header.joint_count == 0 || header.joint_count > max_bones || header.palette_count == 0 ||
        header.palette_count > max_palette || header.clip_count == 0 ||
        header.clip_count > max_clips)
        return "it has no or too many joints or clips";
    if (!fits<std::int32_t>(header.parents_at, header.joint_count, bytes) ||
        !fits<palette_entry>(header.palette_at, header.palette_count, bytes) ||
        !fits<model_clip>(header.clips_at, header.clip_count, bytes) ||
        !fits<model_vertex>(header.vertices_at, header.vertex_count, bytes) ||
        !fits<std::uint32_t>(header.indices_at, header.index_count, bytes) ||
        header.index_count % 3 != 0 ||
        !fits<std::uint32_t>(header.colours_at, header.index_count / 3, bytes) ||
        !fits<joint_pose>(header.poses_at, header.pose_count, bytes))
        return "a section lies outside of it";
    if (!all_finite(&header.height, 2) || header.height <= 0) return "its size is not a number";
    return nullptr;
}

const char* find_skeleton_fault(const model_view& model) {
    const model_header& header = model.header();
    std::int32_t joint = 0;
    for (std::int32_t parent : model.parents())
        if (parent < -1 || parent >= joint++) return "a joint comes before its parent";
    for (const palette_entry& entry : model.palette())
        if (entry.joint >= header.joint_count || !all_finite(entry.inverse_bind, 12))
            return "a palette entry is broken";
    for (const model_clip& clip : model.clips()) {
        const std::uint64_t end =
            clip.first_pose + std::uint64_t{clip.frame_count} * header.joint_count;
        if (clip.frame_count < 2 || end > header.pose_count || clip.role > clip_role::act ||
            !text_ends(clip.name) || !all_finite(&clip.speed, 1))
            return "a clip is broken";
    }
    for (const joint_pose& pose : model.poses())
        if (!all_finite(pose.rotation, 8)) return "a pose is not a number";
    return nullptr;
}

const char* find_mesh_fault(const model_view& model) {
    const model_header& header = model.header();
    for (const model_lod& lod : header.lods) {
        if (lod.vertex_count == 0 || lod.index_count == 0 || lod.index_count % 3 != 0 ||
            lod.first_index % 3 != 0 || lod.first_vertex > header.vertex_count ||
            lod.vertex_count > header.vertex_count - lod.first_vertex ||
            lod.first_index > header.index_count ||
            lod.index_count > header.index_count - lod.first_index)
            return "a level of detail lies outside of its mesh";
        for (std::uint32_t index : model.indices().subspan(lod.first_index, lod.index_count))
            if (index >= lod.vertex_count) return "a triangle has no such vertex";
    }
    if (header.lods[lod_count - 1].vertex_count > max_coarse_vertices)
        return "its coarsest level of detail is too fine";
    for (const model_vertex& vertex : model.vertices()) {
        if (!all_finite(vertex.position, 6)) return "a vertex is not a number";
        std::uint32_t sum = 0;
        for (int i = 0; i < 4; ++i) {
            sum += vertex.weights[i];
            if (vertex.bones[i] >= header.palette_count) return "a vertex hangs on no joint";
        }
        if (sum != 255) return "the weights of a vertex do not add up";
    }
    return nullptr;
}

}  // namespace

const char* find_model_fault(std::span<const std::byte> block) {
    if (block.size() < sizeof(model_header)) return "it is too short";
    const model_view model(block.data());
    if (const char* fault = find_layout_fault(model.header(), block.size())) return fault;
    constexpr std::size_t covered = offsetof(model_header, checksum) + sizeof(std::uint64_t);
    if (hash_bytes(block.subspan(covered)) != model.header().checksum)
        return "its checksum is wrong";
    if (const char* fault = find_skeleton_fault(model)) return fault;
    return find_mesh_fault(model);
}

}  // namespace arena::import
