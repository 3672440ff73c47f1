#pragma once
// A graph of types from the debug information of one or more files.

#include "reload/dwarf/debug_info.hpp"
#include "reload/types/type_graph.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// The types with these names and all that is reached from them. Each is taken from the first file
/// that defines it; a name that none defines is not in the result. "int", "unsigned long", "T*" and
/// the like need no file.
type_graph read_graph(std::span<debug_info* const> files, const std::vector<std::string>& names);

/// The types that the code of this file puts into a reload::arena: what its functions root, make
/// and make_array were instantiated for. By name, each once.
std::vector<std::string> types_in_arenas(const debug_info& file);

/// Whether the file defines one of these types.
bool knows_any(const debug_info& file, const std::vector<std::string>& names);

/// Why this file may lack types, in half a sentence as in "it " + text; empty: nothing is known.
std::string why_types_lack(const debug_info& file);

}  // namespace reload::detail
BRAID_NAMESPACE_END
