#pragma once

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// Refers to an object in the memory of a frame, and is valid in that frame only.
/// frame_arena::get() rejects it in any other frame, at every depth of the loop and in serial
/// stages, too. A handle is plain data that may be copied anywhere.
template <class T>
struct frame_handle {
    T* object = nullptr;
    std::uint64_t frame = 0;

    constexpr explicit operator bool() const { return object != nullptr; }
    friend constexpr bool operator==(frame_handle, frame_handle) = default;
};

BRAID_NAMESPACE_END
