#pragma once

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// Refers to an object in the memory of one frame, and is valid in that frame only.
/// frame_arena::get() rejects the handle in every other frame, whatever the depth of the loop is,
/// also in serial stages. A handle is plain data that may be copied anywhere.
template <class T>
struct frame_handle {
    T* object = nullptr;
    std::uint64_t frame = 0;

    constexpr explicit operator bool() const { return object != nullptr; }
    friend constexpr bool operator==(frame_handle, frame_handle) = default;
};

BRAID_NAMESPACE_END
