// The modules object: what the program calls, the thread that watches, and the swap.
#include "braid/reload/modules.hpp"

#include "reload/image/type_records.hpp"
#include "reload/module_state.hpp"

#include <algorithm>
#include <stdexcept>

BRAID_NAMESPACE_BEGIN
namespace reload {
namespace detail {
namespace {

constexpr std::int64_t soon_ns = 200'000'000;

std::string file_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

wanted_function wanted_of(const import& one) {
    return {one.name, {type_in(one.spelled), one.mangled != nullptr ? one.mangled : ""}};
}

const loaded_function* find(const loaded_module& in, const wanted_function& wanted) {
    for (const loaded_function& one : in.functions) {
        if (one.name == wanted.name && one.type == wanted.type) return &one;
    }
    return nullptr;
}

std::string short_id(const std::string& build_id) { return build_id.substr(0, 12); }

std::string loaded_text(const module_state& m) {
    std::string text = "module '" + m.options.name + "' ";
    text += m.current == nullptr ? "was loaded: build " : "was reloaded: build ";
    text += short_id(m.ready->file.build_id);
    if (m.current != nullptr) {
        text += " replaces " + short_id(m.current->file.build_id);
        const std::size_t count = m.current->file.statics.size();
        if (count == 1) text += ", and 1 static begins anew";
        if (count > 1) text += ", and " + std::to_string(count) + " statics begin anew";
    }
    return text + m.ready->remark;
}

void append(std::string& text, const std::string& more) {
    text += text.empty() ? "" : "; ";
    text += more;
}

}  // namespace

// ---- imports ----------------------------------------------------------------------------------

import::import(module& of, const char* wanted, const char* signature_text, const char* mangled_name,
               void (*instead)()) :owner(of),
    name(wanted), spelled(signature_text), mangled(mangled_name), stub(instead), target(instead) {
    module_state& m = *of.state_;
    const wanted_function own = wanted_of(*this);
    std::string missing = "module '" + m.options.name + "' has no '" + own.name + "' that is " +
                          own.type.text + ", so its stub runs";
    const std::lock_guard guard(m.owner.mutex);
    // Nothing below fails for want of memory: an object that was not made must not be listed.
    m.owner.notes.reserve(m.owner.notes.size() + 1);
    m.imports.push_back(this);
    if (m.current == nullptr) return;
    if (const loaded_function* const found = find(m.current->code, own)) {
        // release: pairs with the acquire of a call.
        target.store(found->function, std::memory_order_release);
        return;
    }
    m.owner.notes.push_back(std::move(missing));
    // relaxed: the boundary takes the mutex before it looks at more.
    m.owner.news.store(true, std::memory_order_relaxed);
}

void import::has_thrown() const {
    module_state& m = *owner.state_;
    std::string why = "'";
    why.append(name).append("' threw an exception");
    m.owner.ask_back(std::move(why), &m);
}

import::~import() {
    module_state& m = *owner.state_;
    const std::lock_guard guard(m.owner.mutex);
    std::erase(m.imports, this);
}

void module_state::find_targets(const loaded_module& in, std::vector<call_target>& out) const {
    for (import* one : imports) {
        const loaded_function* const found = find(in, wanted_of(*one));
        out.push_back({one, found != nullptr ? found->function : one->stub});
    }
}

std::vector<wanted_function> module_state::wanted() const {
    std::vector<wanted_function> all;
    for (const import* one : imports) all.push_back(wanted_of(*one));
    return all;
}

// ---- the object ---------------------------------------------------------------------------------

modules_state::modules_state(scheduler& s, modules_options given)
    : tasks(s), options(std::move(given)) {
    if (options.watch) watcher = std::thread([this] { watch(); });
}

modules_state::~modules_state() {
    // relaxed: the wake below, and the end of the task, order what follows.
    stopping.store(true, std::memory_order_relaxed);
    if (watcher.joinable()) {
        changes.wake();
        watcher.join();
    }
    try {
        if (last_task) tasks.wait(last_task);
    } catch (...) {  // it was cancelled, so it does not run
    }
    if (!folder.empty()) platform::remove_folder(folder);
}

module& modules_state::add(module_options given) {
    if (given.name.empty() || given.name.find('/') != std::string::npos) {
        throw std::invalid_argument("modules::add: give the module a name without '/'.");
    }
    if (given.path.empty()) {
        throw std::invalid_argument("modules::add: say in which file module '" + given.name +
                                    "' is.");
    }
    auto state = std::make_unique<module_state>(*this, std::move(given));
    std::unique_ptr<module> made(new module(std::move(state)));
    module& added = *made;
    {
        const std::lock_guard guard(mutex);
        for (const auto& one : list) {
            if (one->name() == added.name()) {
                throw std::invalid_argument("modules::add: there is a module '" + added.name() +
                                            "' already.");
            }
        }
        added.state_->unwatched = options.watch;
        list.push_back(std::move(made));
    }
    changes.wake();
    return added;
}

std::vector<module_state*> modules_state::all_states() {
    const std::lock_guard guard(mutex);
    std::vector<module_state*> all;
    for (const auto& one : list) all.push_back(one->state_.get());
    return all;
}

// ---- the thread that watches --------------------------------------------------------------------

void modules_state::touched(const std::vector<std::string>& names, bool all) {
    const std::int64_t now_ns = platform::monotonic_ns();
    const bool try_again = now_ns - tried_again_ns >= soon_ns;
    if (try_again) tried_again_ns = now_ns;
    const std::lock_guard guard(mutex);
    for (const auto& one : list) {
        module_state& m = *one->state_;
        const std::string own = file_name(m.options.path);
        for (const std::string& name : names) {
            const std::string changed = file_name(name);
            m.dirty = m.dirty || changed == own || changed == lock_path(own);
        }
        m.dirty = m.dirty || all || (m.locked && try_again);
    }
}

void modules_state::start_check() {
    {
        const std::lock_guard guard(mutex);
        const bool any = std::ranges::any_of(list, [](const auto& m) { return m->state_->dirty; });
        if ((!any && !verdict && spent.empty()) || checking_task) return;
        checking_task = true;
    }
    const task_id id =
        tasks.spawn({.name = "check modules", .runs_as = task_class::background}, [this] {
            check(false);
            {
                const std::lock_guard guard(mutex);
                checking_task = false;
            }
            // What is locked now is looked at again soon, which the watcher has to know.
            changes.wake();
        });
    const std::lock_guard guard(mutex);
    last_task = id;
    if (!id) checking_task = false;  // refused; the next round tries again
}

void modules_state::watch() {
    // relaxed: the destructor wakes this thread after it has set the flag.
    while (!stopping.load(std::memory_order_relaxed)) {
        try {
            watch_once();
        } catch (...) {
            // There was no memory for a name, which is lost: all files count as changed.
            touched({}, true);
        }
    }
}

void modules_state::watch_once() {
    bool again = false;
    for (module_state* m : all_states()) {
        const std::lock_guard guard(mutex);
        if (m->unwatched && changes.add(folder_of(m->options.path))) {
            m->unwatched = false;
            m->dirty = true;  // it may have changed before it was watched
        }
        again = again || m->unwatched || m->locked || m->dirty;
    }
    start_check();
    std::vector<std::string> names;
    bool all = false;
    changes.wait(again ? soon_ns : -1, names, all);
    touched(names, all);
}

// ---- the swap -----------------------------------------------------------------------------------

/// One that was to be replaced stays: others that were built together with it wait, too.
void modules_state::drop_unfit(bool for_good) {
    for (const auto& one : list) {
        module_state& m = *one->state_;
        for (auto* const code : {&m.ready, &m.untried}) {
            if (*code == nullptr || difference_with_others(m, **code, false).empty()) continue;
            if (for_good) m.refused.push_back((*code)->hash);
            if (code == &m.untried) platform::remove_file((*code)->code.path);
            *code = nullptr;
        }
    }
}

unsigned modules_state::refuse_unmatched(std::string& text) {
    unsigned refused = 0;
    for (const auto& one : list) {
        module_state& m = *one->state_;
        if (m.ready == nullptr) continue;
        const status fits = match(m.wanted(), m.ready->file.exports);
        if (fits) continue;
        append(text, "module '" + m.options.name + "' was refused: '" + m.options.path + "' " +
                         fits.text);
        m.refused.push_back(m.ready->hash);
        m.ready = nullptr;
        ++refused;
        drop_unfit(true);
    }
    return refused;
}

/// Whatever may fail for want of memory comes before the first call goes over.
void modules_state::swap(outcome& went) {
    std::string text;
    unsigned loaded = 0, refused = 0;
    for (const std::string& note : notes) {
        append(text, note);
        ++refused;
    }
    refused += refuse_unmatched(text);
    state_change state(*this);
    refused += state.prepare(text);
    std::string table = state.take_table();
    std::vector<call_target> targets;
    for (const auto& one : list) {
        const module_state& m = *one->state_;
        if (!state.takes(m)) continue;
        append(text, loaded_text(m));
        if (m.current != nullptr) table += statics_text(m.current->file.statics);
        m.find_targets(m.ready->code, targets);
        ++loaded;
    }
    if (loaded != 0) text += state.remark();
    if (!text.empty()) {
        text.front() = 'M';
        text += '.';
    }
    auto before = std::make_unique<way_back>();
    bool is_back = options.keep_frames != 0 && loaded != 0 && state.can_go_back();
    for (const auto& one : list) {
        module_state& m = *one->state_;
        if (!state.takes(m)) continue;
        before->codes.push_back({&m, m.current});
        is_back = is_back && m.current != nullptr;
    }
    spent.reserve(spent.size() + 2);
    known.reserve(loaded);
    // Nothing below fails for want of memory.
    before->state = state.commit(went.migrated_);
    if (loaded != 0) {
        if (back != nullptr) spent.push_back(std::move(back));
        (is_back ? back : spent.emplace_back()) = std::move(before);
        back_asked.clear();
    }
    went.table_ = std::move(table);
    // release: pairs with the acquire of a call.
    for (const call_target& one : targets) {
        one.of->target.store(one.function, std::memory_order_release);
    }
    for (const auto& one : list) {
        module_state& m = *one->state_;
        if (!state.takes(m)) continue;
        m.current = std::move(m.ready);
        ++m.loads;
        known.add(m.current->code.place, m.options.name, m.current->file.build_id,
                  m.current->code.path);
    }
    notes.clear();
    went.text_ = std::move(text);
    went.loaded_ = loaded;
    went.refused_ = refused;
}

}  // namespace detail

// ---- what programs see --------------------------------------------------------------------------

module::module(std::unique_ptr<detail::module_state> state) :state_(std::move(state)) {}
module::~module() = default;

const std::string& module::name() const { return state_->options.name; }

bool module::loaded() const {
    const std::lock_guard guard(state_->owner.mutex);
    return state_->current != nullptr;
}

std::string module::build_id() const {
    const std::lock_guard guard(state_->owner.mutex);
    return state_->current != nullptr ? state_->current->file.build_id : "";
}

std::size_t module::loads() const {
    const std::lock_guard guard(state_->owner.mutex);
    return state_->loads;
}

std::size_t module::bytes() const {
    const std::lock_guard guard(state_->owner.mutex);
    return state_->bytes;
}

modules::modules(scheduler& s, modules_options options)
    : state_(std::make_unique<detail::modules_state>(s, std::move(options))) {}
modules::~modules() = default;

module& modules::add(module_options options) { return state_->add(std::move(options)); }
outcome modules::at_frame_boundary() noexcept { return state_->at_frame_boundary(); }
void modules::try_with(std::function<void(trial&)> frame, trial_options how) {
    state_->try_with(std::move(frame), how);
}
void modules::roll_back(std::string why) {
    state_->ask_back(why.empty() ? "it was asked to" : std::move(why), nullptr);
}
void modules::check_now() { state_->check(true); }

}  // namespace reload
BRAID_NAMESPACE_END
