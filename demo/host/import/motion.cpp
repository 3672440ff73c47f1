#include "motion.hpp"

#include <glm/gtc/matrix_inverse.hpp>
#include <glm/gtc/matrix_transform.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace arena::import {
namespace {

glm::vec3 place(const glm::mat4& matrix) { return glm::vec3(matrix[3]); }

glm::mat4 blend(const glm::mat4& a, const glm::mat4& b, float t) {
    const glm::quat q = glm::slerp(glm::quat_cast(glm::mat3(a)), glm::quat_cast(glm::mat3(b)), t);
    glm::mat4 out = glm::mat4_cast(q);
    out[3] = a[3] + (b[3] - a[3]) * t;
    return out;
}

// Turns joint `at` and all below it about a model-space axis through the joint.
void swing(const model_source& model, global_pose& pose, std::size_t at, glm::vec3 axis,
           float angle) {
    const glm::vec3 pivot = place(pose[at]);
    const glm::mat4 turn = glm::translate(glm::mat4(1), pivot) *
                           glm::rotate(glm::mat4(1), angle, axis) *
                           glm::translate(glm::mat4(1), -pivot);
    std::vector<char> below(pose.size(), 0);
    below[at] = 1;
    for (std::size_t i = at; i < pose.size(); ++i) {
        const std::int32_t parent = model.joints[i].parent;
        if (parent >= 0 && below[static_cast<std::size_t>(parent)]) below[i] = 1;
        if (below[i]) pose[i] = turn * pose[i];
    }
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

enum class limb { other, thigh, shin, upper_arm, forearm };

limb limb_of(const model_source& model, std::size_t index) {
    const auto is_forearm = [](const std::string& name) {
        return has(name, "forearm") || has(name, "elbow");
    };
    const std::string name = lower(model.joints[index].name);
    if (index + 1 == model.joints.size()) return limb::other;
    if (has(name, "hip") || has(name, "upleg")) return limb::thigh;
    if (has(name, "knee") || has(name, "leg")) return limb::shin;
    if (is_forearm(name)) return limb::forearm;
    return is_forearm(lower(model.joints[index + 1].name)) ? limb::upper_arm : limb::other;
}

struct gait {
    float stride, knee, arms, elbow, lean, bounce, seconds;
};

constexpr float leg_length = 0.88f;  // metres, of a character 1.8 m tall

constexpr gait gait_of(clip_role role) {
    if (role == clip_role::run) return {0.75f, 1.35f, 0.7f, 1.3f, 0.18f, 0.05f, 0.7f};
    if (role == clip_role::walk) return {0.42f, 0.75f, 0.4f, 0.35f, 0.04f, 0.02f, 1.1f};
    return {0, 0, 0, 0.15f, 0, 0, 3.2f};
}

// `phase` runs from 0 to 2 pi over the clip.
void pose_humanoid(const model_source& model, global_pose& pose, const gait& step, float phase) {
    const glm::vec3 side{1, 0, 0}, forward{0, 0, 1}, up{0, 1, 0};
    const bool stands = step.stride == 0;
    for (std::size_t i = 0; i < model.joints.size(); ++i) {
        const std::string joint = lower(model.joints[i].name);
        const bool left = has(joint, "left");
        if (!left && !has(joint, "right")) {
            if (has(joint, "spine2") || has(joint, "lowerback") || joint == "ab")
                swing(model, pose, i, side, step.lean + (stands ? 0.025f * std::sin(phase) : 0));
            if (has(joint, "spine1") && !stands) swing(model, pose, i, up, 0.12f * std::sin(phase));
            if (has(joint, "neck") && stands) swing(model, pose, i, up, 0.3f * std::sin(phase));
            continue;
        }
        const float own = phase + (left ? 0.0f : std::numbers::pi_v<float>);
        switch (limb_of(model, i)) {
            case limb::thigh: {
                const glm::vec3 along = place(pose[i + 1]) - place(pose[i]);
                if (!stands) swing(model, pose, i, forward, -0.8f * std::atan2(along.x, -along.y));
                swing(model, pose, i, side, -step.stride * std::sin(own));
                break;
            }
            case limb::shin:
                swing(model, pose, i, side, step.knee * std::max(0.0f, std::cos(own)) + 0.05f);
                break;
            case limb::upper_arm: {
                const glm::vec3 along = glm::normalize(place(pose[i + 1]) -
                                                       place(pose[i]));  // the arm hangs at the end
                const float drop = std::asin(std::clamp(along.y, -1.0f, 1.0f)) + 1.32f;
                swing(model, pose, i, forward, left ? -drop : drop);
                swing(model, pose, i, side, step.arms * std::sin(own));
                break;
            }
            case limb::forearm:
                swing(model, pose, i, side, -step.elbow);
                break;
            case limb::other:
                break;
        }
    }
    for (glm::mat4& matrix : pose) matrix[3].y += step.bounce * std::cos(2 * phase);
}

}  // namespace

void make_rigid(global_pose& pose) {
    for (glm::mat4& matrix : pose) {
        const glm::vec3 at = place(matrix);
        const glm::vec3 x = glm::normalize(glm::vec3(matrix[0]));
        const glm::vec3 y0 = glm::vec3(matrix[1]);
        const glm::vec3 y = glm::normalize(y0 - x * glm::dot(x, y0));
        matrix = glm::mat4(glm::vec4(x, 0), glm::vec4(y, 0), glm::vec4(glm::cross(x, y), 0),
                           glm::vec4(at, 1));
    }
}

void hold_on_spot(std::vector<global_pose>& frames, std::size_t root) {
    std::vector<glm::vec2> heading;
    for (const global_pose& frame : frames) {
        const glm::vec3 z = glm::vec3(frame[root][2]);
        const glm::vec2 flat{z.x, z.z};
        heading.push_back(glm::length(flat) > 0.2f ? glm::normalize(flat) : glm::vec2{0, 1});
    }
    const std::size_t reach = 12;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        glm::vec2 mean{0};
        const std::size_t first = i > reach ? i - reach : 0;
        const std::size_t last = std::min(frames.size() - 1, i + reach);
        for (std::size_t k = first; k <= last; ++k) mean += heading[k];
        const glm::vec3 at = place(frames[i][root]);
        const glm::mat4 back =
            glm::rotate(glm::mat4(1), -std::atan2(mean.x, mean.y), glm::vec3{0, 1, 0}) *
            glm::translate(glm::mat4(1), glm::vec3{-at.x, 0, -at.z});
        for (glm::mat4& matrix : frames[i]) matrix = back * matrix;
    }
}

