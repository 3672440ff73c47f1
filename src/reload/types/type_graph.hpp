#pragma once
// Types as one side of a reload sees them, with all that can be reached from them, each once. Where
// two sides are compared, each has a graph of its own.

#include "braid/base/version.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

enum class type_kind : std::uint8_t {
    nothing,  // void
    boolean,
    signed_number,
    unsigned_number,
    floating,
    pointer,  // and reference
    enumeration,
    record,
    array,
    union_of,
    function,
    member_pointer,
    lambda,
    declaration,  // what it holds is not known here
    unknown,
};

using type_id = std::uint32_t;

struct member {
    std::string name = {};  // of a base class: its type's
    type_id type = 0;
    std::uint64_t bit = 0;
    std::uint64_t bits = 0;  // 0: not a bit-field
    bool base = false;
    bool virtual_base = false;
};

struct enumerator {
    std::string name;
    std::int64_t value = 0;
};

struct type_node {
    type_kind kind = type_kind::nothing;
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
    type_id target = 0;       // of a pointer, an array, an enumeration
    std::uint64_t count = 0;  // of an array
    std::vector<member> members = {};
    std::vector<enumerator> values = {};
    std::vector<type_id> arguments = {};  // the types among those of a template
    bool polymorphic = false;             // has a virtual function of its own or by a base
};

/// Node 0 is void. A type with a whole name has one node, so that equal types have equal numbers.
struct type_graph {
    std::vector<type_node> nodes = {type_node{.name = "void"}};
    std::map<std::string, type_id, std::less<>> named;

    const type_node& operator[](type_id id) const { return nodes[id]; }
    const type_id* find(std::string_view name) const {
        const auto found = named.find(name);
        return found != named.end() ? &found->second : nullptr;
    }
};

inline bool is_number(type_kind kind) {
    return kind >= type_kind::boolean && kind <= type_kind::floating;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
