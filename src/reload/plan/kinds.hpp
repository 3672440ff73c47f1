#pragma once
// What a plan asks about one side's types: which container a type is, whether two lie alike, and
// why a type cannot be followed.

#include "reload/plan/plan.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

enum class container : std::uint8_t {
    by_members,
    list,   // std::vector
    text,   // std::string
    maybe,  // std::optional
    own,    // std::unique_ptr
    other,  // of std, and not known here
};
container container_of(const type_graph& in, type_id type);

/// Virtual functions of its own or by a base class.
bool is_polymorphic(const type_graph& in, type_id type);
/// An object of such a class lies in it, or is owned by what lies in it.
bool holds_tables(const type_graph& in, type_id type);
/// A class of std that calls code which it was given: std::function, std::any, std::shared_ptr.
bool keeps_code(const type_graph& in, type_id type);
/// Bytes that mean the same anywhere: no pointers, no tables, nothing that is owned.
bool is_bytes(const type_graph& in, type_id type);
/// Up to the end of its last member: what derives from it may have a member in the rest.
std::uint64_t data_size(const type_graph& in, type_id type);
/// Whether both are of one template, with any arguments.
bool is_one_template(std::string_view a, std::string_view b);
/// False: a part of the name is missing, so that it names nothing on the other side.
inline bool is_whole(std::string_view name) {
    return name.find("(no name)") == std::string_view::npos;
}

/// Half a sentence as in "it " + text, and what to do; empty: its members say all there is.
std::string cannot_follow(const type_graph& in, type_id type);
/// What that says of a declaration.
std::string only_declared();
/// Whether that is so even where nothing moves: code that is pointed to is the old one.
bool is_code(type_kind kind);

/// Names without what compilers spell in two ways.
std::string even_name(std::string_view name);
const type_notes::record* record_of(const type_notes& notes, const std::string& type);

/// The name that the new side has for a type.
std::string name_after(const type_notes& notes, const std::string& before);

/// Offset of the bool that a std::optional has, from its begin.
std::optional<std::uint64_t> flag_of_optional(const type_graph& in, type_id type);

/// Whether two types lie alike in memory, with all that is in them; pointers are alike when the
/// names of what they point to are.
class likeness {
public:
    likeness(const type_graph& before, const type_graph& after, const type_notes& notes)
        : before_(before), after_(after), notes_(notes) {}
    bool operator()(type_id a, type_id b);

private:
    bool compare(type_id a, type_id b);
    const type_graph& before_;
    const type_graph& after_;
    const type_notes& notes_;
    std::map<std::pair<type_id, type_id>, bool> known_;
};

/// Holds pointers outside of containers that are known here, or containers that are not known.
bool holds_pointers(const type_graph& in, type_id type);

}  // namespace reload::detail
BRAID_NAMESPACE_END
