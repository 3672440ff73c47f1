// The flat model format: what the importer's child process writes, the host checks and the game
// reads in place. Little-endian, offsets in bytes from the start of the block, no pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace arena {

inline constexpr std::uint32_t model_magic = 0x314c4d41;  // "AML1"
inline constexpr std::uint32_t max_bones = 96;
inline constexpr std::uint32_t max_palette = 128;
inline constexpr std::uint32_t max_clips = 16;
inline constexpr std::uint32_t lod_count = 4;
inline constexpr std::uint32_t max_coarse_vertices = 256;  // of the last level of detail
inline constexpr std::uint32_t no_gait = UINT32_MAX;
inline constexpr float pose_rate = 30.0f;  // poses per second in every clip

/// A vertex in the bind pose, metres, feet on the floor, facing +z. `bones` index the palette;
/// the weights add up to 255.
struct model_vertex {
    float position[3];
    float normal[3];
    std::uint8_t bones[4];
    std::uint8_t weights[4];
};

/// Joint pose relative to the parent: unit quaternion x, y, z, w and a translation in metres.
struct joint_pose {
    float rotation[4];
    float translation[3];
    float unused;
};

struct model_lod {
    std::uint32_t first_vertex, vertex_count;
    std::uint32_t first_index, index_count;  // indices are relative to first_vertex
};

/// What the animation state machine may use a clip for.
enum class clip_role : std::uint32_t { rest, walk, run, act };

struct model_clip {
    char name[32];
    clip_role role;
    std::uint32_t first_pose;  // joint_pose index of frame 0; frame f starts bone_count * f later
    std::uint32_t frame_count;
    float speed;  // metres per second at which the feet do not slide; 0 for clips on the spot
};

/// One matrix of the skinning palette: joint and the inverse of its bind matrix (row-major 3x4).
struct palette_entry {
    std::uint32_t joint;
    float inverse_bind[12];
};

struct model_header {
    std::uint32_t magic;
    std::uint32_t bytes;     // of the whole block
    std::uint64_t checksum;  // hash_bytes of all that follows this field
    char name[32];
    std::uint32_t joint_count, palette_count, clip_count;
    std::uint32_t vertex_count, index_count, pose_count;
    std::uint32_t parents_at;  // int32_t per joint, parent before child, -1 for a root
    std::uint32_t palette_at, clips_at, vertices_at, indices_at, colours_at, poses_at;
    model_lod lods[lod_count];
    float height, radius;  // of the bind pose, metres
};

/// Typed look at a checked block, which must outlive it.
class model_view {
public:
    model_view() = default;
    explicit model_view(const std::byte* block) : block_(block) {}

    const model_header& header() const { return *reinterpret_cast<const model_header*>(block_); }
    std::string_view name() const { return header().name; }
    std::span<const std::int32_t> parents() const {
        return at<std::int32_t>(header().parents_at, header().joint_count);
    }
    std::span<const palette_entry> palette() const {
        return at<palette_entry>(header().palette_at, header().palette_count);
    }
    std::span<const model_clip> clips() const {
        return at<model_clip>(header().clips_at, header().clip_count);
    }
    std::span<const model_vertex> vertices() const {
        return at<model_vertex>(header().vertices_at, header().vertex_count);
    }
    std::span<const std::uint32_t> indices() const {
        return at<std::uint32_t>(header().indices_at, header().index_count);
    }
    /// One per triangle, bytes R, G, B and how much of a character's own tint it takes.
    std::span<const std::uint32_t> colours() const {
        return at<std::uint32_t>(header().colours_at, header().index_count / 3);
    }
    std::span<const joint_pose> poses() const {
        return at<joint_pose>(header().poses_at, header().pose_count);
    }

private:
    template <class Item>
    std::span<const Item> at(std::uint32_t offset, std::uint32_t count) const {
        return {reinterpret_cast<const Item*>(block_ + offset), count};
    }
    const std::byte* block_ = nullptr;
};

}  // namespace arena
