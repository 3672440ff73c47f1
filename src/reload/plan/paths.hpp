#pragma once
// Members of members, by a path as a program writes it: "place.x". A base class and a struct
// without a name add nothing to a path, because C++ finds what is in them without it.

#include "reload/types/type_graph.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// A class whose members lie in it under their own names, so that a path may lead through it.
bool has_parts(const type_graph& in, type_id type);

/// The member at that path. Its name is the path, and its place is counted from the begin of
/// `type`. None: there is no such member, or the path leads through more than structs.
std::optional<member> member_at(const type_graph& in, type_id type, std::string_view path);

/// "place" and "x": "place.x".
std::string joined(const std::string& path, const std::string& name);
/// The path of what is in a member.
std::string path_into(const std::string& path, const member& m);

/// Both are the same part of an object.
inline bool same_place(const member& a, const member& b) {
    return a.bit == b.bit && a.type == b.type && a.bits == b.bits;
}
bool has_place(const std::vector<member>& in, const member& wanted);
/// Whether any of them is `whole` or a part of it.
bool any_within(const type_graph& in, const std::vector<member>& any, const member& whole);

}  // namespace reload::detail
BRAID_NAMESPACE_END
