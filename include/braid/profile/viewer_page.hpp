#pragma once
// The viewer is a single HTML page that loads no other files.

#include "braid/base/version.hpp"

#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Returns the page. The text stays valid as long as the program runs. If the viewer was missing
/// when Braid was built, the page says that the viewer is missing. The function is in the library
/// braid::viewer_page.
std::string_view viewer_page();

}  // namespace profile
BRAID_NAMESPACE_END
