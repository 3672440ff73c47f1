// Types reach each other by references between entries, so an entry's offset names a type while
// its file is walked, and its whole name does between two files.
#include "reload/dwarf/debug_info.hpp"

#include "reload/dwarf/names.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

bool is_defined(Dwarf_Die& die) {
    const int tag = dwarf_tag(&die);
    const bool kind = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                      tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
    return kind && dwarf_hasattr(&die, DW_AT_declaration) == 0;
}

std::uint64_t number_of(Dwarf_Die& die, unsigned name, std::uint64_t otherwise = 0) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return otherwise;
    return dwarf_formudata(&attribute, &value) == 0 ? value : otherwise;
}

template <class F>
void for_each_child(Dwarf_Die& die, const F& f) {
    Dwarf_Die child;
    if (dwarf_child(&die, &child) != 0) return;
    do {
        f(child);
    } while (dwarf_siblingof(&child, &child) == 0);
}

std::uint64_t first_bit(Dwarf_Die& member) {
    const std::uint64_t bit = number_of(member, DW_AT_data_bit_offset, UINT64_MAX);
    if (bit != UINT64_MAX) return bit;
    const std::uint64_t byte = number_of(member, DW_AT_data_member_location);
    const std::uint64_t size = number_of(member, DW_AT_bit_size);
    if (size == 0 || dwarf_hasattr(&member, DW_AT_bit_offset) == 0) return byte * 8;
    // Before DWARF 5: counted from the other end of the storage unit.
    Dwarf_Die type;
    const std::uint64_t unit = number_of(
        member, DW_AT_byte_size, type_of(member, type) ? number_of(type, DW_AT_byte_size) : 0);
    return byte * 8 + unit * 8 - number_of(member, DW_AT_bit_offset) - size;
}

field field_of(Dwarf_Die& member) {
    field f;
    if (dwarf_tag(&member) == DW_TAG_enumerator) {
        Dwarf_Attribute attribute;
        Dwarf_Sword value = 0;
        if (dwarf_attr(&member, DW_AT_const_value, &attribute) != nullptr) {
            dwarf_formsdata(&attribute, &value);
        }
        const char* const own = dwarf_diename(&member);
        return {own != nullptr ? own : "", "enumerator", static_cast<std::uint64_t>(value), 0};
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

bool is_member(Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inheritance || tag == DW_TAG_enumerator) return true;
    // A static member is a declaration of an object elsewhere.
    return tag == DW_TAG_member && dwarf_hasattr(&child, DW_AT_external) == 0 &&
           dwarf_hasattr(&child, DW_AT_declaration) == 0;
}

layout layout_of(Dwarf_Die& die, std::string name) {
    layout l;
    l.name = std::move(name);
    l.size = number_of(die, DW_AT_byte_size);
    l.enumeration = dwarf_tag(&die) == DW_TAG_enumeration_type;
    for_each_child(die, [&l](Dwarf_Die& child) {
        if (is_member(child)) l.fields.push_back(field_of(child));
    });
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

}  // namespace

struct debug_info::state {
    Elf* elf = nullptr;
    Dwarf* dwarf = nullptr;
    std::unordered_map<std::string, Dwarf_Die> defined;  // each type with a whole name
    std::unordered_map<std::string, layout> known;
    bool indexed = false;

    ~state() {
        if (dwarf != nullptr) dwarf_end(dwarf);
        if (elf != nullptr) elf_end(elf);
    }

    /// Calls f(entry) for the outermost entry of each unit.
    template <class F>
    void for_each_unit(const F& f) const {
        Dwarf_CU* unit = nullptr;
        Dwarf_Die outer, split;
        while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &outer, &split) == 0) {
            if (dwarf_tag(&split) != DW_TAG_invalid) {
                f(split);
            } else {
                f(outer);
            }
        }
    }

    void index(Dwarf_Die& scope, const std::string& prefix) {
        for_each_child(scope, [&](Dwarf_Die& child) {
            const int tag = dwarf_tag(&child);
            if (tag != DW_TAG_namespace && !is_defined(child)) return;
            const char* const own = dwarf_diename(&child);
            // What has no name, or none outside of its file, is another type in each file.
            if (own == nullptr) return;
            const std::string name = prefix + tidied(own);
            if (tag != DW_TAG_namespace) defined.emplace(name, child);
            if (tag != DW_TAG_enumeration_type) index(child, name + "::");
        });
    }
    void make_index() {
        if (indexed) return;
        for_each_unit([this](Dwarf_Die& unit) { index(unit, ""); });
        indexed = true;
    }

    /// Adds the types that lead from one to the next; a list, because chains of them are long.
    struct walk {
        state& own;
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
        void visit(Dwarf_Die& die) {
            if (dwarf_hasattr(&die, DW_AT_declaration) != 0) {
                // Another unit of the same file may define it.
                own.make_index();
                const auto found = own.defined.find(type_name(die));
                if (found != own.defined.end()) open.push_back(found->second);
                return;
            }
            if (is_defined(die)) {
                const std::string name = type_name(die);
                if (is_whole_name(name)) out.try_emplace(name, layout_of(die, name));
            }
            want(die);
            for_each_child(die, [this](Dwarf_Die& child) {
                if (is_member(child) || dwarf_tag(&child) == DW_TAG_formal_parameter) want(child);
            });
        }
    };

    bool find_functions(Dwarf_Die& scope, const std::vector<std::uint64_t>& wanted, walk& types,
                        std::set<std::uint64_t>& found) const {
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
        return found.size() == wanted.size();
    }
};

debug_info::debug_info() = default;
debug_info::~debug_info() = default;

status debug_info::open(std::span<const std::byte> bytes) {
    auto own = std::make_unique<state>();
    elf_version(EV_CURRENT);
    // libelf wants a pointer to bytes that it could write to, and does not without elf_update().
    auto* const begin = reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));
    own->elf = elf_memory(begin, bytes.size());
    if (own->elf != nullptr) own->dwarf = dwarf_begin_elf(own->elf, DWARF_C_READ, nullptr);
    if (own->dwarf == nullptr) return {1, "has no debug information"};
    state_ = std::move(own);
    return {};
}

status debug_info::types_of(const std::vector<std::uint64_t>& functions, type_table& out) {
    std::vector<std::uint64_t> wanted = functions;
    std::ranges::sort(wanted);
    const auto same = std::ranges::unique(wanted);
    wanted.erase(same.begin(), same.end());
    std::set<std::uint64_t> found;
    state::walk types{*state_, out};
    state_->for_each_unit([&](Dwarf_Die& unit) {
        if (found.size() < wanted.size()) state_->find_functions(unit, wanted, types, found);
    });
    types.run();
    if (found.size() == wanted.size()) return {};
    return {1, "has no debug information about " + std::to_string(wanted.size() - found.size()) +
                   " of its exports"};
}

const layout* debug_info::find(const std::string& name) {
    state_->make_index();
    const auto known = state_->known.find(name);
    if (known != state_->known.end()) return &known->second;
    const auto found = state_->defined.find(name);
    if (found == state_->defined.end()) return nullptr;
    return &state_->known.emplace(name, layout_of(found->second, name)).first->second;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
