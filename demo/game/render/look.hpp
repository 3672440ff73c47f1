#pragma once
// The light of the arena: a low warm sun under a blue evening sky. Linear colours.

namespace arena::look {

/// Towards the sun, unit length; all shadows follow from it.
constexpr float sun_direction[3] = {-0.548f, 0.640f, 0.538f};
constexpr float sun_color[3] = {1.50f, 1.00f, 0.58f};

constexpr float sky_light[3] = {0.155f, 0.215f, 0.37f};    ///< ambient from above
constexpr float ground_light[3] = {0.10f, 0.08f, 0.078f};  ///< ambient from below
constexpr float rim_light[3] = {0.34f, 0.44f, 0.66f};

constexpr float fog_color[3] = {0.30f, 0.26f, 0.32f};
constexpr float fog_start = 22.0f;    ///< metres
constexpr float fog_length = 240.0f;  ///< metres until everything is fog
constexpr float fog_most = 0.92f;

constexpr float sky_horizon[3] = {0.80f, 0.45f, 0.28f};
constexpr float sky_middle[3] = {0.30f, 0.27f, 0.36f};
constexpr float sky_zenith[3] = {0.05f, 0.09f, 0.22f};

constexpr float exposure = 0.92f;

constexpr float light_ball_radius = 0.11f;  ///< metres, bright core
constexpr float light_halo_radius = 0.75f;  ///< metres, soft glow around it

}  // namespace arena::look
