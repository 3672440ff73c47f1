// The background half of a migration: reads the debug information of what runs and of what is
// ready, and plans.
#include "reload/dwarf/graph.hpp"
#include "reload/image/type_records.hpp"
#include "reload/module_state.hpp"
#include "reload/plan/kinds.hpp"
#include "reload/plan/two_threads.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// A copy that was loaded, or is to be.
struct code_file {
    platform::mapped_file file;
    debug_info types;
    type_notes notes;
    bool replaced = false;  // it stands for its module on one side only
    bool described = false;
};

void read(const std::string& path, code_file& own) {
    image parsed;
    if (!own.file.map(path)) return;
    if (image::read(own.file.bytes(), parsed)) (void)read_type_notes(parsed, own.notes);
    own.described = static_cast<bool>(own.types.open(own.file.bytes()));
    // Where nothing is replaced other files mostly know all that is looked for.
    if (own.described && own.replaced) own.types.make_index();
}

/// Each file once, although it may stand on both sides.
class code_files {
public:
    code_files(const state_plan& of, const std::vector<bool>& replaced) {
        std::vector<std::pair<const std::string*, code_file*>> unread;
        for (const auto* const side : {&of.before, &of.after}) {
            for (std::size_t i = 0; i < side->size(); ++i) {
                const std::string& path = (*side)[i];
                const auto [at, fresh] = files_.try_emplace(path);
                at->second.replaced = replaced[i];
                if (fresh && !path.empty()) unread.emplace_back(&at->first, &at->second);
            }
        }
        on_two_threads(unread.size(),
                       [&unread](std::size_t i) { read(*unread[i].first, *unread[i].second); });
    }
    code_file* get(const std::string& path) { return path.empty() ? nullptr : &files_[path]; }

private:
    std::map<std::string, code_file> files_;
};

void add_file(std::vector<debug_info*>& to, code_file* file) {
    if (file != nullptr && file->described) to.push_back(&file->types);
}

}  // namespace

object_maker maker_of(const std::vector<loaded_type>& types, const std::string& name) {
    for (const loaded_type& one : types) {
        if (one.name == name || even_name(one.name) == even_name(name)) return one.maker;
    }
    return {};
}

void modules_state::plan_state() {
    state_plan own;
    std::vector<loaded_type> types;
    std::vector<bool> replaced;
    {
        const std::lock_guard guard(mutex);
        if (arenas.empty()) return;
        bool any = false;
        for (const auto& one : list) {
            const module_state& m = *one->state_;
            const live_code* const now = m.ready != nullptr ? m.ready.get() : m.current.get();
            own.before.push_back(m.current != nullptr ? m.current->code.path : "");
            own.after.push_back(now != nullptr ? now->code.path : "");
            replaced.push_back(m.ready != nullptr);
            any = any || m.ready != nullptr;
            if (now != nullptr) {
                types.insert(types.end(), now->code.types.begin(), now->code.types.end());
            }
        }
        if (!any) return;
        for (arena_state* const one : arenas) one->add_types(own.types);
    }
    code_files files(own, replaced);
    std::vector<debug_info*> before, after;
    type_notes said;
    // The definition of new code comes first, where several know a type.
    for (const bool fresh : {true, false}) {
        for (std::size_t i = 0; i < replaced.size(); ++i) {
            if (replaced[i] != fresh) continue;
            add_file(before, files.get(own.before[i]));
            code_file* const is = files.get(own.after[i]);
            add_file(after, is);
            if (is == nullptr) continue;
            said.records.insert(said.records.end(), is->notes.records.begin(),
                                is->notes.records.end());
            if (!fresh) continue;
            said.renames.insert(said.renames.end(), is->notes.renames.begin(),
                                is->notes.renames.end());
        }
    }
    if (debug_info* const ours = own.types.empty() ? nullptr : host_types()) {
        before.push_back(ours);
        after.push_back(ours);
    }
    std::vector<std::string> new_names;
    for (const std::string& name : own.types) new_names.push_back(name_after(said, name));
    // A type that nobody describes, as one in a namespace without a name, may be any module's.
    const bool unseen = std::ranges::any_of(own.types, [&before](const std::string& name) {
        return std::ranges::none_of(
            before, [&](const debug_info* file) { return knows_any(*file, {name}); });
    });
    bool concerned = false;
    for (std::size_t i = 0; i < replaced.size(); ++i) {
        // Code that is not described may know any type.
        const auto knows = [&](const std::string& path, const std::vector<std::string>& names) {
            const code_file* const file = files.get(path);
            return file != nullptr && (!file->described || knows_any(file->types, names));
        };
        own.concerned.push_back(
            replaced[i] && !own.types.empty() &&
            (unseen || knows(own.before[i], own.types) || knows(own.after[i], new_names)));
        concerned = concerned || own.concerned.back();
    }
    // Code that knows no type of the state leaves it as it is.
    if (concerned) {
        own.plan = make_plan(read_graph(before, own.types), read_graph(after, new_names), own.types,
                             said, false);
        own.table = table_of(own.plan);
        for (const std::string& name : own.plan.records) {
            own.makers.push_back(maker_of(types, name));
        }
    }
    auto shared = std::make_shared<const state_plan>(std::move(own));
    const std::lock_guard guard(mutex);
    state_planned = std::move(shared);
    // relaxed: the boundary takes the mutex before it looks at more.
    news.store(true, std::memory_order_relaxed);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
