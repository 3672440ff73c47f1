#pragma once
// A reloadable module includes this header, which needs no library. Each macro puts one record into
// a section of the module's file. The host reads these records before it loads the module.
//
//   void simulate(arena::game& state, const arena::input& input) { … }
//   BRAID_RELOAD_EXPORT(simulate, void(arena::game&, const arena::input&))
//   BRAID_RELOAD_TYPE(arena::character)
//
// Use the macros at namespace scope in a source file of the module, not in a header. The macros
// need neither exceptions nor run-time type information. They work with g++ and clang on ELF
// systems.

#include "braid/reload/records.hpp"

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#include <typeinfo>
#define BRAID_RELOAD_TYPE_OF(...) (&typeid(__VA_ARGS__))
#else
#define BRAID_RELOAD_TYPE_OF(...) nullptr
#endif

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

template <class T>
constexpr auto constructor_of() -> void (*)(void*) {
    if constexpr (std::is_default_constructible_v<T>) {
        return [](void* at) { ::new (at) T(); };
    } else {
        return nullptr;
    }
}
template <class T>
constexpr auto mover_of() -> void (*)(void*, void*) {
    if constexpr (std::is_move_constructible_v<T>) {
        return [](void* to, void* from) { ::new (to) T(std::move(*static_cast<T*>(from))); };
    } else {
        return nullptr;
    }
}
template <class T>
constexpr auto destroyer_of() -> void (*)(void*) {
    if constexpr (std::is_destructible_v<T>) {
        return [](void* at) { static_cast<T*>(at)->~T(); };
    } else {
        return nullptr;
    }
}

template <class T>
constexpr auto checker_of() -> const char* (*)(const void*) {
    if constexpr (requires(const T& object) {
                      { reload_invariant(object) } -> std::convertible_to<const char*>;
                  }) {
        return [](const void* at) -> const char* {
            return reload_invariant(*static_cast<const T*>(at));
        };
    } else {
        return nullptr;
    }
}

}  // namespace reload::detail
BRAID_NAMESPACE_END

// The linker defines these symbols if the file contains the section. A module without exports or
// without types lacks one of the sections, so the symbols are weak.
extern "C" {
extern const char __start_braid_reload_exports[] __attribute__((weak, visibility("hidden")));
extern const char __stop_braid_reload_exports[] __attribute__((weak, visibility("hidden")));
extern const char __start_braid_reload_types[] __attribute__((weak, visibility("hidden")));
extern const char __stop_braid_reload_types[] __attribute__((weak, visibility("hidden")));

/// Writes the addresses of the module's records to `*shown`. This is the only symbol that a host
/// looks up in the module. It is inline, so all source files of the module share one definition.
__attribute__((used, visibility("default"))) inline void braid_reload_table(
    ::braid::reload::detail::module_table* shown) {
    *shown = {::braid::reload::export_format, sizeof(*shown),
              __start_braid_reload_exports,   __stop_braid_reload_exports,
              __start_braid_reload_types,     __stop_braid_reload_types};
}
}

