#pragma once
// What a plan is compiled to: for each pair of an old and a new type a flat list of operations,
// which an interpreter runs over memory.

#include "reload/types/type_graph.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

enum class action : std::uint8_t {
    copy,       // `size` bytes
    construct,  // the new type's constructor; `index` in records. `program` frees what it has put
                // into fields that are filled next, `said` what it has put into new ones
    number,     // from one scalar to another, checked
    bits,       // the same, where one side is a bit-field
    enumerate,  // by names: `index` in enumerations
    point,      // a pointer or reference: `index` in pointers
    repeat,     // `size` times `program`: elements of an array
    list,       // std::vector: `program` for its elements
    text,       // std::string
    maybe,      // std::optional: `program` for its value; `index` in optionals
    own,        // std::unique_ptr: `program` for what it points to
    move,       // by the type's own mover: `index` in records
    blank,      // an empty std::string, where zeros are none
    drop_text,  // what a dropped field owns is freed
    drop_list,  // `program`: of the elements
    drop_own,
    drop_maybe,  // `size`: where it says whether there is a value
    drop_repeat,
};

/// How a number lies in memory.
struct scalar {
    type_kind kind = type_kind::nothing;
    std::uint8_t bytes = 0;
    std::uint8_t shift = 0, bits = 0;  // bits 0: not a bit-field
    bool operator==(const scalar&) const = default;
};

inline constexpr std::uint32_t none = UINT32_MAX;

struct operation {
    action what = action::copy;
    std::uint64_t from = 0, to = 0;  // bytes from the begin of the old and of the new object
    std::uint64_t size = 0;
    std::uint32_t program = none;
    std::uint32_t index = none;
    std::uint32_t said = none;  // index in `names`: the field, for messages
    scalar from_number = {}, to_number = {};
};

/// A part of an object as pointers into it see it; `count` of them in a row.
struct piece {
    std::uint64_t from = 0, from_size = 0, to = 0, to_size = 0;
    std::uint64_t count = 1, to_count = 1;
    type_id type = 0, to_type = 0;
    std::uint32_t program = none;  // none: nothing in it is a target of its own
    bool row = false;              // elements of an array
};

/// From objects of one type to objects of another.
struct program {
    std::string name;     // of the old type
    std::string to_name;  // of the new one
    type_id from_type = 0, to_type = 0;
    std::uint64_t from_size = 0, to_size = 0;
    std::uint64_t from_alignment = 1, to_alignment = 1;
    bool same = false;   // both lie alike
    bool plain = false;  // one copy does it, for any number of them in a row
    std::vector<operation> steps;
    std::vector<piece> pieces;
    std::uint32_t drop = none;  // the program that frees what an old object owns
    std::uint32_t record = none;
    /// Why objects of this type cannot go over; empty: they can.
    std::string refused;
};

struct pointer_rule {
    type_id target = 0;        // in the old graph
    bool target_moves = true;  // false: what is outside of the state looks the same to both
    std::string target_name;
};

struct enumeration_rule {
    std::string name;
    std::uint64_t from_bytes = 0, to_bytes = 0;
    std::map<std::int64_t, std::int64_t> values = {};
    std::map<std::int64_t, std::string> lost = {};  // enumerators that the new type lacks
};

/// Where a std::optional says whether it has a value, which lies at its begin.
struct optional_rule {
    std::uint64_t from_flag = 0, to_flag = 0;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
