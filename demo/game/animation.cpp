// Animation state machines and the poses they blend.
#include "game.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace arena {
namespace {

constexpr float fade_seconds = 0.3f;

float length_of(const model_clip& clip) { return static_cast<float>(clip.frame_count) / pose_rate; }

float wrap(float time, float length) { return time - std::floor(time / length) * length; }

// What a character does follows from its wish and from how fast it really moves.
mood next_state(const character& who, float speed) {
    const bool moving = who.state == mood::walk || who.state == mood::run;
    if (speed < (moving ? 0.25f : 0.45f)) return who.wish == mood::act ? mood::act : mood::rest;
    return speed > (who.state == mood::run ? 1.7f : 2.1f) ? mood::run : mood::walk;
}

float pace_of(const model_clip& clip, const character& who, float speed) {
    if (who.state == mood::rest || who.state == mood::act || clip.speed <= 0) return 1;
    return std::clamp(speed / (clip.speed * who.size), 0.5f, 1.8f);
}

void turn_towards(character& who, glm::vec2 velocity) {
    const float target = std::atan2(velocity.x, velocity.y);
    constexpr float pi = std::numbers::pi_v<float>;
    float turn = target - who.heading;
    turn -= std::floor((turn + pi) / (2 * pi)) * (2 * pi);
    who.heading += std::clamp(turn, -0.09f, 0.09f);
}

void change_clip(character& who, const model_view& model, mood state) {
    const std::uint32_t clip = choose_clip(model, state, next_random(who.random));
    if (clip == who.clip) return;
    who.old_clip = who.clip;
    who.old_time = who.time;
    who.clip = clip;
    who.time = 0;
    who.fade = 0;
}

step_event sound_of(const character& who, std::uint32_t owner, float old_time, float length) {
    if (who.state == mood::rest) return {owner, sound_kind::footstep, 0};
    const float half = length / 2;
    const bool beat = std::floor(old_time / half) != std::floor(who.time / half);
    if (!beat) return {owner, sound_kind::footstep, 0};
    if (who.state == mood::act) return {owner, sound_kind::whoosh, 0.7f};
    return {owner, sound_kind::footstep, who.state == mood::run ? 0.9f : 0.55f};
}

/// Those who are near walk as all do in their part of the floor, for a while.
std::uint32_t wanted_gait(const game& game, const character& who, glm::vec2 at) {
    constexpr float reach = 12.0f, side = 8.0f;  // metres
    constexpr std::uint64_t lasts = 20;          // frames
    const glm::vec3 eye = game.eyes[game.frame % frames_kept].eye;
    if (glm::length(at - glm::vec2{eye.x, eye.z}) > reach) return no_gait;
    const auto row = [](float metres) {
        return static_cast<std::uint32_t>(std::floor(metres / side) + 128);
    };
    const std::uint32_t place = row(at.x) * 256 + row(at.y);
    std::uint32_t random =
        place * 31 + static_cast<std::uint32_t>((game.frame + place * 7) / lasts);
    return asset_pages::gait(who.model, who.clip, next_random(random) % asset_pages::variants);
}

void change_gait(const game& game, character& who, glm::vec2 at) {
    if (!game.setup.assets) return;
    const std::uint64_t then = game.frame + asset_pages::delay;
    if (game.frame >= who.gait_from) {
        who.gait = who.next_gait;
        const std::uint32_t wanted = wanted_gait(game, who, at);
        if (wanted != who.next_gait) {
            who.next_gait = wanted;
            who.gait_from = then;
        }
    }
    // Again in each frame, also of those who are not seen: they may be in four frames.
    const asset_pages& from = *game.setup.assets;
    if (who.next_gait != no_gait) from.want(from.of, who.next_gait, then);
    if (who.gait != no_gait && who.gait != who.next_gait) from.want(from.of, who.gait, then);
}

using vec4 = float __attribute__((vector_size(16)));

vec4 load(const float* from) { return vec4{from[0], from[1], from[2], from[3]}; }

float dot(vec4 a, vec4 b) {
    const vec4 p = a * b;
    return p[0] + p[1] + p[2] + p[3];
}

struct joint {
    vec4 rotation, translation;
};

joint mix(const joint& a, const joint& b, float t) {
    const float u = dot(a.rotation, b.rotation) < 0 ? -t : t;
    return {a.rotation * (1 - t) + b.rotation * u, a.translation * (1 - t) + b.translation * t};
}

struct clip_sample {
    const joint_pose *a, *b;
    float t;

    joint at(std::size_t i) const {
        return mix({load(a[i].rotation), load(a[i].translation)},
                   {load(b[i].rotation), load(b[i].translation)}, t);
    }
};

/// `poses`: those of the clip in another gait; null: the model's.
clip_sample sample(const model_view& model, std::uint32_t index, float time,
                   const joint_pose* poses = nullptr) {
    const model_clip& clip = model.clips()[index];
    const std::size_t joints = model.header().joint_count;
    const float at = wrap(time, length_of(clip)) * pose_rate;
    const auto frame = std::min(static_cast<std::uint32_t>(at), clip.frame_count - 1);
    const std::uint32_t next = frame + 1 < clip.frame_count ? frame + 1 : 0;
    if (poses == nullptr) poses = model.poses().data() + clip.first_pose;
    return {poses + frame * joints, poses + next * joints, at - static_cast<float>(frame)};
}

// The quaternion need not have unit length.
bone_matrix to_matrix(const joint& pose) {
    const vec4 q = pose.rotation;
    const float s = 2.0f / dot(q, q);
    const float x = q[0], y = q[1], z = q[2], w = q[3];
    return {{{1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y), 0},
             {s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x), 0},
             {s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y), 0},
             {pose.translation[0], pose.translation[1], pose.translation[2], 0}}};
}

