#pragma once

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// A handle refers to an object in the memory of one frame, and is valid only in that frame.
/// frame_arena::get() rejects the handle in every other frame, in serial stages as well as in
/// parallel stages, and at every depth of the loop. A handle is plain data that may be copied
/// anywhere.
template <class T>
struct frame_handle {
    T* object = nullptr;
    std::uint64_t frame = 0;

    constexpr explicit operator bool() const { return object != nullptr; }
    friend constexpr bool operator==(frame_handle, frame_handle) = default;
};

BRAID_NAMESPACE_END
