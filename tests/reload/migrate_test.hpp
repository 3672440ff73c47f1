#pragma once
// State that goes over within one program: the types of namespace `before` are what runs, those of
// `after` are the new code, and this program's own debug information describes both.

#include "reload/arena/arena_state.hpp"
#include "reload/dwarf/graph.hpp"
#include "reload/image/type_records.hpp"
#include "reload/migrate/migration.hpp"
#include "reload/plan/kinds.hpp"
#include "reload/platform/platform.hpp"
#include "reload_test.hpp"

#include <braid/reload/arena.hpp>
#include <braid/reload/export.hpp>

namespace braid_test {

namespace detail = braid::reload::detail;

class migrate_test : public reload_test {
protected:
    migrate_test() { arena.emplace(*modules); }

    detail::arena_state& state() { return detail::arena_door::state_of(*arena); }

    /// This program's debug information, read once.
    static detail::debug_info& own_types() {
        static bytes file;
        static detail::debug_info info;
        static const bool opened = [] {
            braid::reload::platform::file_mark mark;
            return braid::reload::platform::read_file(braid::reload::platform::own_program(), file,
                                                      mark) &&
                   info.open(file);
        }();
        if (!opened) std::abort();
        return info;
    }

    /// Says how objects of an `after` type are made.
    template <class T>
    void record() {
        const std::string name =
            detail::record_name(braid::reload::detail::spelled<T>(), typeid(T).name());
        notes.records.push_back(
            {name, detail::constructor_of<T>() != nullptr, detail::mover_of<T>() != nullptr});
        makers[detail::even_name(name)] = {detail::constructor_of<T>(), detail::mover_of<T>(),
                                           detail::destroyer_of<T>(), detail::checker_of<T>()};
    }
    void rename(const std::string& type, const std::string& from, const std::string& to) {
        notes.renames.push_back({type, from, to});
    }

    const detail::migration_plan& make_plan() {
        std::vector<std::string> names, new_names;
        state().add_types(names);
        detail::debug_info* const files[] = {&own_types()};
        const detail::type_graph was = detail::read_graph(files, names);
        // What the graph has of namespace `before` has its new name in namespace `after`.
        for (const detail::type_node& node : was.nodes) {
            const std::string old = "before::";
            if (!node.name.starts_with(old)) continue;
            if (node.kind != detail::type_kind::record &&
                node.kind != detail::type_kind::enumeration) {
                continue;
            }
            notes.renames.push_back({"after::" + node.name.substr(old.size()), "", node.name});
        }
        for (const std::string& name : names) {
            std::string now = name;
            if (now.starts_with("before::")) now.replace(0, 6, "after");
            new_names.push_back(now);
        }
        plan = detail::make_plan(was, detail::read_graph(files, new_names), names, notes, false);
        return plan;
    }
    /// "": the state went over; else why it did not.
    std::string migrate() {
        make_plan();
        if (!plan.refused.empty()) return plan.refused.front();
        return run();
    }
    std::string run() {
        std::vector<detail::object_maker> all;
        for (const std::string& name : plan.records) {
            all.push_back(makers[detail::even_name(name)]);
        }
        detail::arena_state* const arenas[] = {&state()};
        detail::migration own(plan, all, keeps);
        try {
            own.build(arenas);
        } catch (const detail::migration_refused& no) {
            return no.why;
        }
        objects = own.objects();
        outside = own.outside();
        own.commit();
        return "";
    }

    std::optional<reload::arena> arena;
    detail::type_notes notes;
    std::map<std::string, detail::object_maker> makers;
    detail::migration_plan plan;
    std::uint64_t objects = 0, outside = 0;
    bool keeps = false;
};

}  // namespace braid_test
