// An entry becomes a node when it is met, and is filled in later: types lead to each other in
// circles, and chains of them are long.
#include "reload/dwarf/graph.hpp"

#include "reload/dwarf/entries.hpp"

#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

constexpr int most_depth = 64;

type_kind kind_of_number(std::uint64_t encoding) {
    switch (encoding) {
        case DW_ATE_boolean:
            return type_kind::boolean;
        case DW_ATE_signed:
        case DW_ATE_signed_char:
            return type_kind::signed_number;
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_UTF:
            return type_kind::unsigned_number;
        case DW_ATE_float:
            return type_kind::floating;
        default:
            return type_kind::unknown;
    }
}

struct plain_number {
    const char* name;
    type_kind kind;
    std::uint64_t size;
};
constexpr plain_number plain_numbers[] = {
    {"bool", type_kind::boolean, 1},
    {"char", type_kind::signed_number, 1},
    {"signed char", type_kind::signed_number, 1},
    {"unsigned char", type_kind::unsigned_number, 1},
    {"short", type_kind::signed_number, 2},
    {"unsigned short", type_kind::unsigned_number, 2},
    {"int", type_kind::signed_number, 4},
    {"unsigned int", type_kind::unsigned_number, 4},
    {"long", type_kind::signed_number, 8},
    {"unsigned long", type_kind::unsigned_number, 8},
    {"float", type_kind::floating, 4},
    {"double", type_kind::floating, 8},
};

/// The kind of entry in which this one stands; none where libdw does not know.
int outer_tag(Dwarf_Die& type) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&type, &scopes);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned(scopes, &std::free);
    return count > 1 ? dwarf_tag(&scopes[1]) : DW_TAG_invalid;
}

bool has_lambda_name(Dwarf_Die& type) {
    const char* const own = dwarf_diename(&type);
    return own != nullptr && std::string_view(own).starts_with("<lambda");
}

/// clang gives a lambda no name, and leaves out what is not called. A part of a class may have no
/// name, too, but stands in that class.
bool is_in_class(Dwarf_Die& type) {
    const int tag = outer_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_invalid;
}

bool is_table_pointer(Dwarf_Die& child) {
    const char* const name = dwarf_diename(&child);
    return name != nullptr && std::string_view(name).starts_with("_vptr");
}

class builder {
public:
    builder(std::span<debug_info* const> files, type_graph& out) : files_(files), out_(out) {}

    void want(const std::string& name) {
        const type_id id = by_name(name);
        if (id != 0) out_.named.emplace(name, id);
        fill_open();
    }
    void finish() {
        for (type_id id = 0; id < out_.nodes.size(); ++id) align(id);
    }

private:
    type_id by_name(const std::string& name) {
        if (name.ends_with('*')) {
            const type_id target = by_name(name.substr(0, name.size() - 1));
            return target != 0 || name == "void*" ? pointer_to(target) : 0;
        }
        if (name.ends_with("long long")) return by_name(name.substr(0, name.size() - 5));
        for (const plain_number& one : plain_numbers) {
            if (name == one.name) return number(one.name, one.kind, one.size);
        }
        const Dwarf_Die* const found = defined(name);
        if (found == nullptr) return 0;
        Dwarf_Die die = *found;
        return id_of(die);
    }
    std::string name_of(Dwarf_Die& die) {
        for (const debug_info* file : files_) {
            if (const std::string* const name = file->entries().known_name(die)) return *name;
        }
        return type_name(die);
    }
    const Dwarf_Die* defined(const std::string& name) {
        for (const debug_info* file : files_) {
            if (const Dwarf_Die* const found = file->entries().find(name)) return found;
        }
        return nullptr;
    }

    type_id add(type_node node) {
        out_.nodes.push_back(std::move(node));
        return static_cast<type_id>(out_.nodes.size() - 1);
    }
    type_id number(const std::string& name, type_kind kind, std::uint64_t size) {
        const auto [at, fresh] = by_whole_name_.try_emplace(name, 0);
        if (fresh) at->second = add({.kind = kind, .name = name, .size = size, .alignment = size});
        return at->second;
    }
    type_id pointer_to(type_id target) {
        const auto [at, fresh] = pointers_.try_emplace(target, 0);
        if (fresh) {
            at->second = add({.kind = type_kind::pointer,
                              .name = out_[target].name + "*",
                              .size = sizeof(void*),
                              .alignment = sizeof(void*),
                              .target = target});
        }
        return at->second;
    }
    type_id array_of(type_id target, std::uint64_t count) {
        const auto [at, fresh] = arrays_.try_emplace({target, count}, 0);
        if (fresh) {
            at->second = add({.kind = type_kind::array,
                              .name = out_[target].name + "[" + std::to_string(count) + "]",
                              .target = target,
                              .count = count});
        }
        return at->second;
    }
    type_id array(Dwarf_Die& die, type_id target) {
        std::vector<std::uint64_t> counts;
        for_each_child(die, [&counts](Dwarf_Die& child) {
            if (dwarf_tag(&child) != DW_TAG_subrange_type) return;
            std::uint64_t count = number_of(child, DW_AT_count, UINT64_MAX);
            // Nothing stands there for an array without a size, and 0 is as good.
            if (count == UINT64_MAX) count = number_of(child, DW_AT_upper_bound, UINT64_MAX) + 1;
            counts.push_back(count);
        });
        for (auto count = counts.rbegin(); count != counts.rend(); ++count) {
            target = array_of(target, *count);
        }
        return target;
    }

