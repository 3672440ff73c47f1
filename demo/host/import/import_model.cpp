#include "import_model.hpp"

#include "mesh_tools.hpp"
#include "motion.hpp"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/Importer.hpp>
#include <glm/gtc/matrix_inverse.hpp>
#include <glm/gtc/matrix_transform.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace arena::import {
namespace {

constexpr float character_height = 1.8f;

glm::mat4 to_glm(const aiMatrix4x4& m) {
    return {{m.a1, m.b1, m.c1, m.d1},
            {m.a2, m.b2, m.c2, m.d2},
            {m.a3, m.b3, m.c3, m.d3},
            {m.a4, m.b4, m.c4, m.d4}};
}

// The last key at or before `time` and how far the next one is reached.
template <class Key>
std::pair<unsigned, float> find_key(const Key* keys, unsigned count, double t) {
    const Key* next =
        std::upper_bound(keys, keys + count, t, [](double a, const Key& k) { return a < k.mTime; });
    if (next == keys) return {0, 0.0f};
    const auto at = static_cast<unsigned>(next - keys - 1);
    if (at + 1 >= count) return {count - 1, 0.0f};
    const double span = keys[at + 1].mTime - keys[at].mTime;
    return {at, span > 0 ? static_cast<float>((t - keys[at].mTime) / span) : 0.0f};
}

aiVector3D sample(const aiVectorKey* keys, unsigned count, double t) {
    const auto [at, part] = find_key(keys, count, t);
    const unsigned next = std::min(at + 1, count - 1);
    return keys[at].mValue + (keys[next].mValue - keys[at].mValue) * part;
}

glm::mat4 sample(const aiNodeAnim& channel, double t) {
    if (!channel.mNumPositionKeys || !channel.mNumRotationKeys)
        throw std::runtime_error("a joint moves without keys");
    const auto [at, part] = find_key(channel.mRotationKeys, channel.mNumRotationKeys, t);
    const unsigned next = std::min(at + 1, channel.mNumRotationKeys - 1);
    aiQuaternion q;
    aiQuaternion::Interpolate(q, channel.mRotationKeys[at].mValue,
                              channel.mRotationKeys[next].mValue, part);
    q.Normalize();
    const aiVector3D scale = channel.mNumScalingKeys
                                 ? sample(channel.mScalingKeys, channel.mNumScalingKeys, t)
                                 : aiVector3D(1, 1, 1);
    return to_glm(
        aiMatrix4x4(scale, q, sample(channel.mPositionKeys, channel.mNumPositionKeys, t)));
}

/// One file on its way from Assimp's scene to a model_source.
class reader {
public:
    explicit reader(const aiScene& scene) : scene_(scene) {
        if (!scene.mRootNode) throw std::runtime_error("it holds no skeleton");
        collect(*scene.mRootNode, -1);
        if (nodes_.size() > max_bones) throw std::runtime_error("it has too many joints");
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            by_name_.emplace(nodes_[i]->mName.C_Str(), i);
        model.rest = globals(nullptr, 0);
    }

    std::vector<global_pose> frames(const aiAnimation& animation) const {
        const double rate =
            animation.mTicksPerSecond > 0 ? animation.mTicksPerSecond : double{pose_rate};
        const double seconds = animation.mDuration / rate;
        if (!(seconds >= 0 && seconds < 300)) throw std::runtime_error("a clip is too long");
        const auto count = std::max<std::size_t>(2, static_cast<std::size_t>(seconds * pose_rate));
        std::vector<global_pose> out;
        for (std::size_t i = 0; i < count; ++i)
            out.push_back(globals(&animation, static_cast<double>(i) / pose_rate * rate));
        return out;
    }

    // All meshes that hang on bones, in one.
    mesh skin() {
        mesh out;
        for (unsigned i = 0; i < scene_.mNumMeshes; ++i)
            if (scene_.mMeshes[i]->HasBones()) add(*scene_.mMeshes[i], out);
        if (out.indices.empty()) throw std::runtime_error("it holds no skinned mesh");
        return out;
    }

