#pragma once
// Defines the records that describe the exports, types and renames of a module. The macros in
// export.hpp write these records into the module's file, one for each use, and the host reads them.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// The version of the record format in this header. A host refuses a module with another version.
inline constexpr std::uint32_t export_format = 1;

namespace detail {

/// Returns a text that contains the full name of T, as the compiler spells it.
template <class T>
constexpr const char* spelled() {
    return __PRETTY_FUNCTION__;
}

/// The record of an exported function. `type` points to the std::type_info of the function type.
/// `type` is null without run-time type information. `signature` is the result of
/// spelled<Signature>().
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

/// The record of a type. Its functions make an object at an address, move an object to another
/// address, destroy an object and check an object. A function pointer is null if the type does not
/// support the operation.
struct type_record {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;  // the result of spelled() for the type
    const void* type;
    std::uint64_t size;
    std::uint64_t alignment;
    void (*construct)(void* at);
    void (*move)(void* to, void* from);  // does not destroy the object at `from`
    void (*destroy)(void* at);
    /// Returns a text that says what is wrong with the object, or null if nothing is wrong.
    const char* (*check)(const void* at);
};

/// The record of a renamed or dropped field, or of a renamed type. Hosts read it only from the
/// file, never from the loaded module.
struct rename_record {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;  // the result of spelled() for the type
    const void* type;
    const char* from;  // old name of a field; if empty, `to` is the old name of the type
    const char* to;    // new name or path of the field; if empty, the field is dropped
};

/// The table in which a module reports its records to the host. The linker has placed all records
/// of one kind next to each other. Each `_end` pointer marks the end of the records of its kind.
struct module_table {
    std::uint32_t format;
    std::uint32_t bytes;
    const char *exports, *exports_end;
    const char *types, *types_end;
};

}  // namespace detail
}  // namespace reload
BRAID_NAMESPACE_END
