#pragma once
// What a module's file says of its exports, types and renames. export.hpp writes one record for
// each, and the host reads the records.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// The version of the records below. A host refuses a module with another version.
inline constexpr std::uint32_t export_format = 1;

namespace detail {

/// Returns a text that contains the whole name of the type, as the compiler spells it.
template <class T>
constexpr const char* spelled() {
    return __PRETTY_FUNCTION__;
}

/// The record of an exported function. `type` is its std::type_info, or null without run-time type
/// information. `signature` is what spelled() returns.
template <class Signature>
struct export_of {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;
    const char* signature;
    const void* type;
    Signature* function;
};
using export_record = export_of<void()>;
static_assert(sizeof(export_record) == 40);

/// The record of a type: how its objects are made at an address, moved to another address and
/// destroyed. A function is null if the type does not support it.
struct type_record {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;  // what spelled() returns
    const void* type;
    std::uint64_t size;
    std::uint64_t alignment;
    void (*construct)(void* at);
    void (*move)(void* to, void* from);  // `from` stays an object
    void (*destroy)(void* at);
    /// Returns what is wrong with an object, or null if nothing is wrong.
    const char* (*check)(const void* at);
};

/// The record of a renamed or dropped field, or of a renamed type. Hosts read it from the file
/// only.
struct rename_record {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;  // of the type, as spelled() returns it
    const void* type;
    const char* from;  // a field's old name; if empty, `to` is the type's old name
    const char* to;    // the field's new name or path; if empty, the field is dropped
};

/// The table that a module shows to the host: the records that the linker has put side by side.
struct module_table {
    std::uint32_t format;
    std::uint32_t bytes;
    const char *exports, *exports_end;
    const char *types, *types_end;
};

}  // namespace detail
}  // namespace reload
BRAID_NAMESPACE_END
