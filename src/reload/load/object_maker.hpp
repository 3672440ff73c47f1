#pragma once
// What code that was loaded can do with objects of one of its types.

#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// The functions of a BRAID_RELOAD_TYPE; null where the type cannot.
struct object_maker {
    void (*construct)(void* at) = nullptr;
    void (*move)(void* to, void* from) = nullptr;
    void (*destroy)(void* at) = nullptr;
    const char* (*check)(const void* at) = nullptr;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
