#include "reload/dwarf/entries.hpp"

#include <elfutils/libdw.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

namespace {

bool is_type(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type;
}

std::string text_of(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    const char* const text =
        dwarf_attr(&die, name, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
    return text != nullptr ? text : "";
}

/// Whether -g1 would leave this entry out. Where nothing else does, `by_g1` decides: of a function
/// without parameters and result g++ says the same with -g and with -g1; clang leaves out its line.
bool is_beyond_g1(Dwarf_Die& child, bool by_g1) {
    const int tag = dwarf_tag(&child);
    if (dwarf_hasattr_integrate(&child, DW_AT_type) != 0) return true;
    if (tag != DW_TAG_subprogram) return tag != DW_TAG_variable;
    bool any = !by_g1 && dwarf_hasattr_integrate(&child, DW_AT_decl_line) != 0;
    for_each_child(child, [&any](Dwarf_Die& part) {
        any = any || dwarf_tag(&part) == DW_TAG_formal_parameter;
    });
    return any;
}

/// The last of these options counts.
bool is_by_g1(const std::string& producer) {
    std::istringstream options(producer);
    bool g1 = false;
    for (std::string one; options >> one;) {
        const bool level = one == "-g" || one == "-g1" || one == "-g2" || one == "-g3" ||
                           one.starts_with("-ggdb") || one.starts_with("-gdwarf");
        if (level) g1 = one == "-g1" || one == "-ggdb1";
    }
    return g1;
}

bool says_little(Dwarf_Die& unit) {
    const bool code =
        dwarf_hasattr(&unit, DW_AT_low_pc) != 0 || dwarf_hasattr(&unit, DW_AT_ranges) != 0;
    if (dwarf_tag(&unit) != DW_TAG_compile_unit || !code) return false;
    if (number_of(unit, DW_AT_language) == DW_LANG_Mips_Assembler) return false;
    const bool by_g1 = is_by_g1(text_of(unit, DW_AT_producer));
    bool little = true;
    for_each_child(unit, [&](Dwarf_Die& child) { little = little && !is_beyond_g1(child, by_g1); });
    return little;
}

}  // namespace

bool is_defined(Dwarf_Die& die) {
    return is_type(dwarf_tag(&die)) && dwarf_hasattr(&die, DW_AT_declaration) == 0;
}

Dwarf_Die definition_of(Dwarf_Die& type) {
    Dwarf_Attribute attribute;
    Dwarf_Die found;
    const bool elsewhere = dwarf_attr(&type, DW_AT_signature, &attribute) != nullptr &&
                           dwarf_formref_die(&attribute, &found) != nullptr;
    return elsewhere ? found : type;
}

bool is_member(Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inheritance || tag == DW_TAG_enumerator) return true;
    // A static member is a declaration of an object elsewhere.
    return tag == DW_TAG_member && dwarf_hasattr(&child, DW_AT_external) == 0 &&
           dwarf_hasattr(&child, DW_AT_declaration) == 0;
}

std::uint64_t number_of(Dwarf_Die& die, unsigned name, std::uint64_t otherwise) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return otherwise;
    return dwarf_formudata(&attribute, &value) == 0 ? value : otherwise;
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

std::int64_t enumerator_value(Dwarf_Die& enumerator) {
    Dwarf_Attribute attribute;
    Dwarf_Sword value = 0;
    if (dwarf_attr(&enumerator, DW_AT_const_value, &attribute) != nullptr) {
        dwarf_formsdata(&attribute, &value);
    }
    return value;
}

debug_entries::~debug_entries() {
    if (dwarf != nullptr) dwarf_end(dwarf);
}

status debug_entries::open(std::span<const std::byte> bytes) {
    Elf* const elf = file_.emplace(bytes).get();
    if (elf != nullptr) dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
    return dwarf != nullptr ? status{} : status{1, "has no debug information"};
}

const std::string& debug_entries::note(std::string name, Dwarf_Die& type) {
    const auto at = types_by_name_.try_emplace(std::move(name)).first;
    names_.push_back({type.addr, &at->first});
    if (!at->second && is_defined(type)) {
        at->second = type;
        ++types_;
    }
    return at->first;
}

void debug_entries::index(Dwarf_Die& scope, const std::string& prefix, outer_names* type_unit) {
    for_each_child(scope, [&](Dwarf_Die& child) {
        const int tag = dwarf_tag(&child);
        const bool space = tag == DW_TAG_namespace;
        if (!space && !is_type(tag)) return;
        const char* const own = dwarf_diename(&child);
        // What has no name, or none outside of its file, is another type in each file.
        if (own == nullptr && !space && is_type(dwarf_tag(&scope))) {
            names_.push_back(
                {child.addr, &types_by_name_.try_emplace(prefix + nameless).first->first});
        }
        if (own == nullptr) return;
        std::string name = prefix;
        add_tidied(name, own);
        if (type_unit != nullptr) {
            const bool is_here = is_defined(child);
            // The definition stands outside of its scopes, in which only a declaration is.
            const auto outer = type_unit->find(name);
            if (is_here && prefix.empty() && outer != type_unit->end()) name = outer->second;
            if (!space && !is_here) type_unit->emplace(tidied(own), name);
        }
        const bool leads_on = tag != DW_TAG_enumeration_type && dwarf_haschildren(&child) > 0;
        if (space) {
            if (leads_on) index(child, name + "::", type_unit);
            return;
        }
        const std::string& whole = note(std::move(name), child);
        if (leads_on) index(child, whole + "::", type_unit);
    });
}

void debug_entries::make_index() {
    if (indexed_) return;
    for_each_unit([this](Dwarf_Die& unit) {
        outer_names names;
        index(unit, "", dwarf_tag(&unit) == DW_TAG_type_unit ? &names : nullptr);
    });
    // They are met in order, but for units that lie in another section or file.
    const std::less<> before;
    if (!std::ranges::is_sorted(names_, before, &named_entry::entry)) {
        std::ranges::sort(names_, before, &named_entry::entry);
    }
    indexed_ = true;
}

const std::string* debug_entries::known_name(Dwarf_Die& type) {
    make_index();
    const auto at = std::ranges::lower_bound(names_, type.addr, std::less<>(), &named_entry::entry);
    return at != names_.end() && at->entry == type.addr ? at->name : nullptr;
}

std::string debug_entries::name_of(Dwarf_Die& type) {
    const std::string* const known = known_name(type);
    return known != nullptr ? *known : type_name(type);
}

const Dwarf_Die* debug_entries::find(const std::string& name) {
    make_index();
    const auto found = types_by_name_.find(name);
    return found != types_by_name_.end() && found->second ? &*found->second : nullptr;
}

std::string debug_entries::missing_part() const {
    std::string missing;
    for_each_unit([&missing](Dwarf_Die& unit) {
        // The unit that stands in the file itself is shown only where the other one is not found.
        for (const unsigned name : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
            if (dwarf_hasattr(&unit, DW_AT_producer) != 0 || !missing.empty()) return;
            missing = text_of(unit, name);
        }
    });
    return missing;
}

std::string debug_entries::little_part() const {
    std::string little;
    for_each_unit([&little](Dwarf_Die& unit) {
        if (little.empty() && says_little(unit)) little = text_of(unit, DW_AT_name);
    });
    return little.substr(little.rfind('/') + 1);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