// These attributes keep a record in the file: `used` keeps the compiler from removing the record,
// and `retain` keeps the linker from removing the section as unused. The alignment is explicit
// because compilers give larger objects a larger alignment, which would leave gaps between the
// records.
#if defined(__has_attribute)
#if __has_attribute(retain)
#define BRAID_RELOAD_RECORD(name) \
    __attribute__((used, retain, section(#name), aligned(8), visibility("hidden")))
#endif
#endif
#if !defined(BRAID_RELOAD_RECORD)
#define BRAID_RELOAD_RECORD(name) \
    __attribute__((used, section(#name), aligned(8), visibility("hidden")))
#endif
#define BRAID_RELOAD_JOINED(a, b) a##b
#define BRAID_RELOAD_NAMED(a, b) BRAID_RELOAD_JOINED(a, b)

/// BRAID_RELOAD_EXPORT(function, signature) lets hosts call `function` by its name. If the name is
/// qualified, hosts use only the last part, without namespaces. The function may be overloaded, but
/// a module can export each name only once. The signature may use any typedefs and namespaces that
/// are in scope.
#define BRAID_RELOAD_EXPORT(function_, ...)                                                 \
    namespace {                                                                             \
    BRAID_RELOAD_RECORD(braid_reload_exports)                                               \
    constinit ::braid::reload::detail::export_of<__VA_ARGS__> BRAID_RELOAD_NAMED(           \
        braid_reload_export_, __COUNTER__){::braid::reload::export_format,                  \
                                           sizeof(::braid::reload::detail::export_record),  \
                                           #function_,                                      \
                                           ::braid::reload::detail::spelled<__VA_ARGS__>(), \
                                           BRAID_RELOAD_TYPE_OF(__VA_ARGS__),               \
                                           &function_};                                     \
    }

/// BRAID_RELOAD_TYPE(type) records how objects of `type` are made, moved and destroyed. Use it for
/// the types of state that outlives a reload. The type must be complete. If the namespace of the
/// type has a function `const char* reload_invariant(const type&)`, a migration calls this function
/// for each migrated object. If the function returns a text instead of null, the reload is refused.
/// After the reload, each frame boundary calls reload_invariant() as long as the program can go
/// back to the previous code (see modules::roll_back()).
#define BRAID_RELOAD_TYPE(...)                                                            \
    namespace {                                                                           \
    BRAID_RELOAD_RECORD(braid_reload_types)                                               \
    constinit ::braid::reload::detail::type_record BRAID_RELOAD_NAMED(braid_reload_type_, \
                                                                      __COUNTER__){       \
        ::braid::reload::export_format,                                                   \
        sizeof(::braid::reload::detail::type_record),                                     \
        ::braid::reload::detail::spelled<__VA_ARGS__>(),                                  \
        BRAID_RELOAD_TYPE_OF(__VA_ARGS__),                                                \
        sizeof(__VA_ARGS__),                                                              \
        alignof(__VA_ARGS__),                                                             \
        ::braid::reload::detail::constructor_of<__VA_ARGS__>(),                           \
        ::braid::reload::detail::mover_of<__VA_ARGS__>(),                                 \
        ::braid::reload::detail::destroyer_of<__VA_ARGS__>(),                             \
        ::braid::reload::detail::checker_of<__VA_ARGS__>()};                              \
    }

#define BRAID_RELOAD_RENAME_RECORD(type_, from_, to_)                                         \
    namespace {                                                                               \
    BRAID_RELOAD_RECORD(braid_reload_renames)                                                 \
    constinit ::braid::reload::detail::rename_record BRAID_RELOAD_NAMED(braid_reload_rename_, \
                                                                        __COUNTER__){         \
        ::braid::reload::export_format,                                                       \
        sizeof(::braid::reload::detail::rename_record),                                       \
        ::braid::reload::detail::spelled<type_>(),                                            \
        BRAID_RELOAD_TYPE_OF(type_),                                                          \
        from_,                                                                                \
        to_};                                                                                 \
    }

/// Declares that the field of `type` that is named `from` in the previous code is named `to` in
/// this code. `to` may be the path of a nested member: BRAID_RELOAD_RENAMED(character, x, place.x).
#define BRAID_RELOAD_RENAMED(type, from, to) BRAID_RELOAD_RENAME_RECORD(type, #from, #to)
/// Declares that the field `from` of `type` in the previous code was removed. A migration then
/// never treats a field that was added to `type` as the renamed field `from`.
#define BRAID_RELOAD_DROPPED(type, from) BRAID_RELOAD_RENAME_RECORD(type, #from, "")
/// Declares that `type` had the name `from` in the previous code. `from` is a string with the full
/// name, for example "world::character".
#define BRAID_RELOAD_RENAMED_TYPE(type, from) BRAID_RELOAD_RENAME_RECORD(type, "", from)
