#pragma once
// The header that a reloadable module includes. It needs no library. Each macro leaves one record
// in a section of the module's file, and the host reads the records before it loads anything.
//
//   void simulate(arena::game& state, const arena::input& input) { … }
//   BRAID_RELOAD_EXPORT(simulate, void(arena::game&, const arena::input&))
//   BRAID_RELOAD_TYPE(arena::character)
//
// Both macros stand at namespace scope in a source file of the module, not in a header. They work
// without exceptions and without run-time type information, with g++ and clang on ELF systems.

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

// The linker defines these symbols if the section is in the file. They are weak because a module
// may have no record of one kind.
extern "C" {
extern const char __start_braid_reload_exports[] __attribute__((weak, visibility("hidden")));
extern const char __stop_braid_reload_exports[] __attribute__((weak, visibility("hidden")));
extern const char __start_braid_reload_types[] __attribute__((weak, visibility("hidden")));
extern const char __stop_braid_reload_types[] __attribute__((weak, visibility("hidden")));

/// The only symbol by which a host enters the module. It is the same in each source file of the
/// module.
__attribute__((used, visibility("default"))) inline void braid_reload_table(
    ::braid::reload::detail::module_table* shown) {
    *shown = {::braid::reload::export_format, sizeof(*shown),
              __start_braid_reload_exports,   __stop_braid_reload_exports,
              __start_braid_reload_types,     __stop_braid_reload_types};
}
}

// These attributes keep a record: `used` is for the compiler, `retain` for a linker that removes
// sections. The alignment is explicit because compilers align larger objects more, which would
// leave gaps.
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

/// Lets hosts call `function` by its name. If the name is qualified, hosts use its last part,
/// without namespaces. The function may be overloaded, but a module exports each name once. The
/// signature follows the name, and may use the typedefs and namespaces in scope.
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

/// Says how objects of a type are made, moved and destroyed. State that outlives a reload needs
/// this. The type must be complete. If a function `const char* reload_invariant(const T&)` is found
/// beside the type, it checks each migrated object, and a text that it returns refuses the reload.
/// See also modules::roll_back().
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

/// Says that a field of `type` that was named `from` in the previous code is `to` now. `to` is
/// another name, or the path of a nested member: BRAID_RELOAD_RENAMED(character, x, place.x).
#define BRAID_RELOAD_RENAMED(type, from, to) BRAID_RELOAD_RENAME_RECORD(type, #from, #to)
/// Says that a field of `type` in the previous code is none of the fields that were added, so it is
/// dropped.
#define BRAID_RELOAD_DROPPED(type, from) BRAID_RELOAD_RENAME_RECORD(type, #from, "")
/// Says that the whole name of `type` was `from` in the previous code, for example
/// "world::character".
#define BRAID_RELOAD_RENAMED_TYPE(type, from) BRAID_RELOAD_RENAME_RECORD(type, "", from)