    type_id target_of(Dwarf_Die& die, int depth) {
        Dwarf_Die target;
        if (!type_of(die, target)) return 0;
        return id_of(target, depth + 1);
    }
    type_id id_of(Dwarf_Die& die, int depth = 0) {
        if (depth > most_depth) return 0;  // damaged entries may lead in a circle
        switch (dwarf_tag(&die)) {
            case DW_TAG_typedef:
            case DW_TAG_const_type:
            case DW_TAG_volatile_type:
            case DW_TAG_restrict_type:
            case DW_TAG_atomic_type:
                return target_of(die, depth);
            case DW_TAG_pointer_type:
            case DW_TAG_reference_type:
            case DW_TAG_rvalue_reference_type:
                return pointer_to(target_of(die, depth));
            case DW_TAG_array_type:
                return array(die, target_of(die, depth));
            case DW_TAG_base_type:
                return number(type_name(die), kind_of_number(number_of(die, DW_AT_encoding)),
                              number_of(die, DW_AT_byte_size));
            default:
                return named(die);
        }
    }
    type_id named(Dwarf_Die& user) {
        Dwarf_Die die = definition_of(user);
        const auto known = by_entry_.find(die.addr);
        if (known != by_entry_.end()) return known->second;
        const std::string name = name_of(die);
        const bool whole = is_whole_name(name);
        if (whole) {
            if (const auto same = by_whole_name_.find(name); same != by_whole_name_.end()) {
                return same->second;
            }
        }
        Dwarf_Die body = die;
        if (dwarf_hasattr(&die, DW_AT_declaration) != 0 && whole) {
            // Another unit, or another file, may define it.
            if (const Dwarf_Die* const found = defined(name)) body = *found;
        }
        type_kind kind = kind_of(body);
        if (kind == type_kind::record && name == nameless && !is_in_class(body)) {
            kind = type_kind::lambda;
        }
        const type_id id = add({.kind = kind, .name = name});
        by_entry_.emplace(die.addr, id);
        if (whole) by_whole_name_.emplace(name, id);
        open_.emplace_back(id, body);
        return id;
    }
    static type_kind kind_of(Dwarf_Die& die) {
        if (dwarf_hasattr(&die, DW_AT_declaration) != 0) return type_kind::declaration;
        switch (dwarf_tag(&die)) {
            case DW_TAG_structure_type:
            case DW_TAG_class_type:
                return has_lambda_name(die) ? type_kind::lambda : type_kind::record;
            case DW_TAG_union_type:
                return type_kind::union_of;
            case DW_TAG_enumeration_type:
                return type_kind::enumeration;
            case DW_TAG_subroutine_type:
                return type_kind::function;
            case DW_TAG_ptr_to_member_type:
                return type_kind::member_pointer;
            default:
                return type_kind::unknown;  // decltype(nullptr), for example
        }
    }

    void fill_open() {
        while (!open_.empty()) {
            auto [id, die] = open_.back();
            open_.pop_back();
            fill(id, die);
        }
    }
    void fill(type_id id, Dwarf_Die& die) {
        type_node node = out_[id];  // a copy: nodes move while others are added
        node.size = number_of(die, DW_AT_byte_size);
        node.alignment = number_of(die, DW_AT_alignment, 1);
        if (node.kind == type_kind::declaration || node.kind == type_kind::function) return;
        if (node.kind == type_kind::enumeration) node.target = target_of(die, 0);
        for_each_child(die, [&](Dwarf_Die& child) { fill_child(node, child); });
        out_.nodes[id] = std::move(node);
    }
    void fill_child(type_node& node, Dwarf_Die& child) {
        const int tag = dwarf_tag(&child);
        const char* const own = dwarf_diename(&child);
        if (tag == DW_TAG_enumerator) {
            node.values.push_back({own != nullptr ? own : "", enumerator_value(child)});
        } else if (tag == DW_TAG_template_type_parameter) {
            node.arguments.push_back(target_of(child, 0));
        } else if (is_member(child) && is_table_pointer(child)) {
            node.polymorphic = true;
        } else if (is_member(child)) {
            member m;
            m.type = target_of(child, 0);
            m.base = tag == DW_TAG_inheritance;
            m.name = m.base ? out_[m.type].name : own != nullptr ? own : "";
            m.virtual_base = m.base && number_of(child, DW_AT_virtuality) != 0;
            if (!m.virtual_base) m.bit = first_bit(child);
            m.bits = number_of(child, DW_AT_bit_size);
            node.alignment = std::max(node.alignment, number_of(child, DW_AT_alignment, 1));
            node.members.push_back(std::move(m));
        }
    }

