#pragma once
// Decides how state goes from old types to new ones, or why it cannot: a pure function of two
// graphs of types, which reads neither files nor memory.

#include "reload/plan/program.hpp"
#include "reload/types/type_notes.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

enum class fate : std::uint8_t {
    same,
    moved,
    changed,
    renamed,
    resized,
    added,
    dropped,
    refused,
    asked,  // dropped, or renamed to one that was added?
};

/// One line of the table.
struct plan_row {
    std::string type, field;
    fate what = fate::same;
    std::string text;
    bool operator==(const plan_row&) const = default;
};

struct migration_plan {
    std::vector<plan_row> rows;  // without those that stay the same
    /// Half a sentence for each reason; empty: the state can go over.
    std::vector<std::string> refused;
    /// False: all types lie as they did, so that the state stays where it is.
    bool moves = false;

    std::vector<program> programs;
    std::map<std::string, std::uint32_t, std::less<>> roots;  // by the old type's name
    std::vector<pointer_rule> pointers;
    std::vector<enumeration_rule> enumerations;
    std::vector<optional_rule> optionals;
    std::vector<std::string> records;  // names of types whose BRAID_RELOAD_TYPE is needed
    std::vector<std::string> names;    // of fields
};

/// `reach`: also types that only pointers lead to. Otherwise those are not looked into, because
/// each object in an arena is a root or was made with its type.
migration_plan make_plan(const type_graph& before, const type_graph& after,
                         const std::vector<std::string>& roots, const type_notes& notes,
                         bool reach);

/// The table as text, with a line for each row; empty without rows.
std::string table_of(const migration_plan& plan);

}  // namespace reload::detail
BRAID_NAMESPACE_END
