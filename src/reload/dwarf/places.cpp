#include "reload/dwarf/places.hpp"

#include "reload/dwarf/elf_file.hpp"
#include "reload/image/type_records.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

struct ending {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// The whole name, without its parameters.
std::string function_name(Dwarf_Die& function) {
    Dwarf_Attribute attribute;
    const char* mangled = nullptr;
    if (dwarf_attr_integrate(&function, DW_AT_linkage_name, &attribute) != nullptr) {
        mangled = dwarf_formstring(&attribute);
    }
    if (mangled != nullptr) {
        const std::string whole = readable(mangled);
        if (!whole.empty()) return whole.substr(0, whole.find('('));
    }
    const char* const own = dwarf_diename(&function);
    return own != nullptr ? own : "";
}

/// The table that leads from addresses to units is g++'s; clang leaves none.
bool unit_of(Dwarf& dwarf, Dwarf_Addr address, Dwarf_Die& unit) {
    if (dwarf_addrdie(&dwarf, address, &unit) != nullptr) return true;
    std::size_t header = 0;
    for (Dwarf_Off at = 0, next = 0;
         dwarf_nextcu(&dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0; at = next) {
        if (dwarf_offdie(&dwarf, at + header, &unit) == nullptr) continue;
        if (dwarf_haspc(&unit, address) == 1) return true;
    }
    return false;
}

/// The function that is not inlined there: what a stack and a symbol table know.
std::string function_at(Dwarf_Die& unit, Dwarf_Addr address) {
    struct search {
        Dwarf_Addr address;
        std::string name;
    } wanted{address, ""};
    dwarf_getfuncs(
        &unit,
        [](Dwarf_Die* function, void* data) {
            auto& to = *static_cast<search*>(data);
            if (dwarf_haspc(function, to.address) != 1) return int{DWARF_CB_OK};
            to.name = function_name(*function);
            return int{DWARF_CB_ABORT};
        },
        &wanted, 0);
    return wanted.name;
}

std::string line_at(Dwarf_Die& unit, Dwarf_Addr address) {
    Dwarf_Line* const line = dwarf_getsrc_die(&unit, address);
    if (line == nullptr) return "";
    const char* const path = dwarf_linesrc(line, nullptr, nullptr);
    int number = 0;
    if (path == nullptr || dwarf_lineno(line, &number) != 0) return "";
    const std::string whole = path;
    return whole.substr(whole.rfind('/') + 1) + ":" + std::to_string(number);
}

}  // namespace

std::string place_of(std::span<const std::byte> file, std::uint64_t address) {
    const elf_file elf(file);
    if (elf.get() == nullptr) return "";
    const std::unique_ptr<Dwarf, ending> dwarf(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
    Dwarf_Die unit;
    if (dwarf == nullptr || !unit_of(*dwarf, address, unit)) return "";
    std::string text = function_at(unit, address);
    const std::string line = line_at(unit, address);
    if (!line.empty()) text += text.empty() ? line : " at " + line;
    return text;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
