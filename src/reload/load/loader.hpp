#pragma once
// Gets the code of a module that was checked into the process: an own copy of the file, which
// nobody else writes to, and then the system's loader.

#include "reload/image/exports.hpp"
#include "reload/load/object_maker.hpp"
#include "reload/platform/platform.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct loaded_function {
    std::string name;
    signature type;
    void (*function)() = nullptr;
};

/// A BRAID_RELOAD_TYPE of loaded code.
struct loaded_type {
    std::string name;
    object_maker maker;
};

/// Code that stays in the process for its life.
struct loaded_module {
    std::string path;  // of the copy
    std::size_t bytes = 0;
    platform::image_place place;
    std::vector<loaded_function> functions;
    std::vector<loaded_type> types;
};

/// Loads the file and reads the table that its code shows. Runs static constructors, so nothing
/// that can be checked before is left for it. `expected`: what the file's records said.
status load(const std::string& path, const std::vector<exported>& expected, loaded_module& out);

}  // namespace reload::detail
BRAID_NAMESPACE_END
