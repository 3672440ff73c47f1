#pragma once
#include "braid/base/version.hpp"

#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Options that are made without braces have the place of their own definition; that is none.
inline bool is_own_header(std::string_view file) {
    return file.ends_with("braid/core/task.hpp") || file.ends_with("braid/graph/node.hpp");
}

}  // namespace profile
BRAID_NAMESPACE_END
