// Runs pairs of layouts that random_pairs.py has written and a compiler has built:
//   reload_random FILE.so
// Prints a line for each pair that went wrong; exit code 1 if there is any.
#include "case.hpp"
#include "reload/arena/arena_state.hpp"
#include "reload/dwarf/graph.hpp"
#include "reload/image/type_records.hpp"
#include "reload/load/loader.hpp"
#include "reload/migrate/migration.hpp"
#include "reload/migrate/state_change.hpp"
#include "reload/plan/plan.hpp"
#include "reload/platform/platform.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/reload/modules.hpp>

#include <cstdio>

namespace {

namespace reload = braid::reload;
namespace detail = reload::detail;
using braid::status;
using random_pairs::pair_case;

/// Pairs each type of namespace `before` with the one of that name in `after`.
detail::type_notes notes_of(const detail::type_graph& graph, const detail::type_notes& said) {
    detail::type_notes notes = said;
    for (const detail::type_node& node : graph.nodes) {
        const std::size_t at = node.name.find("::before::");
        const bool named =
            node.kind == detail::type_kind::record || node.kind == detail::type_kind::enumeration;
        if (!named || at == std::string::npos || node.name.find('<') < at) continue;
        std::string now = node.name;
        now.replace(at, 10, "::after::");
        notes.renames.push_back({now, "", node.name});
    }
    return notes;
}

/// What the file with all pairs says, and its code.
struct pairs_file {
    std::vector<std::byte> bytes;
    detail::debug_info types;
    detail::type_notes notes;
    detail::loaded_module loaded;
};

status open(const std::string& path, pairs_file& out) {
    reload::platform::file_mark mark;
    detail::image parsed;
    status went = reload::platform::read_file(path, out.bytes, mark);
    if (went) went = detail::image::read(out.bytes, parsed);
    if (went) went = detail::read_type_notes(parsed, out.notes);
    if (went) went = out.types.open(out.bytes);
    if (went) went = detail::load(path, {}, out.loaded);
    return went;
}

std::string run(const pair_case& one, pairs_file& file, reload::modules& modules) {
    reload::arena state(modules);
    one.fill(state);
    detail::arena_state& in = detail::arena_door::state_of(state);
    std::vector<std::string> names, new_names;
    in.add_types(names);
    for (const std::string& name : names) {
        std::string now = name;
        if (const std::size_t at = now.find("::before::"); at != std::string::npos) {
            now.replace(at, 10, "::after::");
        }
        new_names.push_back(now);
    }
    detail::debug_info* const files[] = {&file.types};
    const detail::type_graph before = detail::read_graph(files, names);
    const detail::migration_plan plan = detail::make_plan(
        before, detail::read_graph(files, new_names), names, notes_of(before, file.notes), false);
    if (!plan.refused.empty()) return "the plan refuses: " + plan.refused.front();
    std::vector<detail::object_maker> makers;
    for (const std::string& name : plan.records) {
        makers.push_back(detail::maker_of(file.loaded.types, name));
    }
    detail::arena_state* const arenas[] = {&in};
    detail::migration own(plan, makers, false);
    try {
        own.build(arenas);
    } catch (const detail::migration_refused& no) {
        return "it is refused: " + no.why;
    }
    own.commit();
    return one.check(state);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("usage: reload_random FILE.so\n", stderr);
        return 2;
    }
    pairs_file file;
    void* handle = nullptr;
    const std::string path = arguments[1];
    status went = open(path, file);
    if (went) went = reload::platform::load_shared(path, handle);
    if (!went) {
        std::fprintf(stderr, "reload_random: '%s' %s.\n", path.c_str(), went.text.c_str());
        return 2;
    }
    using cases = std::span<const pair_case> (*)();
    const auto all =
        reinterpret_cast<cases>(reload::platform::find_symbol(handle, "random_pair_cases"));
    if (all == nullptr) {
        std::fprintf(stderr, "reload_random: '%s' has no pairs.\n", path.c_str());
        return 2;
    }
    braid::scheduler_options few;
    few.workers = 0;
    braid::scheduler scheduler(few);
    reload::modules_options still;
    still.watch = false;
    reload::modules modules(scheduler, still);
    int wrong = 0;
    for (const pair_case& one : all()) {
        const std::string what = run(one, file, modules);
        if (what.empty()) continue;
        std::printf("%s: %s\n", one.name, what.c_str());
        ++wrong;
    }
    return wrong != 0 ? 1 : 0;
}