    model_source model;

private:
    void collect(const aiNode& node, std::int32_t parent) {
        if (nodes_.size() > 4 * max_bones) throw std::runtime_error("it has too many joints");
        const auto own = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back(&node);
        model.joints.push_back({node.mName.C_Str(), parent});
        for (unsigned i = 0; i < node.mNumChildren; ++i) collect(*node.mChildren[i], own);
    }

    global_pose globals(const aiAnimation* animation, double ticks) const {
        global_pose pose;
        for (const aiNode* node : nodes_) pose.push_back(to_glm(node->mTransformation));
        for (unsigned i = 0; animation && i < animation->mNumChannels; ++i) {
            const aiNodeAnim& channel = *animation->mChannels[i];
            if (const auto found = by_name_.find(channel.mNodeName.C_Str());
                found != by_name_.end())
                pose[found->second] = sample(channel, ticks);
        }
        for (std::size_t i = 0; i < pose.size(); ++i)
            if (const std::int32_t parent = model.joints[i].parent; parent >= 0)
                pose[i] = pose[static_cast<std::size_t>(parent)] * pose[i];
        return pose;
    }

    std::uint8_t palette_index(const aiBone& bone) {
        const auto found = by_name_.find(bone.mName.C_Str());
        if (found == by_name_.end()) throw std::runtime_error("a bone belongs to no joint");
        const glm::mat4 offset = to_glm(bone.mOffsetMatrix);
        const auto joint = static_cast<std::uint32_t>(found->second);
        for (std::size_t i = 0; i < model.palette.size(); ++i) {
            if (model.palette[i].joint != joint) continue;
            float apart = 0;
            for (int k = 0; k < 4; ++k)
                apart += glm::length(offset[k] - model.palette[i].inverse_bind[k]);
            if (apart < 1e-3f) return static_cast<std::uint8_t>(i);
        }
        if (model.palette.size() >= max_palette) throw std::runtime_error("it has too many bones");
        model.palette.push_back({joint, offset});
        return static_cast<std::uint8_t>(model.palette.size() - 1);
    }

