// The game's state, and what one stage leaves for the next. Names of stages in the comments tell
// who writes a field; everybody after it in the table may read it. A build in which types have
// other fields, or the same in another order, takes over the state of a game that runs.
#pragma once

#include "game_api.hpp"
#include "model.hpp"
#include "render/scene.hpp"
#include "sound/sound_api.hpp"

#include <glm/glm.hpp>

#include <array>
#include <type_traits>

namespace arena {

inline constexpr std::uint32_t light_count = 64;
inline constexpr std::uint32_t max_steps_heard = 96;  // sound triggers of one frame
// Of what a frame leaves for its drawing: those in flight, and the one that is begun meanwhile.
inline constexpr std::uint32_t frames_kept = max_frames_in_flight + 1;

enum class mood : std::uint32_t { rest, walk, run, act };

/// What a character remembers from frame to frame. What is to count goes into hash() as well.
struct character {
    std::uint32_t random;  // state of its own generator
    std::uint32_t model;
    std::uint32_t tint;  // rgba8
    float size;          // 1 = as imported
    float radius;        // of its disc on the floor, metres
    glm::vec2 goal;
    float patience;                // seconds until it makes up its mind again
    mood wish;                     // update
    mood state;                    // animate; a change fades
    float heading;                 // radians about +y, 0 looks along +z
    std::uint32_t clip, old_clip;  // of the model
    float time, old_time;          // seconds into them
    float fade;                    // 1: only `clip` counts, 0: only `old_clip`
    float pace;                    // seconds of `clip` per second
    float pressure;                // of neighbours, as collide saw it
    // animate: the page of clips in which it walks until frame gait_from, and from then on.
    std::uint32_t gait, next_gait;
    std::uint64_t gait_from;
};

struct body_motion {
    glm::vec2 position, velocity;
};

/// Uniform grid over the floor: the characters of cell c are sorted[first[c] … first[c + 1]).
struct crowd_grid {
    static constexpr std::uint32_t side = 32;
    static constexpr float cell = 2.0f;  // metres; nobody reaches further than one cell
    std::array<std::uint32_t, side * side + 1> first;
    std::span<std::uint32_t> sorted;
};

struct sight {
    float depth;            // metres from the camera
    std::uint32_t visible;  // cull
    std::uint32_t lod;      // lod
};

/// An object of the platform's. Its type is left out of the state, which is compared and migrated
/// type by type: what is the platform's has pointers to functions, and parts that only it knows.
template <class Object>
class opaque {
public:
    opaque() = default;
    opaque(Object* object) : at_(object) {}
    Object* get() const { return static_cast<Object*>(at_); }
    Object* operator->() const { return get(); }
    Object& operator*() const { return *operator->(); }
    explicit operator bool() const { return at_ != nullptr; }

private:
    std::conditional_t<std::is_const_v<Object>, const void*, void*> at_ = nullptr;
};

/// Levels of detail of each model.
class level_set {
public:
    void add(std::size_t model, std::uint32_t level) { bits_ |= bit(model, level); }
    bool has(std::size_t model, std::uint32_t level) const {
        return (bits_ & bit(model, level)) != 0;
    }

private:
    static std::uint64_t bit(std::size_t model, std::uint32_t level) {
        return std::uint64_t{1} << (model * lod_count + level);
    }
    std::uint64_t bits_ = 0;
};

/// A visible character on its way to the renderer.
struct visible_body {
    std::uint32_t owner;
    std::uint32_t lod;
    std::uint32_t first_vertex;      // in game::vertices
    std::uint32_t first_matrix;      // in game::palette
    opaque<const joint_pose> poses;  // assets: of its clip; null: the model's
};

/// A range of visible bodies whose skinning is one part.
struct body_range {
    std::uint32_t first, last;
};

/// One group of the skinning kernel: vertices of a body. Numbers count from the begin of what the
/// kernel reads and writes.
struct skin_item {
    std::uint32_t model;  // which of the vertex arrays
    std::uint32_t first_source, first_matrix, first_vertex, count;
    std::uint32_t unused[3];
};

/// Affine transform as four columns, the fourth component of each unused.
struct bone_matrix {
    alignas(16) float columns[4][4];
};

struct step_event {
    std::uint32_t owner;
    sound_kind kind;
    float gain;
};

struct view_frustum {
    glm::mat4 view, projection;
    glm::vec3 eye;
    glm::vec4 planes[5];  // left, right, bottom, top, near; inside is positive
};

/// The crowd in one frame, as whoever works on that frame sees it.
struct moment {
    std::uint64_t frame;
    std::span<const character> characters;
    std::span<const body_motion> motion;
    const view_frustum& eye;
};

// The scratch memory: the palette, the items of skinning as data, the vertices.
inline std::size_t palette_bytes(std::size_t characters) {
    return characters * max_palette * sizeof(bone_matrix);
}
static_assert(max_palette * sizeof(bone_matrix) % array_alignment == 0);

/// Bodies may be cut into pieces of least_skin_piece vertices or more.
inline constexpr std::size_t least_skin_piece = 256;
inline std::size_t skin_item_bytes(std::size_t characters) {
    const std::size_t bytes = (2 * characters + 4096) * sizeof(skin_item);
    return (bytes + array_alignment - 1) / array_alignment * array_alignment;
}

/// One array in which processors find all levels of a model that are shown, where some are pages.
inline std::size_t level_copy_bytes_of(const model_view& model) {
    const std::size_t bytes = model.vertices().size_bytes();
    return (bytes + array_alignment - 1) / array_alignment * array_alignment;
}

/// What stays of a game_setup; the models are below.
struct own_setup {
    std::uint32_t characters = 0;
    std::uint64_t seed = 0;
    opaque<renderer> picture;
    opaque<const sound_output> sound;
    opaque<const asset_pages> assets;
};

struct game {
    own_setup setup;
    std::array<model_view, max_models> models;
    std::uint32_t model_count = 0;

