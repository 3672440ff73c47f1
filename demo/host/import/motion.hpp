// Clips: cut from recordings, moved to the spot, made to loop, or generated where a model has none.
#pragma once

#include "model_source.hpp"

namespace arena::import {

/// Keeps hips of joint `root` above the origin and, over about a second, facing +z.
void hold_on_spot(std::vector<global_pose>& frames, std::size_t root);

/// Where a recording is at its calmest or liveliest for `length` frames, `root` never far below its
/// usual height. `fast` looks at the way of `root` alone, otherwise every joint counts.
enum class seek { calm, lively, fast };
std::size_t find_window(const std::vector<global_pose>& frames, std::size_t length, seek what,
                        std::size_t root);

/// Frames [first, first + length) with the end blended into what came before the beginning.
std::vector<global_pose> cut_loop(const std::vector<global_pose>& frames, std::size_t first,
                                  std::size_t length);

/// A walk, a run or a breathing stance for a humanoid whose joints have the usual names.
clip generate(const model_source& model, clip_role role);

/// Orthonormal axes in every matrix: what joint_pose can express.
void make_rigid(global_pose& pose);

}  // namespace arena::import
