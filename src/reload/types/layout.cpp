#include "reload/types/layout.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

std::string place(const layout& of, const field& f) {
    if (of.enumeration) return "value " + std::to_string(static_cast<std::int64_t>(f.bit));
    const std::string bits =
        f.bits != 0 || f.bit % 8 != 0 ? ", bit " + std::to_string(f.bit % 8) : "";
    return "offset " + std::to_string(f.bit / 8) + bits;
}

/// What one side has and the other has not, or has elsewhere.
std::string difference_in(const layout& a, const std::string& a_in, const layout& b,
                          const std::string& b_in) {
    for (const field& theirs : b.fields) {
        const auto ours = std::ranges::find(a.fields, theirs.name, &field::name);
        const std::string name = b.name + "::" + theirs.name;
        if (ours == a.fields.end()) {
            return b.name + " has no '" + theirs.name + "' in " + a_in + ", " + place(b, theirs) +
                   " in " + b_in;
        }
        if (ours->type != theirs.type) {
            return name + " is " + ours->type + " in " + a_in + " and " + theirs.type + " in " +
                   b_in;
        }
        if (ours->bit != theirs.bit) {
            return name + " is at " + place(a, *ours) + " in " + a_in + " and at " +
                   place(b, theirs) + " in " + b_in;
        }
        if (ours->bits != theirs.bits) {
            return name + " has " + std::to_string(ours->bits) + " bits in " + a_in + " and " +
                   std::to_string(theirs.bits) + " in " + b_in;
        }
    }
    return "";
}

}  // namespace

std::string difference(const layout& a, const std::string& a_in, const layout& b,
                       const std::string& b_in) {
    std::string found = difference_in(a, a_in, b, b_in);
    if (found.empty() && a.fields.size() != b.fields.size()) {
        found = difference_in(b, b_in, a, a_in);
    }
    if (found.empty() && a.size != b.size) {
        found = a.name + " has " + std::to_string(a.size) + " bytes in " + a_in + " and " +
                std::to_string(b.size) + " in " + b_in;
    }
    return found;
}

std::string difference(const type_table& a, const std::string& a_in, const type_table& b,
                       const std::string& b_in) {
    for (const auto& [name, ours] : a) {
        const auto theirs = b.find(name);
        if (theirs == b.end()) continue;
        std::string found = difference(ours, a_in, theirs->second, b_in);
        if (!found.empty()) return found;
    }
    return "";
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
