#pragma once
// Entries of the debug information of one file, and an index of the types that it defines.

#include "reload/dwarf/elf_file.hpp"
#include "reload/dwarf/names.hpp"

#include "braid/base/status.hpp"

#include <dwarf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Calls f(entry) for each entry directly below this one.
template <class F>
void for_each_child(Dwarf_Die& die, const F& f) {
    Dwarf_Die child;
    if (dwarf_child(&die, &child) != 0) return;
    do {
        f(child);
    } while (dwarf_siblingof(&child, &child) == 0);
}

/// The definition where an entry only says the signature of its unit (-fdebug-types-section); else
/// the entry itself.
Dwarf_Die definition_of(Dwarf_Die& type);
/// A class, union or enumeration with its definition.
bool is_defined(Dwarf_Die& die);
/// A member that lies in the object, a base class or an enumerator.
bool is_member(Dwarf_Die& child);
std::uint64_t number_of(Dwarf_Die& die, unsigned name, std::uint64_t otherwise = 0);
/// Where a member begins, in bits from the object's begin.
std::uint64_t first_bit(Dwarf_Die& member);
std::int64_t enumerator_value(Dwarf_Die& enumerator);

/// One file. The bytes must stay.
struct debug_entries {
    debug_entries() = default;
    ~debug_entries();
    debug_entries(const debug_entries&) = delete;
    debug_entries& operator=(const debug_entries&) = delete;

    status open(std::span<const std::byte> bytes);
    /// Walks through all types, once; what asks for one by name does it first.
    void make_index();
    bool has_types() const { return types_ != 0; }
    /// The definition with that whole name; null: the file has none.
    const Dwarf_Die* find(const std::string& name);
    /// What type_name() says, faster, and also where the entry stands in a unit of one type.
    std::string name_of(Dwarf_Die& type);
    const std::string* known_name(Dwarf_Die& type);
    /// Calls f(entry) for the outermost entry of each unit.
    template <class F>
    void for_each_unit(const F& f) const {
        Dwarf_CU* unit = nullptr;
        Dwarf_Die outer, split;
        while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &outer, &split) == 0) {
            // For a unit of one type, the second entry is that type.
            if (dwarf_tag(&split) == DW_TAG_compile_unit) {
                f(split);
            } else {
                f(outer);
            }
        }
    }
    /// The file that holds the rest of a unit (-gsplit-dwarf) and cannot be read; empty: none.
    std::string missing_part() const;
    /// The source of a unit that has code and says of it at most functions and lines (-g1); empty:
    /// none.
    std::string little_part() const;

    Dwarf* dwarf = nullptr;

private:
    /// Whole names of what a unit of one type declares, by the last part of each.
    using outer_names = std::unordered_map<std::string, std::string>;
    void index(Dwarf_Die& scope, const std::string& prefix, outer_names* type_unit);
    const std::string& note(std::string name, Dwarf_Die& type);

    std::optional<elf_file> file_;
    // Whole names, many of which other units repeat; with the first definition, if there is one.
    std::unordered_map<std::string, std::optional<Dwarf_Die>> types_by_name_;
    std::size_t types_ = 0;  // that are defined
    /// By entry: libdw looks for scopes through the whole unit, and finds none in units of one
    /// type.
    struct named_entry {
        const void* entry;
        const std::string* name;
    };
    std::vector<named_entry> names_;  // in the order of the entries
    bool indexed_ = false;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
