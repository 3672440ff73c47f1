#pragma once

#include "hash_bytes.hpp"
#include "model.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace arena {

// The smallest model: one joint, one clip of two frames, one triangle in every level.
class small_model {
public:
    small_model() : words_((sizeof(content) + 7) / 8) {
        content& c = get();
        c.header.magic = model_magic;
        c.header.bytes = sizeof(content);
        std::strcpy(c.header.name, "small");
        c.header.joint_count = c.header.palette_count = c.header.clip_count = 1;
        c.header.vertex_count = c.header.index_count = 3;
        c.header.pose_count = 2;
        c.header.parents_at = offsetof(content, parent);
        c.header.palette_at = offsetof(content, palette);
        c.header.clips_at = offsetof(content, clip);
        c.header.vertices_at = offsetof(content, vertices);
        c.header.indices_at = offsetof(content, indices);
        c.header.colours_at = offsetof(content, colour);
        c.header.poses_at = offsetof(content, poses);
        c.header.height = 1;
        for (model_lod& lod : c.header.lods) lod = {0, 3, 0, 3};
        c.parent = -1;
        c.clip = {"still", clip_role::rest, 0, 2, 0};
        for (model_vertex& vertex : c.vertices) vertex.weights[0] = 255;
        for (std::uint32_t i = 0; i < 3; ++i) c.indices[i] = i;
        seal();
    }

    struct content {
        model_header header;
        std::int32_t parent;
        palette_entry palette;
        model_clip clip;
        model_vertex vertices[3];
        std::uint32_t indices[3];
        std::uint32_t colour;
        joint_pose poses[2];
    };

    content& get() { return *reinterpret_cast<content*>(words_.data()); }
    void seal() {
        constexpr std::size_t covered = offsetof(model_header, checksum) + sizeof(std::uint64_t);
        get().header.checksum = hash_bytes(bytes().subspan(covered));
    }
    std::span<const std::byte> bytes() {
        return {reinterpret_cast<const std::byte*>(words_.data()), sizeof(content)};
    }

private:
    std::vector<std::uint64_t> words_;
};

}  // namespace arena
