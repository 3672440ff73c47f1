#pragma once
// The viewer is one page of HTML that loads nothing else.

#include "braid/base/version.hpp"

#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Returns the page, which stays valid as long as the program runs. If the viewer was missing when
/// Braid was built, this is a page that says so. The function is in the library braid::viewer_page.
std::string_view viewer_page();

}  // namespace profile
BRAID_NAMESPACE_END