void store(float* to, vec4 from) {
    for (int i = 0; i < 4; ++i) to[i] = from[i];
}

bone_matrix multiply(const bone_matrix& a, const bone_matrix& b) {
    bone_matrix out;
    for (int c = 0; c < 4; ++c) {
        vec4 sum = load(a.columns[0]) * b.columns[c][0] + load(a.columns[1]) * b.columns[c][1] +
                   load(a.columns[2]) * b.columns[c][2];
        if (c == 3) sum += load(a.columns[3]);
        store(out.columns[c], sum);
    }
    return out;
}

bone_matrix multiply(const bone_matrix& a, const float (&rows)[12]) {
    bone_matrix b;
    for (int c = 0; c < 4; ++c) store(b.columns[c], vec4{rows[c], rows[4 + c], rows[8 + c], 0});
    return multiply(a, b);
}

bone_matrix placement(const character& who, glm::vec2 at) {
    const float s = std::sin(who.heading) * who.size, c = std::cos(who.heading) * who.size;
    return {{{c, 0, -s, 0}, {0, who.size, 0, 0}, {s, 0, c, 0}, {at.x, 0, at.y, 0}}};
}

void blend_pose(game& game, const visible_body& body) {
    const moment shown = game.shown();
    const character& who = shown.characters[body.owner];
    const model_view& model = game.models[who.model];
    const clip_sample now = sample(model, who.clip, who.time, body.poses.get());
    const clip_sample old = sample(model, who.old_clip, who.old_time);
    const bone_matrix root = placement(who, shown.motion[body.owner].position);
    const auto parents = model.parents();
    std::array<bone_matrix, max_bones> world;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        joint pose = now.at(i);
        if (who.fade < 1) {
            const float smooth = who.fade * who.fade * (3 - 2 * who.fade);
            pose = mix(old.at(i), pose, smooth);
        }
        const bone_matrix& parent =
            parents[i] < 0 ? root : world[static_cast<std::size_t>(parents[i])];
        world[i] = multiply(parent, to_matrix(pose));
    }
    const auto palette = model.palette();
    for (std::size_t i = 0; i < palette.size(); ++i)
        game.palette()[body.first_matrix + i] =
            multiply(world[palette[i].joint], palette[i].inverse_bind);
}

}  // namespace

std::uint32_t choose_clip(const model_view& model, mood state, std::uint32_t random) {
    // The role itself, else the next in its row.
    constexpr clip_role wishes[4][4] = {
        {clip_role::rest, clip_role::act, clip_role::walk, clip_role::run},
        {clip_role::walk, clip_role::run, clip_role::act, clip_role::rest},
        {clip_role::run, clip_role::walk, clip_role::act, clip_role::rest},
        {clip_role::act, clip_role::rest, clip_role::walk, clip_role::run}};
    const auto clips = model.clips();
    for (clip_role wish : wishes[static_cast<std::size_t>(state)]) {
        const auto fits = [wish](const model_clip& clip) { return clip.role == wish; };
        const auto count =
            static_cast<std::uint32_t>(std::count_if(clips.begin(), clips.end(), fits));
        if (count == 0) continue;
        std::uint32_t skip = random % count;
        for (std::uint32_t i = 0; i < clips.size(); ++i)
            if (fits(clips[i]) && skip-- == 0) return i;
    }
    return 0;
}

void animate(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, animate_block);
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        character& who = game.characters[i];
        const model_view& model = game.models[who.model];
        const glm::vec2 velocity = game.now()[i].velocity;
        const float speed = glm::length(velocity);
        if (who.fade >= 1) {
            const mood state = next_state(who, speed);
            if (state != who.state) change_clip(who, model, state);
            who.state = state;
        }
        const float length = length_of(model.clips()[who.clip]);
        const float target = pace_of(model.clips()[who.clip], who, speed);
        who.pace += (target - who.pace) * 0.2f;
        const float old_time = who.time;
        who.time += who.pace * step_seconds;
        who.old_time += step_seconds;
        who.fade = std::min(1.0f, who.fade + step_seconds / fade_seconds);
        if (speed > 0.3f) turn_towards(who, velocity);
        game.steps[i] = sound_of(who, i, old_time, length);
        who.time = wrap(who.time, length);
        change_gait(game, who, game.now()[i].position);
    }
}

void blend_poses(game& game, std::uint32_t part) {
    const block range = block_of(part, game.visible_count, pose_block);
    for (std::uint32_t i = range.first; i < range.last; ++i) blend_pose(game, game.visible[i]);
}

}  // namespace arena
