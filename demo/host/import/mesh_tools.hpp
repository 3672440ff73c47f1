// Meshes: coarser copies, generated bodies, generated materials.
#pragma once

#include "model_source.hpp"

namespace arena::import {

/// Merges the vertices that share a cell of a grid and a main bone; about `target` remain.
mesh simplify(const mesh& fine, std::size_t target);

/// A body of capsules around the joints of `model` in its rest pose, `sides` to a circle. Joints
/// with human names get fitting sizes and colours, all others a thickness after their length.
mesh capsule_body(const model_source& model, int sides, bool boxer);

/// Colours of the triangles of `body`, after the names of the joints they hang on.
void paint_human(const model_source& model, mesh& body);
void paint_beast(const model_source& model, mesh& body);

}  // namespace arena::import
