#pragma once

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// An object in the memory of a frame, good in that frame only; frame_arena::get() rejects it in
/// any other, in every mode of the loop alike. Plain data, copy it anywhere.
template <class T>
struct frame_handle {
    T* object = nullptr;
    std::uint64_t frame = 0;

    constexpr explicit operator bool() const { return object != nullptr; }
    friend constexpr bool operator==(frame_handle, frame_handle) = default;
};

BRAID_NAMESPACE_END
