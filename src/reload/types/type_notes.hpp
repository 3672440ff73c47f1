#pragma once
// What a module says about its types besides their layout.

#include "braid/base/version.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct type_notes {
    /// A BRAID_RELOAD_TYPE.
    struct record {
        std::string type;
        bool constructs = false, moves = false;
    };
    /// A BRAID_RELOAD_RENAMED or BRAID_RELOAD_DROPPED. `from` empty: `to` is the type's old name.
    /// `to` empty: the field is dropped. It may be a path, as in "place.x".
    struct rename {
        std::string type, from, to;
    };
    std::vector<record> records;
    std::vector<rename> renames;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
