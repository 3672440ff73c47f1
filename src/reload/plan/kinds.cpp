#include "reload/plan/kinds.hpp"

#include <algorithm>
#include <set>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

// Types of std with pointers inside that mean what other pointers mean.
constexpr std::string_view followed[] = {"std::pair<",
                                         "std::tuple<",
                                         "std::array<",
                                         "std::span<",
                                         "std::_Tuple_impl<",
                                         "std::_Head_base<",
                                         "std::reference_wrapper<",
                                         "std::basic_string_view<",
                                         "std::initializer_list<"};

bool begins(const std::string& name, std::string_view with) { return name.starts_with(with); }

bool in_name(char c) {
    return c == '_' || c == ':' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

bool has_default_argument(const type_node& node, std::string_view name) {
    return node.name.find(name) != std::string::npos;
}

/// The members of a union as fields; empty: it has none, or one whose type has no name.
std::string fields_of(const type_graph& in, const type_node& node) {
    std::string text;
    for (const member& m : node.members) {
        const std::string& type = in[m.type].name;
        if (m.name.empty() || !is_whole(type)) return "";
        const bool array = in[m.type].kind == type_kind::array;
        const std::size_t bounds = array ? std::min(type.find('['), type.size()) : type.size();
        text += (text.empty() ? ": " : " ") + type.substr(0, bounds) + " " + m.name +
                type.substr(bounds) + (m.bits != 0 ? " : " + std::to_string(m.bits) : "") + ";";
    }
    return text;
}

/// Whether anything in it needs more than its bytes.
bool holds_any(const type_graph& in, type_id id, bool (*wanted)(const type_graph&, type_id),
               std::set<type_id>& seen) {
    if (!seen.insert(id).second) return false;
    if (wanted(in, id)) return true;
    const type_node& node = in[id];
    if (node.kind == type_kind::array) return holds_any(in, node.target, wanted, seen);
    if (node.kind != type_kind::record) return false;
    return std::ranges::any_of(
        node.members, [&](const member& m) { return holds_any(in, m.type, wanted, seen); });
}

bool is_more_than_bytes(const type_graph& in, type_id id) {
    const type_node& node = in[id];
    return node.kind == type_kind::pointer || node.kind == type_kind::union_of ||
           node.kind == type_kind::declaration || node.kind == type_kind::unknown ||
           node.polymorphic || is_code(node.kind);
}

}  // namespace

container container_of(const type_graph& in, type_id type) {
    const type_node& node = in[type];
    if (node.kind != type_kind::record || !begins(node.name, "std::")) return container::by_members;
    const std::string& name = node.name;
    if (begins(name, "std::vector<")) {
        const bool usual = has_default_argument(node, "std::allocator<") &&
                           !begins(name, "std::vector<bool") && !node.arguments.empty() &&
                           node.size == 3 * sizeof(void*);
        return usual ? container::list : container::other;
    }
    if (begins(name, "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<")) {
        return container::text;
    }
    if (begins(name, "std::optional<") && !node.arguments.empty() && flag_of_optional(in, type)) {
        return container::maybe;
    }
    if (begins(name, "std::unique_ptr<") && !node.arguments.empty()) {
        const type_node& held = in[node.arguments[0]];
        const bool usual = has_default_argument(node, "std::default_delete<") &&
                           node.size == sizeof(void*) && held.kind != type_kind::array;
        return usual ? container::own : container::other;
    }
    for (const std::string_view one : followed) {
        if (begins(name, one)) return container::by_members;
    }
    std::set<type_id> seen;
    return holds_any(in, type, is_more_than_bytes, seen) ? container::other : container::by_members;
}

bool is_polymorphic(const type_graph& in, type_id type) {
    const type_node& node = in[type];
    if (node.kind != type_kind::record) return false;
    return node.polymorphic || std::ranges::any_of(node.members, [&in](const member& m) {
               return m.base && !m.virtual_base && is_polymorphic(in, m.type);
           });
}

bool is_one_template(std::string_view a, std::string_view b) {
    const std::size_t end = a.find('<');
    return end != std::string_view::npos && a.substr(0, end + 1) == b.substr(0, end + 1);
}

bool holds_tables(const type_graph& in, type_id type) {
    std::set<type_id> seen;  // a type may own objects of its own type
    const auto visit = [&](const auto& self, type_id id) -> bool {
        if (!seen.insert(id).second) return false;
        const type_node& node = in[id];
        if (node.kind == type_kind::array) return self(self, node.target);
        if (node.kind != type_kind::record) return false;
        if (is_polymorphic(in, id)) return true;
        if (container_of(in, id) != container::by_members) {
            return std::ranges::any_of(node.arguments,
                                       [&](type_id held) { return self(self, held); });
        }
        return std::ranges::any_of(
            node.members, [&](const member& m) { return !m.virtual_base && self(self, m.type); });
    };
    return visit(visit, type);
}

