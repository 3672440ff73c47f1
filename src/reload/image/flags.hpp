#pragma once
// Which flags of compiler and linker a module was built without, by what they leave in its file.

#include "reload/image/image.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct missing_flag {
    const char* flag;
    std::string because;  // a sentence: what the file shows
    bool refuses = true;  // false: the module can be loaded all the same
};

/// All flags that braid_reloadable_module() sets and this file lacks. `types`: debug information is
/// wanted, too.
std::vector<missing_flag> missing_flags(const image& of, bool types = true);

}  // namespace reload::detail
BRAID_NAMESPACE_END
