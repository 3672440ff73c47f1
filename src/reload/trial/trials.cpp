// A trial, from code that was copied to one that may be loaded: the boundary begins it, a child
// does all that the program would do, and a check judges how that ended.
#include "reload/module_state.hpp"
#include "reload/plan/two_threads.hpp"

#include <algorithm>
#include <stdexcept>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// The child ends itself; one that cannot is killed so much later.
constexpr std::int64_t grace_ns = 500'000'000;
/// How long one frame waits for everything to come to rest before a fork, and how long frames try.
constexpr nanoseconds short_rest{500'000};
constexpr std::int64_t longest_rest_ns = 10'000'000'000;

bool is_untried(const tried_code& one) {
    return one.of->untried != nullptr && one.of->untried->code.path == one.file;
}

}  // namespace

void modules_state::try_with(trial_function frame, trial_options wish) {
    if (wish.within.value <= 0) {
        throw std::invalid_argument("modules::try_with: give a trial more than 0 ns.");
    }
    const std::lock_guard guard(mutex);
    trial_frame = std::move(frame);
    trial_wish = wish;
}

bool modules_state::is_tried_first(std::span<module_state* const> codes) {
    const std::lock_guard guard(mutex);
    return trial_frame != nullptr &&
           std::ranges::any_of(codes, [](const module_state* m) { return m->current != nullptr; });
}

// ---- in the program -----------------------------------------------------------------------------

bool modules_state::follow_trial() {
    if (trial_on != nullptr) {
        trial_verdict own{trial_on->of, {}, {}, trial_on->within};
        std::unique_lock guard(mutex);
        const bool is_late = !std::ranges::all_of(trial_on->of, is_untried);
        if (is_late) {
            trial_on = nullptr;  // there are newer files
        } else {
            std::size_t size = 0;
            const auto message = std::as_writable_bytes(std::span(&own.last, 1));
            if (!trial_on->child.has_ended(message, size, own.how)) {
                trial_on->is_late = platform::monotonic_ns() > trial_on->end_ns;
                if (trial_on->is_late) trial_on->child.kill();
                return true;
            }
            if (size != message.size()) own.last = {};
            if (trial_on->is_late && own.last.end == trial_end::open) {
                own.last.end = trial_end::late;
            }
            trial_on = nullptr;
            verdict = std::move(own);
        }
    }
    if (verdict_waits()) {
        if (!options.watch) {
            check(false);
        } else {
            start_check();
        }
    }
    return verdict_waits() || begin_trial();
}

void modules_state::drop_untried(module_state& m) {
    if (m.untried != nullptr) platform::remove_file(m.untried->code.path);
    m.untried = nullptr;
}

bool modules_state::verdict_waits() {
    const std::lock_guard guard(mutex);
    return verdict.has_value();
}

std::vector<tried_code> modules_state::find_untried() const {
    std::vector<tried_code> all;
    for (const auto& one : list) {
        module_state& m = *one->state_;
        if (m.ready != nullptr) return {};  // that goes over first
        if (m.untried != nullptr) all.push_back({&m, m.untried->code.path});
    }
    return all;
}

bool modules_state::begin_trial() {
    {
        const std::lock_guard guard(mutex);
        if (std::ranges::none_of(list,
                                 [](const auto& one) { return one->state_->untried != nullptr; })) {
            trial_wanted_ns = 0;
            return false;
        }
    }
    const std::int64_t now_ns = platform::monotonic_ns();
    if (trial_wanted_ns == 0) trial_wanted_ns = now_ns;
    // Nobody else has a lock, or is in the midst of a change, when the child takes its copy. Later
    // frames will do, too.
    barrier rest(tasks);
    const bool rests = rest.reach({}, short_rest);
    if (!rests && now_ns - trial_wanted_ns < longest_rest_ns) return true;
    trial_wanted_ns = 0;
    std::unique_lock no_check(checking, std::try_to_lock);
    if (!no_check) return true;
    auto own = std::make_unique<running_trial>();
    std::unique_lock guard(mutex);
    own->of = find_untried();
    if (own->of.empty()) return true;
    own->within = trial_wish.within;
    bool in_child = false;
    const status went =
        rests ? own->child.begin(in_child)
              : status{1, std::string(rest.awake()) + " did not come to rest in time"};
    guard.unlock();
    if (in_child) be_child(*own);
    if (went) {
        own->end_ns = platform::monotonic_ns() + own->within.value + grace_ns;
        trial_on = std::move(own);
        return true;
    }
    for (const tried_code& one : own->of) {
        refuse(*one.of, "", "there was no process for its trial: " + went.text);
        const std::lock_guard again(mutex);
        drop_untried(*one.of);
    }
    return false;
}

