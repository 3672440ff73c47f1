#pragma once
// What a reloadable module includes. It needs no library: each macro leaves one record in a section
// of the module's file, which the host reads before it loads anything.
//
//   void simulate(arena::game& state, const arena::input& input) { … }
//   BRAID_RELOAD_EXPORT(simulate, void(arena::game&, const arena::input&))
//   BRAID_RELOAD_TYPE(arena::character)
//
// Both stand at namespace scope in a source file of the module, not in a header. They work without
// exceptions and run-time type information, and with g++ and clang on ELF systems.

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

// The linker defines these when the section is in the file. Weak: one of them may have no record.
extern "C" {
extern const char __start_braid_reload_exports[] __attribute__((weak, visibility("hidden")));
extern const char __stop_braid_reload_exports[] __attribute__((weak, visibility("hidden")));
extern const char __start_braid_reload_types[] __attribute__((weak, visibility("hidden")));
extern const char __stop_braid_reload_types[] __attribute__((weak, visibility("hidden")));

/// The one symbol by which a host enters; the same in each source file of the module.
__attribute__((used, visibility("default"))) inline void braid_reload_table(
    ::braid::reload::detail::module_table* shown) {
    *shown = {::braid::reload::export_format, sizeof(*shown),
              __start_braid_reload_exports,   __stop_braid_reload_exports,
              __start_braid_reload_types,     __stop_braid_reload_types};
}
}

// What keeps a record: `used` is for the compiler, `retain` for a linker that removes sections.
// The alignment is said because compilers align larger objects more, which would leave gaps.
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

/// Lets hosts call `function` (its name, without namespaces; the name may be overloaded) under that
/// name. What follows is its signature, in which typedefs and namespaces in scope may be used.
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

/// Says how objects of that type are made, moved and destroyed: what state that outlives a reload
/// needs. The type is complete. Where a function `const char* reload_invariant(const T&)` is found
/// beside the type, it looks at each migrated object, and a text that it returns refuses the
/// reload.
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

/// Says that a field of `type` had the name `from` in the code before and is `to` now: another
/// name, or the path of a member of its members, as in BRAID_RELOAD_RENAMED(character, x, place.x).
#define BRAID_RELOAD_RENAMED(type, from, to) BRAID_RELOAD_RENAME_RECORD(type, #from, #to)
/// Says that a field of `type` in the code before is none of those that were added: it goes.
#define BRAID_RELOAD_DROPPED(type, from) BRAID_RELOAD_RENAME_RECORD(type, #from, "")
/// Says that `type` had that whole name in the code before, for example "world::character".
#define BRAID_RELOAD_RENAMED_TYPE(type, from) BRAID_RELOAD_RENAME_RECORD(type, "", from)
