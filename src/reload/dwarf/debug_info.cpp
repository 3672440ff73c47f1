// Types reach each other by references between entries, so an entry's offset names a type while
// its file is walked, and its whole name does between two files.
#include "reload/dwarf/debug_info.hpp"

#include "reload/dwarf/entries.hpp"

#include <algorithm>
#include <optional>
#include <set>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

field field_of(Dwarf_Die& member) {
    field f;
    if (dwarf_tag(&member) == DW_TAG_enumerator) {
        const char* const own = dwarf_diename(&member);
        return {own != nullptr ? own : "", "enumerator",
                static_cast<std::uint64_t>(enumerator_value(member)), 0};
    }
    Dwarf_Die type;
    f.type = type_of(member, type) ? type_name(type) : "void";
    const char* const own = dwarf_diename(&member);
    const bool base = dwarf_tag(&member) == DW_TAG_inheritance;
    f.name = base ? "base " + f.type : own != nullptr ? own : "(no name) " + f.type;
    f.bit = first_bit(member);
    f.bits = number_of(member, DW_AT_bit_size);
    return f;
}

constexpr int most_nested = 16;  // damaged entries may lead in a circle

/// Adds the members of `die`, which begins at that bit. Those of a union or a class without a name
/// are members of what is around it.
void add_fields(Dwarf_Die& die, std::uint64_t begin, int depth, layout& to) {
    for_each_child(die, [&](Dwarf_Die& child) {
        if (!is_member(child)) return;
        field f = field_of(child);
        if (!to.enumeration) f.bit += begin;
        Dwarf_Die type;
        if (depth < most_nested && dwarf_tag(&child) == DW_TAG_member &&
            dwarf_diename(&child) == nullptr && type_of(child, type) && is_defined(type)) {
            add_fields(type, f.bit, depth + 1, to);
        } else {
            to.fields.push_back(std::move(f));
        }
    });
}

layout layout_of(Dwarf_Die& die, std::string name) {
    layout l;
    l.name = std::move(name);
    l.size = number_of(die, DW_AT_byte_size);
    l.enumeration = dwarf_tag(&die) == DW_TAG_enumeration_type;
    add_fields(die, 0, 0, l);
    return l;
}

/// Which of the wanted functions this is.
std::optional<std::uint64_t> begin_of(Dwarf_Die& function,
                                      const std::vector<std::uint64_t>& wanted) {
    Dwarf_Addr begin = 0;
    if (dwarf_lowpc(&function, &begin) == 0) {
        return std::ranges::binary_search(wanted, begin) ? std::optional(begin) : std::nullopt;
    }
    // In several pieces: a cold part was moved away.
    if (dwarf_hasattr(&function, DW_AT_ranges) == 0) return {};
    for (const std::uint64_t one : wanted) {
        if (dwarf_haspc(&function, one) == 1) return one;
    }
    return {};
}

/// Adds the types that lead from one to the next; a list, because chains of them are long.
struct walk {
    debug_entries& own;
    type_table& out;
    std::set<Dwarf_Off> seen = {};
    std::vector<Dwarf_Die> open = {};

    void want(Dwarf_Die& user) {
        Dwarf_Die type;
        if (type_of(user, type)) open.push_back(type);
    }
    void run() {
        while (!open.empty()) {
            Dwarf_Die die = open.back();
            open.pop_back();
            if (seen.insert(dwarf_dieoffset(&die)).second) visit(die);
        }
    }
    void visit(Dwarf_Die& user) {
        Dwarf_Die die = definition_of(user);
        if (dwarf_hasattr(&die, DW_AT_declaration) != 0) {
            // Another unit of the same file may define it.
            if (const Dwarf_Die* const found = own.find(own.name_of(die))) open.push_back(*found);
            return;
        }
        if (is_defined(die)) {
            const std::string name = own.name_of(die);
            if (is_whole_name(name)) out.try_emplace(name, layout_of(die, name));
        }
        want(die);
        for_each_child(die, [this](Dwarf_Die& child) {
            if (is_member(child) || dwarf_tag(&child) == DW_TAG_formal_parameter) want(child);
        });
    }
};

void find_functions(Dwarf_Die& scope, const std::vector<std::uint64_t>& wanted, walk& types,
                    std::set<std::uint64_t>& found) {
    for_each_child(scope, [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) == DW_TAG_namespace) find_functions(child, wanted, types, found);
        if (dwarf_tag(&child) != DW_TAG_subprogram) return;
        const std::optional<std::uint64_t> begin = begin_of(child, wanted);
        if (!begin) return;
        found.insert(*begin);
        types.want(child);
        for_each_child(child, [&types](Dwarf_Die& parameter) {
            if (dwarf_tag(&parameter) == DW_TAG_formal_parameter) types.want(parameter);
        });
    });
}

}  // namespace

debug_info::debug_info() = default;
debug_info::~debug_info() = default;

status debug_info::open(std::span<const std::byte> bytes) {
    auto own = std::make_unique<debug_entries>();
    if (status went = own->open(bytes); !went) return went;
    entries_ = std::move(own);
    return {};
}

void debug_info::make_index() { entries_->make_index(); }

status debug_info::types_of(const std::vector<std::uint64_t>& functions, type_table& out) {
    std::vector<std::uint64_t> wanted = functions;
    std::ranges::sort(wanted);
    const auto same = std::ranges::unique(wanted);
    wanted.erase(same.begin(), same.end());
    std::set<std::uint64_t> found;
    walk types{*entries_, out};
    entries_->for_each_unit([&](Dwarf_Die& unit) {
        if (found.size() < wanted.size()) find_functions(unit, wanted, types, found);
    });
    types.run();
    if (found.size() == wanted.size()) return {};
    return {1, "has no debug information about " + std::to_string(wanted.size() - found.size()) +
                   " of its exports"};
}

const layout* debug_info::find(const std::string& name) {
    const auto known = known_.find(name);
    if (known != known_.end()) return &known->second;
    const Dwarf_Die* const found = entries_->find(name);
    if (found == nullptr) return nullptr;
    Dwarf_Die die = *found;
    return &known_.emplace(name, layout_of(die, name)).first->second;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
