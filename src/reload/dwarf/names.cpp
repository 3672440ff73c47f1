#include "reload/dwarf/names.hpp"

#include <dwarf.h>

#include <cstdlib>
#include <memory>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

std::string base_name(Dwarf_Die& type) {
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0, size = 0;
    if (dwarf_attr(&type, DW_AT_encoding, &attribute) != nullptr) {
        dwarf_formudata(&attribute, &encoding);
    }
    if (dwarf_attr(&type, DW_AT_byte_size, &attribute) != nullptr) {
        dwarf_formudata(&attribute, &size);
    }
    // "long unsigned int" here is "unsigned long" there.
    const bool is_signed = encoding == DW_ATE_signed, is_unsigned = encoding == DW_ATE_unsigned;
    if ((is_signed || is_unsigned) && (size == 2 || size == 4 || size == 8)) {
        const std::string name = size == 2 ? "short" : size == 4 ? "int" : "long";
        return is_signed ? name : "unsigned " + name;
    }
    const char* const own = dwarf_diename(&type);
    return own != nullptr ? own : nameless;
}

/// Namespaces and classes around it, each with "::" behind.
std::string prefix_of(Dwarf_Die& type) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&type, &scopes);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned(scopes, &std::free);
    std::string prefix;
    const auto put_before = [&prefix](std::string_view name) {
        prefix.insert(0, "::").insert(0, name);
    };
    for (int i = 1; i < count; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        const bool names = tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
                           tag == DW_TAG_class_type || tag == DW_TAG_union_type;
        const char* const own = dwarf_diename(&scopes[i]);
        if (tag == DW_TAG_subprogram) put_before(nameless);
        if (!names) continue;
        put_before(own != nullptr ? tidied(own) : nameless);
    }
    return prefix;
}

std::string array_name(Dwarf_Die& type, const std::string& of) {
    std::string name = of;
    Dwarf_Die child;
    if (dwarf_child(&type, &child) != 0) return name + "[]";
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word count = 0;
        if (dwarf_attr(&child, DW_AT_count, &attribute) != nullptr) {
            dwarf_formudata(&attribute, &count);
        } else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) != nullptr &&
                   dwarf_formudata(&attribute, &count) == 0) {
            ++count;
        }
        name.append("[").append(std::to_string(count)).append("]");
    } while (dwarf_siblingof(&child, &child) == 0);
    return name;
}

constexpr int most_depth = 64;

std::string name_at(Dwarf_Die& type, int depth);

/// Damaged entries may lead in a circle.
std::string target_name(Dwarf_Die& type, int depth) {
    Dwarf_Die target;
    if (!type_of(type, target)) return "void";
    return depth < most_depth ? name_at(target, depth + 1) : nameless;
}

/// "int(float, char*)".
std::string function_name(Dwarf_Die& type, int depth) {
    std::string name = target_name(type, depth) + "(";
    Dwarf_Die child;
    for (int went = dwarf_child(&type, &child); went == 0; went = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter) continue;
        if (name.back() != '(') name += ", ";
        name += target_name(child, depth);
    }
    return name + ")";
}

std::string name_at(Dwarf_Die& type, int depth) {
    switch (dwarf_tag(&type)) {
        case DW_TAG_base_type:
            return base_name(type);
        case DW_TAG_typedef:
            return target_name(type, depth);
        case DW_TAG_pointer_type:
            return target_name(type, depth) + "*";
        case DW_TAG_reference_type:
            return target_name(type, depth) + "&";
        case DW_TAG_rvalue_reference_type:
            return target_name(type, depth) + "&&";
        case DW_TAG_const_type:
            return "const " + target_name(type, depth);
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
            return target_name(type, depth);
        case DW_TAG_atomic_type:
            return "_Atomic " + target_name(type, depth);
        case DW_TAG_array_type:
            return array_name(type, target_name(type, depth));
        case DW_TAG_subroutine_type:
            return function_name(type, depth);
        case DW_TAG_ptr_to_member_type:
            return "pointer to member " + target_name(type, depth);
        default:
            break;
    }
    const char* const own = dwarf_diename(&type);
    return prefix_of(type) + (own != nullptr ? tidied(own) : nameless);
}

}  // namespace

bool type_of(Dwarf_Die& user, Dwarf_Die& out) {
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(&user, DW_AT_type, &attribute) != nullptr &&
           dwarf_formref_die(&attribute, &out) != nullptr;
}

std::string type_name(Dwarf_Die& type) { return name_at(type, 0); }

void add_tidied(std::string& to, std::string_view name) {
    // Most names are plain, and all types of a program are looked at.
    if (name.find('<') == std::string_view::npos) {
        to += name;
        return;
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    to.reserve(to.size() + name.size());
    bool number = false;  // "array<int, 3>" here is "array<int, 3UL>" there
    char before = ' ';
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool closes = name[i] == ' ' && i + 1 < name.size() && name[i + 1] == '>';
        const bool suffix = number && (name[i] == 'U' || name[i] == 'L');
        const bool starts = before == ' ' || before == '<' || before == '-' || before == ')';
        number = is_digit(name[i]) ? number || starts : suffix;
        if (closes || suffix) continue;
        before = name[i];
        to += before;
    }
}

std::string tidied(std::string_view name) {
    std::string out;
    add_tidied(out, name);
    return out;
}

bool is_whole_name(std::string_view name) { return name.find(nameless) == std::string_view::npos; }

}  // namespace reload::detail
BRAID_NAMESPACE_END
