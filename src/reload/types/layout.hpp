#pragma once
// How objects of a type lie in memory, as one side of a reload sees it, and what differs between
// two sides. Nothing here knows where it was read from.

#include "braid/base/version.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct field {
    std::string name;  // a base class: "base " and its type
    std::string type;
    std::uint64_t bit = 0;   // from the object's begin; an enumerator: its value
    std::uint64_t bits = 0;  // 0: not a bit-field
};

/// A class, union or enumeration with its definition.
struct layout {
    std::string name;
    std::uint64_t size = 0;
    bool enumeration = false;
    std::vector<field> fields;
};

/// By their whole names.
using type_table = std::map<std::string, layout, std::less<>>;

/// The first difference, as a sentence without its point; empty: none. `a_in`: for example "the
/// host".
std::string difference(const layout& a, const std::string& a_in, const layout& b,
                       const std::string& b_in);
/// The same of the types that both tables have.
std::string difference(const type_table& a, const std::string& a_in, const type_table& b,
                       const std::string& b_in);

}  // namespace reload::detail
BRAID_NAMESPACE_END
