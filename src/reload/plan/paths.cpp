#include "reload/plan/paths.hpp"

#include "reload/plan/kinds.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// C++ finds it so: what a class says itself hides what its base classes have.
std::optional<member> named(const type_graph& in, type_id type, std::string_view name) {
    if (name.empty() || !has_parts(in, type)) return {};
    const std::vector<member>& own = in[type].members;
    const auto found =
        std::ranges::find_if(own, [name](const member& m) { return m.name == name && !m.base; });
    if (found != own.end()) return *found;
    for (const member& m : own) {
        if (!m.base && !m.name.empty()) continue;
        std::optional<member> inner = named(in, m.type, name);
        if (!inner) continue;
        inner->bit += m.bit;
        return inner;
    }
    return {};
}

}  // namespace

bool has_parts(const type_graph& in, type_id type) {
    return in[type].kind == type_kind::record && container_of(in, type) == container::by_members &&
           cannot_follow(in, type).empty();
}

std::optional<member> member_at(const type_graph& in, type_id type, std::string_view path) {
    const std::size_t end = path.find('.');
    std::optional<member> found = named(in, type, path.substr(0, end));
    if (found && end != std::string_view::npos) {
        const std::uint64_t bit = found->bit;
        found = member_at(in, found->type, path.substr(end + 1));
        if (found) found->bit += bit;
    }
    if (found) found->name = path;
    return found;
}

std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

std::string path_into(const std::string& path, const member& m) {
    return m.base || m.name.empty() ? path : joined(path, m.name);
}

bool has_place(const std::vector<member>& in, const member& wanted) {
    return std::ranges::any_of(in, [&](const member& m) { return same_place(m, wanted); });
}

bool any_within(const type_graph& in, const std::vector<member>& any, const member& whole) {
    const std::uint64_t bits = whole.bits != 0 ? whole.bits : data_size(in, whole.type) * 8;
    return std::ranges::any_of(
        any, [&](const member& m) { return m.bit >= whole.bit && m.bit < whole.bit + bits; });
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
