#pragma once
// What a module's file says about its types, and which of its variables begin anew with it.

#include "reload/image/image.hpp"
#include "reload/types/type_notes.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// The records that BRAID_RELOAD_TYPE, BRAID_RELOAD_RENAMED and the like leave.
status read_type_notes(const image& from, type_notes& out);

/// A mangled name as people write it; "": it is none.
std::string readable(const std::string& mangled);
/// A type's whole name as the debug information has it, from what a record holds.
std::string record_name(std::string_view spelled, const std::string& mangled);

/// Variables of static storage that are not constant, by their names in the program; those of
/// compilers and of this library are left out. None for a file without a table of symbols.
std::vector<std::string> variables_of(const image& from);
/// A line for each.
std::string statics_text(const std::vector<std::string>& variables);

}  // namespace reload::detail
BRAID_NAMESPACE_END