    // Each of these serves frame n at [n % frames_kept].
    std::array<game_input, frames_kept> inputs;
    std::array<view_frustum, frames_kept> eyes;              // input
    std::array<std::span<body_motion>, frames_kept> motion;  // collide
    std::array<std::span<character>, frames_kept> seen;      // snapshot
    std::array<std::uint64_t, frames_kept> sound_hashes;     // sound end

    std::uint64_t begun = 0;
    std::uint64_t frame = 0;  // that is simulated
    std::uint64_t drawn = 0;
    std::uint64_t state_hash = 0;

    std::span<character> characters;  // of the frame that is simulated
    std::span<glm::vec2> wanted;      // steer: velocity before collisions
    crowd_grid grid;                  // grid: of last frame's positions
    std::span<step_event> steps;      // animate: at most one per character

    std::array<point_light, light_count> lights;  // lights
    std::span<sight> sights;                      // cull, lod
    std::span<visible_body> visible;              // commands
    std::uint32_t visible_count = 0;
    level_set levels_shown;                                                            // commands
    std::array<level_set, asset_pages::delay + 1> levels_wanted;                       // commands
    std::array<std::array<opaque<const model_vertex>, lod_count>, max_models> levels;  // assets
    std::span<body_range> skin_parts;
    std::uint32_t skin_part_count = 0;
    std::span<draw_command> draws;
    std::span<ground_contact> contacts;
    // commands: what the renderer is told. A part of the state, so that the platform, whose
    // renderer it is, sees when this code lays it out otherwise.
    frame_input picture;
    std::array<sound_trigger, max_steps_heard> triggers;  // triggers
    std::uint32_t trigger_count = 0;

    std::array<char, 256> text;  // ui
    std::array<ui_text, 4> texts;
    std::array<ui_box, 4> boxes;
    std::uint32_t text_count = 0, box_count = 0;

    // The platform's, and no part of the state: bytes, so that what lies there may change.
    std::span<std::byte> scratch;
    std::size_t level_copy_bytes = 0;  // with the scratch memory

    bone_matrix* palette() const {  // pose
        return reinterpret_cast<bone_matrix*>(scratch.data());
    }
    skin_item* skin_items() const {  // skin, as data
        return reinterpret_cast<skin_item*>(scratch.data() + palette_bytes(setup.characters));
    }
    std::span<std::byte> level_copies() const {  // skin, as data
        return scratch.subspan(palette_bytes(setup.characters) + skin_item_bytes(setup.characters),
                               level_copy_bytes);
    }
    std::span<skinned_vertex> vertices() const {  // skin
        const std::span<std::byte> rest = scratch.subspan(
            palette_bytes(setup.characters) + skin_item_bytes(setup.characters) + level_copy_bytes);
        return {reinterpret_cast<skinned_vertex*>(rest.data()),
                rest.size() / sizeof(skinned_vertex)};
    }

    std::span<body_motion> now() { return motion[frame % frames_kept]; }
    std::span<const body_motion> now() const { return motion[frame % frames_kept]; }
    std::span<const body_motion> before() const {
        return motion[(frame + frames_kept - 1) % frames_kept];
    }
    moment simulated() const { return {frame, characters, now(), eyes[frame % frames_kept]}; }
    moment shown() const {
        const std::size_t at = drawn % frames_kept;
        return {drawn, seen[at], motion[at], eyes[at]};
    }
};

/// Characters [first, last) of block `part`.
struct block {
    std::uint32_t first, last;
};

inline std::uint32_t block_count(std::uint32_t items, std::uint32_t size) {
    return (items + size - 1) / size;
}

inline block block_of(std::uint32_t part, std::uint32_t items, std::uint32_t size) {
    const std::uint32_t first = part * size;
    return {first, first + size < items ? first + size : items};
}

/// A generator of its own for every character: PCG output of a linear congruence.
inline std::uint32_t next_random(std::uint32_t& state) {
    state = state * 747796405u + 2891336453u;
    const std::uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

inline float next_unit(std::uint32_t& state) {
    return static_cast<float>(next_random(state) >> 8) * (1.0f / 16777216.0f);
}

// The stages, in the order of the table (frame_table.cpp). One function runs one part.
inline constexpr std::uint32_t update_block = 250, steer_block = 50, animate_block = 100,
                               sight_block = 250, pose_block = 12;
void take_input(game&, std::uint32_t part);
void begin_assets(game&, std::uint32_t part);
void update_characters(game&, std::uint32_t part);
void build_grid(game&, std::uint32_t part);
void steer(game&, std::uint32_t part);
void collide(game&, std::uint32_t part);
void animate(game&, std::uint32_t part);
void take_snapshot(game&, std::uint32_t part);
void begin_view(game&, std::uint32_t part);
void move_lights(game&, std::uint32_t part);
void cull(game&, std::uint32_t part);
void choose_lod(game&, std::uint32_t part);
void write_ui(game&, std::uint32_t part);
void write_commands(game&, std::uint32_t part);
void take_assets(game&, std::uint32_t part);
void blend_poses(game&, std::uint32_t part);
void skin(game&, std::uint32_t part);
extern const kernel skin_kernel;   // does what skin() does
extern const kernel light_kernel;  // does what the renderer's lights stage does
void trigger_sounds(game&, std::uint32_t part);

/// One of the clips of `model` that suit `state` best.
std::uint32_t choose_clip(const model_view& model, mood state, std::uint32_t random);

/// Places and dresses everybody, before the first frame.
void populate(game&);

}  // namespace arena