std::size_t find_window(const std::vector<global_pose>& frames, std::size_t length, seek what,
                        std::size_t root) {
    const std::size_t margin = 12;  // frames that cut_loop blends
    if (frames.size() < length + 2 * margin) return std::min(margin, frames.size() - 1);
    std::vector<float> heights;
    for (const global_pose& frame : frames) heights.push_back(frame[root][3].y);
    std::nth_element(heights.begin(), heights.begin() + std::ptrdiff_t(heights.size() / 2),
                     heights.end());
    const float usual = heights[heights.size() / 2];
    std::vector<float> motion(frames.size(), 0);
    for (std::size_t i = 1; i < frames.size(); ++i) {
        if (frames[i][root][3].y < usual * 0.85f) {  // sits or lies: never chosen
            motion[i] = what == seek::calm ? 1e3f : -1e3f;
            continue;
        }
        for (std::size_t k = 0; k < frames[i].size(); ++k) {
            if (what == seek::fast && k != root) continue;
            glm::vec3 way = place(frames[i][k]) - place(frames[i - 1][k]);
            if (what == seek::fast) way.y = 0;
            motion[i] += glm::length(way);
        }
    }
    float sum = 0;
    std::size_t best = margin;
    float best_sum = what == seek::calm ? std::numeric_limits<float>::max()
                                        : std::numeric_limits<float>::lowest();
    for (std::size_t i = 0; i + margin < frames.size(); ++i) {
        sum += motion[i];
        if (i < length + margin) continue;
        sum -= motion[i - length];
        if (what == seek::calm ? sum < best_sum : sum > best_sum) {
            best_sum = sum;
            best = i - length;
        }
    }
    return best;
}

std::vector<global_pose> cut_loop(const std::vector<global_pose>& frames, std::size_t first,
                                  std::size_t length) {
    length = std::min(length, frames.size() - first);
    std::vector<global_pose> out(frames.begin() + static_cast<std::ptrdiff_t>(first),
                                 frames.begin() + static_cast<std::ptrdiff_t>(first + length));
    const std::size_t overlap = std::min({std::size_t{10}, first, length / 2});
    for (std::size_t i = 0; i < overlap; ++i) {
        const float t = static_cast<float>(i + 1) / static_cast<float>(overlap + 1);
        global_pose& end = out[length - overlap + i];
        const global_pose& before = frames[first - overlap + i];
        for (std::size_t k = 0; k < end.size(); ++k) end[k] = blend(end[k], before[k], t);
    }
    return out;
}

clip generate(const model_source& model, clip_role role) {
    const gait step = gait_of(role);
    const char* name = role == clip_role::rest   ? "stand (generated)"
                       : role == clip_role::walk ? "walk (generated)"
                                                 : "run (generated)";
    // Both legs sweep the floor from front to back once.
    const float speed = 4 * leg_length * std::sin(step.stride) / step.seconds;
    const auto count = static_cast<std::size_t>(step.seconds * pose_rate);
    std::vector<global_pose> frames(count, model.rest);
    for (std::size_t i = 0; i < count; ++i) {
        const float turn = static_cast<float>(i) / static_cast<float>(count);
        pose_humanoid(model, frames[i], step, turn * 2 * std::numbers::pi_v<float>);
    }
    return {name, role, speed, std::move(frames)};
}

}  // namespace arena::import
