// What the importer gathers before it writes the flat block: joints, meshes and clips, still in
// comfortable containers. Only the importer's child process ever holds one.
#pragma once

#include "../../game/model.hpp"

#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>

#include <array>
#include <string>
#include <vector>

namespace arena::import {

struct joint {
    std::string name;
    std::int32_t parent;
};

/// One matrix per joint, from joint space to model space.
using global_pose = std::vector<glm::mat4>;

struct clip {
    std::string name;
    clip_role role;
    float speed = 0;
    std::vector<global_pose> frames;  // at pose_rate
};

struct mesh {
    std::vector<model_vertex> vertices;
    std::vector<std::uint32_t> indices;
    std::vector<std::uint32_t> colours;  // one per triangle
};

struct skin_matrix {
    std::uint32_t joint;
    glm::mat4 inverse_bind;
};

struct model_source {
    std::string name;
    std::vector<joint> joints;
    global_pose rest;
    std::vector<skin_matrix> palette;
    std::vector<clip> clips;
    std::array<mesh, lod_count> lods;
};

/// Lower-cased, so that names can be searched for "head" whatever the tool that wrote them.
std::string lower(std::string text);

/// `vertex` of `model` in `pose`.
glm::vec3 skinned(const model_source& model, const global_pose& pose, const model_vertex& vertex);

/// Writes the checked flat block of `model`, whose poses must be rigid (see make_rigid).
std::vector<std::byte> write_model(const model_source& model);

}  // namespace arena::import