bool keeps_code(const type_graph& in, type_id type) {
    if (container_of(in, type) != container::other) return false;
    const auto is_code_here = [](const type_graph& g, type_id id) {
        if (is_code(g[id].kind)) return true;
        if (g[id].kind != type_kind::pointer) return false;
        const type_node& target = g[g[id].target];
        return target.kind == type_kind::function || target.name == "std::_Sp_counted_base" ||
               begins(target.name, "std::_Sp_counted_base<");
    };
    // What a container holds stands among its arguments only.
    std::set<type_id> seen, looked_at;
    const auto visit = [&](const auto& self, type_id id) -> bool {
        if (!seen.insert(id).second) return false;
        if (holds_any(in, id, is_code_here, looked_at)) return true;
        const type_node& node = in[id];
        if (node.kind == type_kind::array) return self(self, node.target);
        if (node.kind != type_kind::record) return false;
        const auto deeper = [&](type_id held) { return self(self, held); };
        return std::ranges::any_of(node.arguments, deeper) ||
               std::ranges::any_of(node.members, deeper, &member::type);
    };
    return visit(visit, type);
}

bool is_bytes(const type_graph& in, type_id a) {
    const type_node& node = in[a];
    if (is_number(node.kind) || node.kind == type_kind::enumeration) return true;
    if (node.kind == type_kind::array) return is_bytes(in, node.target) && node.count != 0;
    if (node.kind != type_kind::record || is_polymorphic(in, a)) return false;
    if (container_of(in, a) == container::maybe) return is_bytes(in, node.arguments[0]);
    if (container_of(in, a) != container::by_members) return false;
    return std::ranges::all_of(
        node.members, [&in](const member& m) { return !m.virtual_base && is_bytes(in, m.type); });
}

std::uint64_t data_size(const type_graph& in, type_id type) {
    const type_node& node = in[type];
    if (node.kind != type_kind::record || container_of(in, type) != container::by_members) {
        return node.size;
    }
    std::uint64_t end = 0;
    for (const member& m : node.members) {
        const std::uint64_t bits = m.bits != 0 ? m.bits : data_size(in, m.type) * 8;
        end = std::max(end, (m.bit + bits + 7) / 8);
    }
    return end;
}

std::string only_declared() {
    return "is only declared in the debug information: build with -femit-class-debug-always, or "
           "-fstandalone-debug of clang";
}

bool is_code(type_kind kind) {
    return kind == type_kind::function || kind == type_kind::member_pointer ||
           kind == type_kind::lambda;
}

std::string cannot_follow(const type_graph& in, type_id type) {
    const type_node& node = in[type];
    switch (node.kind) {
        case type_kind::union_of:
            return "is a union, of which nothing says which member it holds: write a field for "
                   "each of its members in its place" +
                   fields_of(in, node);
        case type_kind::lambda:
            return "is a lambda, whose code is the old one: keep an enumerator and look the code "
                   "up";
        case type_kind::function:
            return "is a function";
        case type_kind::member_pointer:
            return "is a pointer to a member: keep an enumerator instead";
        case type_kind::declaration:
            return only_declared();
        case type_kind::unknown:
            return "is of a kind that is not known here";
        case type_kind::pointer:
            if (in[node.target].kind != type_kind::function) return "";
            return "is a function pointer, whose code is the old one: keep an enumerator and look "
                   "the code up";
        case type_kind::array:
            return node.count == 0 ? "is an array without a size" : "";
        case type_kind::record:
            break;
        default:
            return "";
    }
    for (const member& m : node.members) {
        if (m.virtual_base) return "has a virtual base class, '" + m.name + "'";
    }
    if (container_of(in, type) != container::other) return "";
    if (keeps_code(in, type)) {
        return "keeps code of the module that filled it, which is the old one: keep an enumerator "
               "and look the code up, or make the object in the arena and keep a pointer";
    }
    if (holds_tables(in, type)) {
        return "holds objects with virtual functions, whose code is the old one: make them in the "
               "arena and keep pointers";
    }
    return "is a container that is not known here; if its elements do not change, this line in the "
           "module lets it go over by its own mover: BRAID_RELOAD_TYPE(" +
           node.name + ")";
}