bool modules_state::judge() {
    std::optional<trial_verdict> own;
    {
        const std::lock_guard guard(mutex);
        own.swap(verdict);
    }
    if (!own) return false;
    if (own->last.end != trial_end::passed) {
        refuse_tried(*own);
        return false;
    }
    take_untried(own->of);
    return true;
}

void modules_state::take_untried(std::span<const tried_code> of) {
    std::vector<module_state*> states;
    std::vector<std::shared_ptr<live_code>> codes;
    {
        const std::lock_guard guard(mutex);
        for (const tried_code& one : of) {
            if (!is_untried(one)) continue;
            states.push_back(one.of);
            codes.push_back(std::move(one.of->untried));
        }
    }
    take(states, std::move(codes), true);
}

/// The module that the thread was in, where that is known; others are tried without it.
void modules_state::refuse_tried(const trial_verdict& verdict_of) {
    const std::string reason = detail::text_of(verdict_of.last, verdict_of.how, verdict_of.within);
    const trial_message& last = verdict_of.last;
    const auto is_concerned = [&last](const tried_code& one) {
        if (last.end != trial_end::stale_call) return one.file == last.file;
        const live_code* const now = one.of->current.get();  // what it was to replace
        return now != nullptr && now->file.build_id.starts_with(last.text);
    };
    const bool is_known = std::ranges::any_of(verdict_of.of, is_concerned);
    for (const tried_code& one : verdict_of.of) {
        if (is_known && !is_concerned(one)) continue;
        std::string hash;
        {
            const std::lock_guard guard(mutex);
            if (!is_untried(one)) continue;
            hash = one.of->untried->hash;
        }
        // Where there was no memory, the content is not at fault.
        if (verdict_of.last.end == trial_end::no_memory) hash.clear();
        refuse(*one.of, hash, reason);
        const std::lock_guard guard(mutex);
        if (is_untried(one)) drop_untried(*one.of);
    }
    const std::lock_guard guard(mutex);
    drop_unfit(true);
    // relaxed: as in refuse().
    news.store(true, std::memory_order_relaxed);
}

// ---- in the child -------------------------------------------------------------------------------

void modules_state::be_child(running_trial& of) {
    stay_on_one_thread();
    try {
        trial_run run(of.child, trial_wish);
        std::vector<std::string> files;
        for (const tried_code& one : of.of) files.push_back(one.file);
        run.begin(files);
        run.enter(trial_step::load);
        take_untried(of.of);
        run.enter(trial_step::state);
        plan_state();
        const std::int64_t begun_ns = platform::monotonic_ns();
        const replacement all =
            find_replacement([](const module_state& m) { return m.ready != nullptr; });
        outcome went;
        {
            const std::lock_guard guard(mutex);
            swap(went);
        }
        // What is refused here by its tables or its state the program refuses, too.
        if (went.loaded_ != 0) try_code(run, all, went, begun_ns);
        run.pass();
    } catch (...) {
        trial_message last;
        last.end = trial_end::no_memory;
        of.child.send(std::as_bytes(std::span(&last, 1)));
        platform::child_process::leave();
    }
}

void modules_state::try_code(trial_run& run, const replacement& all, const outcome& went,
                             std::int64_t begun_ns) {
    // A call by a pointer that is older than the reload is to be found here, before it does harm.
    for (arena_state* const in : arenas) renew_destroyers(*in, all, true);
    std::vector<platform::image_place> current;
    for (const auto& each : list) {
        const module_state& m = *each->state_;
        if (m.current != nullptr) current.push_back(m.current->code.place);
    }
    known.stop_others(current);
    run.enter(trial_step::reloaded);
    for (const replacement::one& one : all.modules) {
        try {
            call_reloaded(one, went, begun_ns);
        } catch (...) {
            run.fail(trial_end::threw, "reloaded()");
        }
    }
    if (!run.call(trial_frame)) return;
    run.enter(trial_step::invariants);
    const std::string wrong = broken_invariant();
    if (!wrong.empty()) run.fail(trial_end::failed, wrong);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
