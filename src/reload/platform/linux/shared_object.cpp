// Shared objects. None is ever closed: a thread-local object with a destructor keeps its code in
// use until the last thread that made one has ended, and nobody could say who else points to it.
#include "reload/platform/platform.hpp"

#include <dlfcn.h>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

status load_shared(const std::string& path, void*& handle) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return {};
    const char* const said = dlerror();
    return {1, said != nullptr ? said : "the system's loader refused '" + path + "'"};
}

void* find_symbol(void* handle, const char* name) { return dlsym(handle, name); }

}  // namespace reload::platform
BRAID_NAMESPACE_END
