// Whether a block is a model: nobody trusts what comes out of an importer.
#pragma once

#include <cstddef>
#include <span>

namespace arena::import {

/// Why `block` is not a model that the game can trust, or nullptr when it is one: sizes, offsets,
/// references and floating-point values are all checked. `block` must be 16-byte aligned.
const char* find_model_fault(std::span<const std::byte> block);

}  // namespace arena::import
