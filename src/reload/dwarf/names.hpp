#pragma once
// Names of types as they are compared: whole, without typedefs, and the same from each compiler.

#include "braid/base/version.hpp"

#include <elfutils/libdw.h>

#include <string>
#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// What stands for a name that is missing.
inline constexpr const char* nameless = "(no name)";

/// The entry that DW_AT_type leads to; false: void.
bool type_of(Dwarf_Die& user, Dwarf_Die& out);

/// For example "arena::character", "const float*", "int[4]".
std::string type_name(Dwarf_Die& type);

/// Without the spaces that only one compiler writes.
std::string tidied(std::string_view name);
void add_tidied(std::string& to, std::string_view name);

/// False: a part of it has no name, so that it names nothing in another file.
bool is_whole_name(std::string_view name);

}  // namespace reload::detail
BRAID_NAMESPACE_END
