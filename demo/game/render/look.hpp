#pragma once
// The light of the arena: a low warm sun under a blue evening sky. Linear colours.

namespace arena::look {

/// Towards the sun, unit length; all shadows follow from it.
constexpr float sun_direction[3] = {-0.548f, 0.640f, 0.538f};
constexpr float sun_color[3] = {1.35f, 0.98f, 0.62f};

constexpr float sky_light[3] = {0.22f, 0.30f, 0.48f};     ///< ambient from above
constexpr float ground_light[3] = {0.15f, 0.12f, 0.115f};  ///< ambient from below
constexpr float rim_light[3] = {0.34f, 0.44f, 0.66f};

constexpr float fog_color[3] = {0.36f, 0.33f, 0.40f};
constexpr float fog_start = 22.0f;    ///< metres
constexpr float fog_length = 190.0f;  ///< metres until everything is fog
constexpr float fog_most = 0.92f;

constexpr float sky_horizon[3] = {0.78f, 0.50f, 0.36f};
constexpr float sky_middle[3] = {0.36f, 0.33f, 0.40f};
constexpr float sky_zenith[3] = {0.07f, 0.11f, 0.24f};

constexpr float exposure = 1.15f;

constexpr float light_ball_radius = 0.11f;  ///< metres, bright core
constexpr float light_halo_radius = 0.75f;  ///< metres, soft glow around it

}  // namespace arena::look
