#pragma once
// What a module's file says of its exports: one record for each, which export.hpp writes and the
// host reads.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// The version of the records below. A host refuses a module that has another one.
inline constexpr std::uint32_t export_format = 1;

namespace detail {

/// Text that has the type's whole name in it, spelled by the compiler.
template <class T>
constexpr const char* spelled() {
    return __PRETTY_FUNCTION__;
}

/// The function of an export. `type` is a std::type_info, or null without run-time type
/// information; `signature` is what spelled() says.
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

/// How objects of a type are made at an address, moved to another and destroyed; null where the
/// type cannot.
struct type_record {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;  // what spelled() says
    const void* type;
    std::uint64_t size;
    std::uint64_t alignment;
    void (*construct)(void* at);
    void (*move)(void* to, void* from);  // `from` stays an object
    void (*destroy)(void* at);
    /// What is wrong with an object; null: nothing.
    const char* (*check)(const void* at);
};

/// What became of a field or of a type's name; read from the file only.
struct rename_record {
    std::uint32_t format;
    std::uint32_t bytes;
    const char* name;  // of the type: what spelled() says
    const void* type;
    const char* from;  // a field's old name; empty: the type's old name is `to`
    const char* to;    // the field's name or path; empty: it is dropped
};

/// What a module shows: the records that its linker has put side by side.
struct module_table {
    std::uint32_t format;
    std::uint32_t bytes;
    const char *exports, *exports_end;
    const char *types, *types_end;
};

}  // namespace detail
}  // namespace reload
BRAID_NAMESPACE_END
