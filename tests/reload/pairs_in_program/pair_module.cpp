// A pair of layouts as a module with state: PAIR is its file, compiled without and with AFTER.
#include PAIR

#include <braid/reload/arena.hpp>
#include <braid/reload/export.hpp>

#include <type_traits>

namespace {

template <class T>
bool make_root(braid::reload::arena& in) {
    if constexpr (std::is_default_constructible_v<T>) (void)in.root<T>("state");
    return std::is_default_constructible_v<T>;
}

bool make(braid::reload::arena& in) { return make_root<state>(in); }

// The two differ also where their types do not.
#if defined(AFTER)
[[gnu::used]] const char which[] = "after";
#else
[[gnu::used]] const char which[] = "before";
#endif

}  // namespace

BRAID_RELOAD_EXPORT(make, bool(braid::reload::arena&))
