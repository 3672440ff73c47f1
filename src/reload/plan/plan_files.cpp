// A plan from two files on disk.
#include "braid/reload/plan.hpp"

#include "reload/dwarf/graph.hpp"
#include "reload/image/type_records.hpp"
#include "reload/plan/plan.hpp"
#include "reload/plan/two_threads.hpp"
#include "reload/platform/platform.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload {
namespace {

struct side {
    status readable, has_types;
    std::vector<std::byte> bytes;
    detail::image parsed;
    detail::debug_info types;
    detail::type_notes notes;
};

status read(const std::string& path, side& out) {
    platform::file_mark mark;
    if (status went = platform::read_file(path, out.bytes, mark); !went) {
        return {went.code, went.text + "."};
    }
    status went = detail::image::read(out.bytes, out.parsed);
    if (went) went = detail::read_type_notes(out.parsed, out.notes);
    if (went) went = out.types.open(out.bytes);
    return went ? went : status{went.code, "'" + path + "' " + went.text + "."};
}

/// Fills its index, which takes the most of the time.
status has_types(const std::string& path, const side& one) {
    const std::string why = detail::why_types_lack(one.types);
    return why.empty() ? status{} : status{1, "'" + path + "' " + why + "."};
}

status read_both(const std::string& before, const std::string& after, side& was, side& is) {
    detail::on_two_threads(2, [&](std::size_t i) {
        const std::string& path = i == 0 ? before : after;
        side& one = i == 0 ? was : is;
        one.readable = read(path, one);
        if (one.readable) one.has_types = has_types(path, one);
    });
    for (status* const went : {&was.readable, &is.readable, &was.has_types, &is.has_types}) {
        if (!*went) return std::move(*went);
    }
    return {};
}

void add(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::vector<std::string> state_types(const side& before) {
    std::vector<std::string> names = detail::types_in_arenas(before.types);
    for (const detail::type_notes::record& one : before.notes.records) add(names, one.type);
    return names;
}

/// The types of the state that are called so, with or without their namespaces.
std::vector<std::string> called(const std::string& type, const side& before) {
    std::vector<std::string> found;
    for (const std::string& name : state_types(before)) {
        if (name == type) return {type};
        if (name.ends_with("::" + type)) found.push_back(name);
    }
    return found.empty() ? std::vector{type} : found;
}

std::string summary(const detail::migration_plan& plan) {
    if (plan.refused.empty()) {
        return plan.moves ? "The state can go over.\n"
                          : "No type of the state changes: it stays where it is.\n";
    }
    std::string text = "Refused:\n";
    for (const std::string& one : plan.refused) text += "  " + one + ".\n";
    return text;
}

}  // namespace

plan_result plan_files(const std::string& before, const std::string& after,
                       const std::string& type) {
    plan_result result;
    side was, is;
    status& went = result.readable;
    went = read_both(before, after, was, is);
    if (!went) return result;
    std::vector<std::string> names = type.empty() ? state_types(was) : called(type, was);
    if (names.empty()) {
        went = {1, "'" + before +
                       "' puts nothing into a reload::arena and has no BRAID_RELOAD_TYPE: name the "
                       "type."};
        return result;
    }
    std::vector<std::string> new_names = names;
    for (const detail::type_notes::rename& one : is.notes.renames) {
        if (one.from.empty()) new_names.push_back(one.type);
    }
    detail::debug_info* const old_file[] = {&was.types};
    detail::debug_info* const new_file[] = {&is.types};
    const detail::type_graph old_types = detail::read_graph(old_file, names);
    const detail::type_graph new_types = detail::read_graph(new_file, new_names);
    const auto known = [&](const std::string& name) {
        return old_types.find(name) != nullptr || new_types.find(name) != nullptr;
    };
    if (!type.empty() && std::ranges::none_of(names, known)) {
        went = {1, "Neither file describes a type '" + type + "'."};
        return result;
    }
    const detail::migration_plan plan =
        detail::make_plan(old_types, new_types, names, is.notes, true);
    result.refused = !plan.refused.empty();
    result.text = detail::table_of(plan);
    result.text += detail::statics_text(detail::variables_of(was.parsed));
    result.text += summary(plan);
    return result;
}

}  // namespace reload
BRAID_NAMESPACE_END