    void add(const aiMesh& source, mesh& out) {
        if (!source.HasNormals()) throw std::runtime_error("a mesh has no normals");
        if (source.mNumVertices > 200'000) throw std::runtime_error("a mesh is too large");
        const std::size_t first = out.vertices.size();
        for (unsigned i = 0; i < source.mNumVertices; ++i) {
            const aiVector3D p = source.mVertices[i], n = source.mNormals[i];
            out.vertices.push_back({{p.x, p.y, p.z}, {n.x, n.y, n.z}, {}, {}});
        }
        std::vector<std::vector<std::pair<float, std::uint8_t>>> weights(source.mNumVertices);
        for (unsigned b = 0; b < source.mNumBones; ++b) {
            const aiBone& bone = *source.mBones[b];
            if (bone.mNumWeights == 0) continue;
            const std::uint8_t palette = palette_index(bone);
            for (unsigned w = 0; w < bone.mNumWeights; ++w)
                if (bone.mWeights[w].mVertexId < source.mNumVertices)
                    weights[bone.mWeights[w].mVertexId].emplace_back(bone.mWeights[w].mWeight,
                                                                     palette);
        }
        for (std::size_t i = 0; i < weights.size(); ++i)
            set_weights(out.vertices[first + i], weights[i]);
        for (unsigned f = 0; f < source.mNumFaces; ++f) {
            if (source.mFaces[f].mNumIndices != 3) continue;
            for (unsigned k = 0; k < 3; ++k)
                out.indices.push_back(
                    static_cast<std::uint32_t>(first + source.mFaces[f].mIndices[k]));
        }
    }

    static void set_weights(model_vertex& vertex,
                            std::vector<std::pair<float, std::uint8_t>>& weights) {
        std::sort(weights.rbegin(), weights.rend());
        weights.resize(std::min<std::size_t>(weights.size(), 4));
        float sum = 0;
        for (const auto& [weight, bone] : weights) sum += weight;
        int left = 255;
        for (std::size_t i = weights.size(); i-- > 0 && sum > 0;) {
            const int share =
                i == 0 ? left
                       : std::min(left, static_cast<int>(weights[i].first / sum * 255.0f + 0.5f));
            vertex.bones[i] = weights[i].second;
            vertex.weights[i] = static_cast<std::uint8_t>(share);
            left -= share;
        }
        if (sum <= 0) vertex.weights[0] = 255;
    }

    const aiScene& scene_;
    std::vector<const aiNode*> nodes_;
    std::map<std::string, std::size_t> by_name_;
};

std::size_t joint_named(const model_source& model, const std::string& part) {
    for (std::size_t i = 0; i < model.joints.size(); ++i)
        if (lower(model.joints[i].name).find(part) != std::string::npos) return i;
    return 0;
}

struct extent {
    glm::vec3 low{std::numeric_limits<float>::max()}, high{std::numeric_limits<float>::lowest()};
    void add(glm::vec3 p) {
        low = glm::min(low, p);
        high = glm::max(high, p);
    }
};

extent measure(const model_source& model, const global_pose& pose, const mesh& body) {
    extent box;
    for (const model_vertex& vertex : body.vertices) box.add(skinned(model, pose, vertex));
    if (body.vertices.empty())
        for (const glm::mat4& joint : pose) box.add(glm::vec3(joint[3]));
    return box;
}

// Turned to face +z, scaled to the arena, feet on the floor: poses, bind matrices and `body`.
void normalise(model_source& model, mesh& body, float yaw) {
    const extent box = measure(model, model.rest, body);
    const glm::vec3 size = box.high - box.low;
    const float span = std::max(size.y, 0.55f * std::max(size.x, size.z));
    if (!(span > 1e-6f && span < 1e6f)) throw std::runtime_error("it has no size");
    const glm::vec3 feet{(box.low.x + box.high.x) / 2, box.low.y, (box.low.z + box.high.z) / 2};
    const glm::mat4 to_arena = glm::rotate(glm::mat4(1), yaw, glm::vec3{0, 1, 0}) *
                               glm::scale(glm::mat4(1), glm::vec3(character_height / span)) *
                               glm::translate(glm::mat4(1), -feet);
    const glm::mat3 turn = glm::mat3(glm::rotate(glm::mat4(1), yaw, glm::vec3{0, 1, 0}));
    const global_pose old_rest = model.rest;
    const auto convert = [&](global_pose& pose) {
        for (glm::mat4& matrix : pose) matrix = to_arena * matrix;
        make_rigid(pose);
    };
    for (clip& clip : model.clips)
        for (global_pose& frame : clip.frames) convert(frame);
    convert(model.rest);
    for (skin_matrix& skin : model.palette)
        skin.inverse_bind = glm::affineInverse(model.rest[skin.joint]) * to_arena *
                            old_rest[skin.joint] * skin.inverse_bind * glm::affineInverse(to_arena);
    for (model_vertex& vertex : body.vertices) {
        const glm::vec4 at{vertex.position[0], vertex.position[1], vertex.position[2], 1};
        const glm::vec4 p = to_arena * at;
        const glm::vec3 n = turn * glm::vec3{vertex.normal[0], vertex.normal[1], vertex.normal[2]};
        for (int i = 0; i < 3; ++i) {
            vertex.position[i] = p[i];
            vertex.normal[i] = n[i];
        }
    }
}

// The lowest vertex of every clip touches the floor. Vertices that stay near it for a frame are
// feet on the ground: how far they slide backwards tells how fast the clip walks.
void settle(model_source& model) {
    const std::vector<model_vertex>& body = model.lods[lod_count - 1].vertices;
    for (clip& clip : model.clips) {
        std::vector<std::vector<glm::vec3>> places(clip.frames.size());
        float low = std::numeric_limits<float>::max();
        for (std::size_t f = 0; f < places.size(); ++f) {
            for (const model_vertex& vertex : body)
                places[f].push_back(skinned(model, clip.frames[f], vertex));
            for (glm::vec3 at : places[f]) low = std::min(low, at.y);
        }
        float way = 0, steps = 0;
        for (std::size_t f = 1; f < places.size(); ++f) {
            for (std::size_t v = 0; v < body.size(); ++v) {
                const glm::vec3 from = places[f - 1][v], to = places[f][v];
                if (std::max(from.y, to.y) > low + 0.06f) continue;
                way += from.z - to.z;
                steps += 1;
            }
        }
        for (global_pose& frame : clip.frames)
            for (glm::mat4& matrix : frame) matrix[3].y -= low;
        const bool moves = clip.role == clip_role::walk || clip.role == clip_role::run;
        if (moves && clip.speed == 0)
            clip.speed = std::max(0.5f, way / std::max(steps, 1.0f) * pose_rate);
    }
}

void import_mesh(reader& file, const aiScene& scene, bool beast) {
    model_source& model = file.model;
    mesh body = file.skin();
    for (unsigned i = 0; i < scene.mNumAnimations; ++i) {
        const aiAnimation& animation = *scene.mAnimations[i];
        const std::string name = animation.mName.C_Str();
        const std::string plain = lower(name);
        const auto role = plain.find("run") != plain.npos    ? clip_role::run
                          : plain.find("walk") != plain.npos ? clip_role::walk
                          : plain.find("bind") != plain.npos ? clip_role::rest
                                                             : clip_role::act;
        model.clips.push_back({name, role, 0, file.frames(animation)});
    }
    normalise(model, body, 0);
    if (!beast)
        for (clip_role role : {clip_role::rest, clip_role::walk, clip_role::run})
            model.clips.push_back(generate(model, role));
    beast ? paint_beast(model, body) : paint_human(model, body);
    constexpr std::size_t targets[lod_count] = {std::size_t(-1), 900, 300, 110};
    for (std::size_t i = 0; i < lod_count; ++i) model.lods[i] = simplify(body, targets[i]);
}

void import_capture(reader& file, const aiScene& scene, bool boxer) {
    model_source& model = file.model;
    if (scene.mNumAnimations == 0) throw std::runtime_error("it holds no motion");
    const std::string name = scene.mAnimations[0]->mName.C_Str();
    model.clips.push_back({name, clip_role::act, 0, file.frames(*scene.mAnimations[0])});
    mesh none;
    normalise(model, none, 0);
    for (std::size_t i = 0; i < model.joints.size(); ++i)
        model.palette.push_back({static_cast<std::uint32_t>(i), glm::affineInverse(model.rest[i])});
    constexpr int sides[lod_count] = {12, 7, 5, 3};
    for (std::size_t i = 0; i < lod_count; ++i)
        model.lods[i] = capsule_body(model, sides[i], boxer);

    const std::vector<global_pose> recording = std::move(model.clips[0].frames);
    if (recording.size() < 60) throw std::runtime_error("its motion is too short");
    const std::size_t root = joint_named(model, "hips");
    std::vector<global_pose> held = recording;
    hold_on_spot(held, root);
    model.clips.clear();
    const auto cut = [&](const char* what, clip_role role, seek how, std::size_t length) {
        const std::size_t first = find_window(recording, length, how, root);
        model.clips.push_back({name + what, role, 0, cut_loop(held, first, length)});
    };
    cut(" (calm)", clip_role::rest, seek::calm, 75);
    cut(" (fast)", clip_role::act, seek::fast, 60);
    cut(" (lively)", clip_role::act, seek::lively, 180);
    model.clips.push_back(generate(model, clip_role::walk));
    model.clips.push_back(generate(model, clip_role::run));
}

}  // namespace

std::vector<std::byte> import_model(const std::filesystem::path& file) {
    Assimp::Importer importer;
    const aiScene* scene = importer.ReadFile(
        file.string(), aiProcess_Triangulate | aiProcess_JoinIdenticalVertices |
                           aiProcess_LimitBoneWeights | aiProcess_GenSmoothNormals);
    if (!scene) throw std::runtime_error(importer.GetErrorString());
    reader source(*scene);
    source.model.name = file.stem().string();
    const std::string stem = lower(source.model.name);
    if (lower(file.extension().string()) == ".bvh")
        import_capture(source, *scene, stem.find("box") != stem.npos);
    else
        import_mesh(source, *scene, stem.find("wuson") != stem.npos);
    settle(source.model);
    return write_model(source.model);
}

}  // namespace arena::import