    /// Alignment is written down only where a program asks for one.
    std::uint64_t align(type_id id) {
        if (id < aligned_.size() && aligned_[id]) return out_[id].alignment;
        aligned_.resize(out_.nodes.size());
        aligned_[id] = true;
        type_node& node = out_.nodes[id];
        std::uint64_t alignment = node.alignment;
        if (node.kind == type_kind::array) {
            alignment = std::max(alignment, align(node.target));
            node.size = out_[node.target].size * node.count;
        } else if (node.kind == type_kind::enumeration) {
            alignment = std::max(alignment, node.size);
        } else if (node.kind == type_kind::record || node.kind == type_kind::union_of) {
            if (node.polymorphic) alignment = std::max(alignment, sizeof(void*));
            for (const member& m : node.members) alignment = std::max(alignment, align(m.type));
        }
        return node.alignment = alignment;
    }

    std::span<debug_info* const> files_;
    type_graph& out_;
    std::unordered_map<std::string, type_id> by_whole_name_;
    std::unordered_map<void*, type_id> by_entry_;
    std::unordered_map<type_id, type_id> pointers_;
    std::map<std::pair<type_id, std::uint64_t>, type_id> arrays_;
    std::vector<std::pair<type_id, Dwarf_Die>> open_;
    std::vector<bool> aligned_;
};

void arena_functions(debug_entries& entries, Dwarf_Die& arena, std::vector<std::string>& out) {
    for_each_child(arena, [&](Dwarf_Die& child) {
        const char* const own = dwarf_diename(&child);
        if (dwarf_tag(&child) != DW_TAG_subprogram || own == nullptr) return;
        const std::string_view name(own);
        if (!name.starts_with("root<") && !name.starts_with("make<") &&
            !name.starts_with("make_array<")) {
            return;
        }
        bool first = true;
        for_each_child(child, [&](Dwarf_Die& argument) {
            Dwarf_Die type;
            if (dwarf_tag(&argument) != DW_TAG_template_type_parameter || !first) return;
            first = false;
            if (!type_of(argument, type)) return;
            Dwarf_Die whole = definition_of(type);
            out.push_back(entries.name_of(whole));
        });
    });
}

/// Goes into the namespaces braid, its version and reload.
void find_arena(debug_entries& entries, Dwarf_Die& scope, int depth,
                std::vector<std::string>& out) {
    for_each_child(scope, [&](Dwarf_Die& child) {
        const bool space = dwarf_tag(&child) == DW_TAG_namespace;
        if (!space && depth == 0) return;  // most are such, and a name costs more to find
        // With -fdebug-types-section the class is a declaration beside what this unit instantiated,
        // and clang gives it no name.
        Dwarf_Die whole = space ? child : definition_of(child);
        const char* const own = dwarf_diename(&whole);
        const std::string_view name = own != nullptr ? own : "";
        if (space && (depth > 0 || name == "braid")) {
            if (depth < 3) find_arena(entries, child, depth + 1, out);
        } else if (depth > 0 && !space && name == "arena") {
            arena_functions(entries, child, out);
        }
    });
}

}  // namespace

type_graph read_graph(std::span<debug_info* const> files, const std::vector<std::string>& names) {
    type_graph out;
    builder own(files, out);
    for (const std::string& name : names) own.want(name);
    own.finish();
    return out;
}

std::vector<std::string> types_in_arenas(const debug_info& file) {
    std::vector<std::string> names;
    file.entries().for_each_unit(
        [&](Dwarf_Die& unit) { find_arena(file.entries(), unit, 0, names); });
    std::ranges::sort(names);
    const auto same = std::ranges::unique(names);
    names.erase(same.begin(), same.end());
    return names;
}

bool knows_any(const debug_info& file, const std::vector<std::string>& names) {
    return std::ranges::any_of(
        names, [&file](const std::string& name) { return file.entries().find(name) != nullptr; });
}

std::string why_types_lack(const debug_info& file) {
    const std::string missing = file.entries().missing_part();
    if (!missing.empty()) {
        return "needs '" + missing + "' (-gsplit-dwarf), which is not there: keep it beside";
    }
    file.entries().make_index();
    if (!file.entries().has_types()) {
        return "describes no types: build it with -g, not -g1";
    }
    const std::string little = file.entries().little_part();
    return little.empty() ? ""
                          : "describes no types of '" + little + "': build that with -g, not -g1";
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
