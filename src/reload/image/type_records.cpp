#include "reload/image/type_records.hpp"

#include "braid/reload/records.hpp"
#include "reload/image/exports.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

std::string readable(const std::string& mangled) {
    int failed = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &failed), &std::free);
    return failed == 0 && text != nullptr ? text.get() : "";
}

namespace {

status damaged() { return {1, "is damaged: what it says about a type cannot be read"}; }

/// Calls f(address) for each record of a section.
template <class Record, class F>
status for_each_record(const image& from, std::string_view name, const F& f) {
    const section* const records = from.find(name);
    if (records == nullptr) return {};
    for (std::uint64_t at = 0; records->size - at >= sizeof(Record);) {
        const auto format = from.value_at<std::uint32_t>(records->address + at);
        const auto bytes = from.value_at<std::uint32_t>(records->address + at + 4);
        if (!format || !bytes) return damaged();
        if (*format == 0 && *bytes == 0) {  // what a linker has put in between
            at += 8;
            continue;
        }
        if (*format != export_format || *bytes != sizeof(Record)) {
            return {1, "was built with another version of braid/reload/export.hpp"};
        }
        if (status went = f(records->address + at); !went) return went;
        at += sizeof(Record);
    }
    return {};
}

std::optional<std::string_view> text_behind(const image& from, std::uint64_t address) {
    const auto word = from.word_at(address);
    return word ? from.text_at(word->value) : std::nullopt;
}

/// The name in the two words that begin at this address.
std::optional<std::string> type_at(const image& from, std::uint64_t name, std::uint64_t type) {
    const auto spelled = text_behind(from, name);
    const auto word = from.word_at(type);
    if (!spelled || !word) return {};
    return record_name(*spelled, name_of_type(from, *word));
}

bool is_function_at(const image& from, std::uint64_t address) {
    const auto word = from.word_at(address);
    return word && (word->value != 0 || !word->of.empty());
}

bool is_ours(std::string_view name) {
    constexpr std::string_view not_the_program[] = {
        "completed.", "__dso_handle", "_ZGV",          "DW.ref.", "_ZTV",
        "_ZTI",       "__do_global",  "__frame_dummy", "__TMC_",  "_GLOBAL_",
        "_DYNAMIC",   "__gnu_lto",    "__asan",        "___asan", "__tls_guard"};
    return name.find("braid_reload_") == std::string_view::npos && !name.empty() &&
           std::ranges::none_of(not_the_program,
                                [name](std::string_view one) { return name.starts_with(one); });
}

}  // namespace

std::string record_name(std::string_view spelled, const std::string& mangled) {
    const std::string whole = mangled.empty() ? "" : readable(mangled);
    return whole.empty() ? type_in(spelled) : whole;
}

status read_type_notes(const image& from, type_notes& out) {
    const auto type = [&](std::uint64_t at) -> status {
        using record = type_record;
        const auto name = type_at(from, at + offsetof(record, name), at + offsetof(record, type));
        if (!name) return damaged();
        out.records.push_back({*name, is_function_at(from, at + offsetof(record, construct)),
                               is_function_at(from, at + offsetof(record, move))});
        return {};
    };
    const auto rename = [&](std::uint64_t at) -> status {
        using record = rename_record;
        const auto name = type_at(from, at + offsetof(record, name), at + offsetof(record, type));
        const auto was = text_behind(from, at + offsetof(record, from));
        const auto is = text_behind(from, at + offsetof(record, to));
        if (!name || !was || !is) return damaged();
        out.renames.push_back({*name, std::string(*was), std::string(*is)});
        return {};
    };
    status went = for_each_record<type_record>(from, "braid_reload_types", type);
    if (went) went = for_each_record<rename_record>(from, "braid_reload_renames", rename);
    return went;
}

std::vector<std::string> variables_of(const image& from) {
    std::vector<std::string> names;
    for (const symbol& one : from.symbols()) {
        if (one.type != STT_OBJECT && one.type != STT_TLS) continue;
        if (one.section == SHN_UNDEF || one.section >= from.sections().size()) continue;
        const section& in = from.sections()[one.section];
        const bool constant = (in.flags & SHF_WRITE) == 0 || in.name.starts_with(".data.rel.ro");
        if (constant || !is_ours(one.name)) continue;
        const std::string name = readable(std::string(one.name));
        names.push_back(name.empty() ? std::string(one.name) : name);
    }
    std::ranges::sort(names);
    const auto same = std::ranges::unique(names);
    names.erase(same.begin(), same.end());
    return names;
}

std::string statics_text(const std::vector<std::string>& variables) {
    std::string text;
    for (const std::string& one : variables) text += "static " + one + " begins anew\n";
    return text;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
