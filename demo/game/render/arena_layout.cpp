#include "render/arena_layout.hpp"

namespace arena {
namespace {

constexpr float outer = 21.0f, middle = 14.85f;  ///< on a circle of 21 m
constexpr float ring = 11.5f, ring_middle = 8.13f;

constexpr obstacle all_obstacles[] = {
    {{0.0f, 0.0f}, 1.5f, 7.0f, prop_kind::obelisk},

    {{outer, 0.0f}, 0.85f, 5.5f, prop_kind::pillar},
    {{-outer, 0.0f}, 0.85f, 5.5f, prop_kind::pillar},
    {{0.0f, outer}, 0.85f, 5.5f, prop_kind::pillar},
    {{0.0f, -outer}, 0.85f, 5.5f, prop_kind::pillar},
    {{middle, middle}, 0.85f, 5.5f, prop_kind::pillar},
    {{-middle, middle}, 0.85f, 5.5f, prop_kind::pillar},
    {{middle, -middle}, 0.85f, 5.5f, prop_kind::pillar},
    {{-middle, -middle}, 0.85f, 5.5f, prop_kind::pillar},

    {{ring, 0.0f}, 0.55f, 1.3f, prop_kind::brazier},
    {{-ring, 0.0f}, 0.55f, 1.3f, prop_kind::brazier},
    {{0.0f, ring}, 0.55f, 1.3f, prop_kind::brazier},
    {{0.0f, -ring}, 0.55f, 1.3f, prop_kind::brazier},
    {{ring_middle, -ring_middle}, 0.55f, 1.3f, prop_kind::brazier},
    {{-ring_middle, ring_middle}, 0.55f, 1.3f, prop_kind::brazier},

    {{25.6f, 17.2f}, 0.95f, 1.3f, prop_kind::crate},
    {{27.3f, 16.6f}, 0.80f, 1.1f, prop_kind::crate},
    {{-25.0f, -19.4f}, 0.95f, 1.3f, prop_kind::crate},
    {{-26.4f, -18.2f}, 0.80f, 1.1f, prop_kind::crate},
    {{-23.8f, 22.4f}, 1.05f, 1.4f, prop_kind::crate},
    {{22.6f, -24.4f}, 1.05f, 1.4f, prop_kind::crate},
    {{24.5f, -24.9f}, 0.80f, 1.1f, prop_kind::crate},
};

}  // namespace

std::span<const obstacle> arena_obstacles() { return all_obstacles; }

}  // namespace arena