std::string even_name(std::string_view name) {
    std::string text(name);
    const auto replace = [&text](std::string_view what, std::string_view with) {
        for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
            text.replace(at, what.size(), with);
            at += with.size();
        }
    };
    replace("long unsigned int", "unsigned long");
    replace("short unsigned int", "unsigned short");
    replace("long int", "long");
    replace("short int", "short");
    replace("const", "");
    replace("(anonymous namespace)", "{anonymous}");
    replace(" ", "");
    return text;
}

const type_notes::record* record_of(const type_notes& notes, const std::string& type) {
    const auto found = std::ranges::find_if(notes.records, [&](const type_notes::record& one) {
        return one.type == type || even_name(one.type) == even_name(type);
    });
    return found != notes.records.end() ? &*found : nullptr;
}

std::string name_after(const type_notes& notes, const std::string& before) {
    std::string name = before;
    for (const type_notes::rename& one : notes.renames) {
        if (!one.from.empty() || one.to.empty()) continue;
        if (one.to == before) return one.type;
        // The type may be the argument of a template.
        for (std::size_t at = 0; (at = name.find(one.to, at)) != std::string::npos;) {
            const std::size_t end = at + one.to.size();
            const bool begins = at == 0 || !in_name(name[at - 1]);
            if (begins && (end == name.size() || !in_name(name[end]))) {
                name.replace(at, one.to.size(), one.type);
                at += one.type.size();
            } else {
                at = end;
            }
        }
    }
    return name;
}

std::optional<std::uint64_t> flag_of_optional(const type_graph& in, type_id type) {
    for (const member& m : in[type].members) {
        if (m.name == "_M_engaged") return m.bit / 8;
        if (in[m.type].kind != type_kind::record) continue;
        if (const auto inner = flag_of_optional(in, m.type)) return m.bit / 8 + *inner;
    }
    return {};
}

bool likeness::operator()(type_id a, type_id b) {
    const auto [at, fresh] = known_.try_emplace({a, b}, true);
    if (fresh) {
        const bool alike = compare(a, b);
        known_[{a, b}] = alike;
        return alike;
    }
    return at->second;
}

bool likeness::compare(type_id a, type_id b) {
    const type_node& before = before_[a];
    const type_node& after = after_[b];
    if (before.kind != after.kind || before.size != after.size) return false;
    switch (before.kind) {
        case type_kind::declaration:
            return false;
        case type_kind::pointer:
            return name_after(notes_, before_[before.target].name) == after_[after.target].name;
        case type_kind::enumeration:
            return std::ranges::all_of(before.values, [&after](const enumerator& one) {
                const auto found = std::ranges::find(after.values, one.name, &enumerator::name);
                return found != after.values.end() && found->value == one.value;
            });
        case type_kind::array:
            return before.count == after.count && (*this)(before.target, after.target);
        case type_kind::record:
        case type_kind::union_of:
            break;
        default:
            return true;
    }
    if (before.members.size() != after.members.size() || before.polymorphic != after.polymorphic ||
        before.arguments.size() != after.arguments.size()) {
        return false;
    }
    for (std::size_t i = 0; i < before.members.size(); ++i) {
        const member& m = before.members[i];
        const member& n = after.members[i];
        if (m.name != n.name || m.bit != n.bit || m.bits != n.bits || !(*this)(m.type, n.type)) {
            return false;
        }
    }
    // What a container holds on the heap.
    if (!begins(before.name, "std::")) return true;
    for (std::size_t i = 0; i < before.arguments.size(); ++i) {
        const type_node& argument = before_[before.arguments[i]];
        // A function object that only calls are made with, and no object lies anywhere.
        if (argument.kind == type_kind::declaration && begins(argument.name, "std::")) continue;
        if (!(*this)(before.arguments[i], after.arguments[i])) return false;
    }
    return true;
}

bool holds_pointers(const type_graph& in, type_id type) {
    std::set<type_id> seen;
    const auto wanted = [](const type_graph& g, type_id id) {
        const type_node& node = g[id];
        if (container_of(g, id) == container::other) return true;
        return node.kind == type_kind::pointer || is_code(node.kind);
    };
    // Not into known containers, whose own pointers are their business.
    const auto visit = [&](const auto& self, type_id id) -> bool {
        if (!seen.insert(id).second) return false;
        const container kind = container_of(in, id);
        if (kind == container::text) return false;
        if (kind != container::by_members && kind != container::other) {
            return self(self, in[id].arguments[0]);
        }
        if (wanted(in, id)) return true;
        const type_node& node = in[id];
        if (node.kind == type_kind::array) return self(self, node.target);
        if (node.kind != type_kind::record) return false;
        return std::ranges::any_of(node.members,
                                   [&](const member& m) { return self(self, m.type); });
    };
    return visit(visit, type);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
