#include "../../game/aligned_array.hpp"
#include "../../game/hash_bytes.hpp"
#include "model_source.hpp"

#include <glm/gtc/matrix_inverse.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

namespace arena::import {
namespace {

class block_writer {
public:
    template <class Item>
    std::uint32_t append(const Item* items, std::size_t count, std::size_t alignment = 16) {
        bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
        const std::size_t at = bytes_.size();
        bytes_.resize(at + count * sizeof(Item));
        if (count != 0) std::memcpy(bytes_.data() + at, items, count * sizeof(Item));
        return static_cast<std::uint32_t>(at);
    }
    std::vector<std::byte>& bytes() { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

template <std::size_t Size>
void copy_text(char (&to)[Size], const std::string& from) {
    std::memset(to, 0, Size);
    std::memcpy(to, from.data(), std::min(from.size(), Size - 1));
}

std::vector<joint_pose> local_poses(const model_source& model, const global_pose& globals) {
    std::vector<joint_pose> poses;
    for (std::size_t i = 0; i < globals.size(); ++i) {
        const std::int32_t parent = model.joints[i].parent;
        const glm::mat4 local =
            parent < 0 ? globals[i]
                       : glm::affineInverse(globals[static_cast<std::size_t>(parent)]) * globals[i];
        const glm::quat q = glm::normalize(glm::quat_cast(glm::mat3(local)));
        poses.push_back({{q.x, q.y, q.z, q.w}, {local[3].x, local[3].y, local[3].z}, 0});
    }
    return poses;
}

// Neighbouring frames on one half of the quaternion sphere, so that blending may be linear.
void align_signs(joint_pose* frame, const joint_pose* previous, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float dot = 0;
        for (int k = 0; k < 4; ++k) dot += frame[i].rotation[k] * previous[i].rotation[k];
        if (dot < 0)
            for (float& value : frame[i].rotation) value = -value;
    }
}

void write_clips(const model_source& model, model_header& header, block_writer& writer) {
    std::vector<model_clip> clips;
    std::vector<joint_pose> poses;
    const std::size_t joints = model.joints.size();
    for (const clip& source : model.clips) {
        model_clip out{};
        copy_text(out.name, source.name);
        out.role = source.role;
        out.speed = source.speed;
        out.first_pose = static_cast<std::uint32_t>(poses.size());
        out.frame_count = static_cast<std::uint32_t>(source.frames.size());
        for (const global_pose& frame : source.frames) {
            const auto locals = local_poses(model, frame);
            poses.insert(poses.end(), locals.begin(), locals.end());
            if (poses.size() > joints)
                align_signs(&poses[poses.size() - joints], &poses[poses.size() - 2 * joints],
                            joints);
        }
        clips.push_back(out);
    }
    header.clip_count = static_cast<std::uint32_t>(clips.size());
    header.pose_count = static_cast<std::uint32_t>(poses.size());
    header.clips_at = writer.append(clips.data(), clips.size());
    header.poses_at = writer.append(poses.data(), poses.size());
}

void write_skeleton(const model_source& model, model_header& header, block_writer& writer) {
    std::vector<std::int32_t> parents;
    for (const joint& joint : model.joints) parents.push_back(joint.parent);
    std::vector<palette_entry> palette;
    for (const skin_matrix& skin : model.palette) {
        palette_entry entry{skin.joint, {}};
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 4; ++column)
                entry.inverse_bind[row * 4 + column] = skin.inverse_bind[column][row];
        palette.push_back(entry);
    }
    header.joint_count = static_cast<std::uint32_t>(parents.size());
    header.palette_count = static_cast<std::uint32_t>(palette.size());
    header.parents_at = writer.append(parents.data(), parents.size());
    header.palette_at = writer.append(palette.data(), palette.size());
}

void write_meshes(const model_source& model, model_header& header, block_writer& writer) {
    std::vector<model_vertex> vertices;
    std::vector<std::uint32_t> indices, colours;
    for (std::size_t i = 0; i < lod_count; ++i) {
        const mesh& lod = model.lods[i];
        header.lods[i] = {static_cast<std::uint32_t>(vertices.size()),
                          static_cast<std::uint32_t>(lod.vertices.size()),
                          static_cast<std::uint32_t>(indices.size()),
                          static_cast<std::uint32_t>(lod.indices.size())};
        vertices.insert(vertices.end(), lod.vertices.begin(), lod.vertices.end());
        indices.insert(indices.end(), lod.indices.begin(), lod.indices.end());
        colours.insert(colours.end(), lod.colours.begin(), lod.colours.end());
    }
    for (const model_vertex& vertex : model.lods[0].vertices) {
        const float* p = vertex.position;
        header.height = std::max(header.height, p[1]);
        header.radius = std::max(header.radius, std::max(std::fabs(p[0]), std::fabs(p[2])));
    }
    header.vertex_count = static_cast<std::uint32_t>(vertices.size());
    header.index_count = static_cast<std::uint32_t>(indices.size());
    header.vertices_at = writer.append(vertices.data(), vertices.size(), array_alignment);
    header.indices_at = writer.append(indices.data(), indices.size());
    header.colours_at = writer.append(colours.data(), colours.size());
}

}  // namespace

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

glm::vec3 skinned(const model_source& model, const global_pose& pose, const model_vertex& vertex) {
    const glm::vec4 at{vertex.position[0], vertex.position[1], vertex.position[2], 1};
    glm::vec4 sum{0};
    for (int i = 0; i < 4; ++i) {
        if (vertex.weights[i] == 0) continue;
        const skin_matrix& skin = model.palette[vertex.bones[i]];
        sum += pose[skin.joint] * (skin.inverse_bind * at) * (float(vertex.weights[i]) / 255.0f);
    }
    return glm::vec3(sum);
}

std::vector<std::byte> write_model(const model_source& model) {
    if (model.joints.size() > max_bones) throw std::runtime_error("it has too many joints");
    if (model.palette.size() > max_palette) throw std::runtime_error("it has too many bones");
    if (model.clips.size() > max_clips) throw std::runtime_error("it has too many clips");
    block_writer writer;
    model_header header{};
    header.magic = model_magic;
    copy_text(header.name, model.name);
    writer.append(&header, 1);
    write_skeleton(model, header, writer);
    write_clips(model, header, writer);
    write_meshes(model, header, writer);

    std::vector<std::byte> bytes = std::move(writer.bytes());
    header.bytes = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    constexpr std::size_t covered = offsetof(model_header, checksum) + sizeof(std::uint64_t);
    header.checksum = hash_bytes(std::span(bytes).subspan(covered));
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

}  // namespace arena::import
