#pragma once
// The viewer: one page of HTML that loads nothing else.

#include "braid/base/version.hpp"

#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Lasts as long as the program. Where the viewer was not there when Braid was built, a page that
/// says so. Of the library braid::viewer_page.
std::string_view viewer_page();

}  // namespace profile
BRAID_NAMESPACE_END
