#pragma once
// The functions that a module exports, read from its file before any of it is loaded, and the one
// rule by which two signatures are the same.

#include "reload/image/image.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// A signature in both forms in which a record holds it.
struct signature {
    std::string text;     // as people write it, spelled by the compiler
    std::string mangled;  // empty without run-time type information

    /// By the mangled names where both have one: two compilers spell a type in two ways.
    bool operator==(const signature& other) const;
};

/// Takes the type out of what spelled() says, without spaces that only one compiler writes.
std::string type_in(std::string_view spelled);

/// The name in the std::type_info at that address; empty: there is none.
std::string name_of_type(const image& from, const loaded_word& type);

struct exported {
    std::string name;
    signature type;
    std::uint64_t address = 0;  // in the image
};

/// All exports, in the order of the file. A status: a record is damaged or of another format, or a
/// name stands there twice.
status read_exports(const image& from, std::vector<exported>& out);
const exported* find(const std::vector<exported>& all, std::string_view name);

}  // namespace reload::detail
BRAID_NAMESPACE_END
