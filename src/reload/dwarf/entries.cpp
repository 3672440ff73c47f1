#include "reload/dwarf/entries.hpp"

#include <elfutils/libdw.h>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

namespace {

bool is_type(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type;
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
    if (elf != nullptr) elf_end(elf);
}

status debug_entries::open(std::span<const std::byte> bytes) {
    elf_version(EV_CURRENT);
    // libelf wants a pointer to bytes that it could write to, and does not without elf_update().
    auto* const begin = reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));
    elf = elf_memory(begin, bytes.size());
    if (elf != nullptr) dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
    return dwarf != nullptr ? status{} : status{1, "has no debug information"};
}

void debug_entries::index(Dwarf_Die& scope, const std::string& prefix, outer_names* type_unit) {
    for_each_child(scope, [&](Dwarf_Die& child) {
        const int tag = dwarf_tag(&child);
        const bool space = tag == DW_TAG_namespace;
        const bool is_here = is_defined(child);
        if (!space && !is_type(tag)) return;
        const char* const own = dwarf_diename(&child);
        // What has no name, or none outside of its file, is another type in each file.
        if (own == nullptr && !space && is_type(dwarf_tag(&scope))) {
            names_.emplace(child.addr, prefix + nameless);
        }
        if (own == nullptr) return;
        std::string name = prefix + tidied(own);
        if (type_unit != nullptr) {
            // The definition stands outside of its scopes, in which only a declaration is.
            const auto outer = type_unit->find(name);
            if (is_here && prefix.empty() && outer != type_unit->end()) name = outer->second;
            if (!space && !is_here) type_unit->emplace(tidied(own), name);
        }
        if (!space) names_.emplace(child.addr, name);
        if (is_here) defined.emplace(name, child);
        if (tag != DW_TAG_enumeration_type) index(child, name + "::", type_unit);
    });
}

void debug_entries::make_index() {
    if (indexed_) return;
    for_each_unit([this](Dwarf_Die& unit) {
        outer_names names;
        index(unit, "", dwarf_tag(&unit) == DW_TAG_type_unit ? &names : nullptr);
    });
    indexed_ = true;
}

const std::string* debug_entries::known_name(Dwarf_Die& type) {
    make_index();
    const auto known = names_.find(type.addr);
    return known != names_.end() ? &known->second : nullptr;
}

std::string debug_entries::name_of(Dwarf_Die& type) {
    const std::string* const known = known_name(type);
    return known != nullptr ? *known : type_name(type);
}

const Dwarf_Die* debug_entries::find(const std::string& name) {
    make_index();
    const auto found = defined.find(name);
    return found != defined.end() ? &found->second : nullptr;
}

std::string debug_entries::missing_part() const {
    std::string missing;
    for_each_unit([&missing](Dwarf_Die& unit) {
        // The unit that stands in the file itself is shown only where the other one is not found.
        for (const unsigned name : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
            Dwarf_Attribute attribute;
            if (dwarf_hasattr(&unit, DW_AT_producer) != 0 || !missing.empty()) return;
            const char* const text = dwarf_attr(&unit, name, &attribute) != nullptr
                                         ? dwarf_formstring(&attribute)
                                         : nullptr;
            if (text != nullptr) missing = text;
        }
    });
    return missing;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
