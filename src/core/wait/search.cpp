#include "core/wait/search.hpp"

#include "braid/core/scope.hpp"
#include "core/wait/needed_work.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// A search checks at most this many entries of each queue. A reserve thread runs what is further
/// back in the queue.
constexpr std::size_t first_entries = 64;

}  // namespace

bool enough_stack(const wait_room& rt, wait_seat& w) {
    if (w.depth < 16) return true;
    if (w.stack_low == 0) w.stack_low = platform::current_stack().low;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here - w.stack_low > rt.options.stack_reserve_bytes;
}

task_id work_search::find() {
    if (policy_ == help::none || !enough_stack(rt_, w_)) return {};
    if (target_.run_everything) return rt_.next_task(w_);
    if (target_.branch != nullptr) return {};               // see steal_needed_branch()
    if (!target_.task) return claim_needed(first_entries);  // scopes and events have no list
    if (!rt_.serial && w_.kind != seat_kind::background) {
        // Most often the awaited task is the newest task in this thread's own ring.
        if (rt_.take_own_newest(w_, target_.task)) return target_.task;
    }
    if (needs_are_known()) {
        if (const task_id id = claim_needed(first_entries)) return id;
    }
    look_for_needs();
    return claim_needed(first_entries);
}

bool work_search::is_needed(std::uint64_t entry) const {
    if (target_.run_everything) return true;
    if (target_.task) {
        const slot& s = rt_.slots.at(index_of(entry));
        // A task that is only perhaps needed is left to other threads. This thread runs it only if
        // certain threads must begin it, or if no reserve thread could stand in.
        const bool is_for_few = rt_.details.is_direct(s) && s.runner.load(relaxed) == UINT16_MAX;
        const auto how = is_for_few       ? needed_work::for_threads
                         : others_cannot_ ? needed_work::limited
                                          : needed_work::sure;
        return rt_.slots.is_below(s, target_.task) ||
               (needs_are_known() && needed_work(rt_, w_, target_).contains(entry, how));
    }
    if (target_.all_of == nullptr) return false;
    // Only compares the address: if the task is complete by now, its scope may be gone. Tasks that
    // came to the scope by an environment of the user do not match here; a reserve thread runs
    // them.
    return rt_.slots.at(index_of(entry)).environment.load(relaxed) == &target_.all_of->environment;
}

bool work_search::wants_its_kind(task_id id) const {
    if (id == target_.task) return false;
    const slot& s = rt_.slots.at(index_of(id.value));
    return s.has(flag_own_kind) && rt_.slots.is_below(s, target_.task);
}

bool work_search::serves(std::uint64_t entry) const {
    if (policy_ == help::any && rt_.slots.at(index_of(entry)).has(flag_never_waits)) return true;
    return is_needed(entry);
}

task_id work_search::claim_needed(std::size_t look_at) {
    const auto wanted = [&](std::uint64_t entry) { return serves(entry); };
    // A wait for an event also runs all tasks that only this thread, or certain threads, may run.
    const auto served = [&](std::uint64_t entry) {
        return serves(entry) ||
               (target_.signal != nullptr && rt_.details.is_direct(rt_.slots.at(index_of(entry))));
    };
    if (w_.kind == seat_kind::background) return rt_.take_background(wanted);
    if (rt_.serial) return rt_.choose_ready(w_, served);
    if (const task_id id = rt_.direct_task_if(w_, served)) return id;
    if (target_.signal != nullptr && policy_ != help::any) return {};
    return rt_.take_if(w_, wanted, look_at, look_first::own_newest);
}

/// Searches for the needs again if another wait on this thread has replaced the seat's list
/// meanwhile.
void work_search::find_needs() {
    if (target_.task && !needs_are_known()) look_for_needs();
}

void work_search::look_for_needs() {
    needed_work(rt_, w_, target_).find();
    w_.needed_for = target_.task;
    w_.needed_list = target_.list;
}

task_id work_search::take_others(id_test wanted) {
    find_needs();
    if (rt_.serial != nullptr) return rt_.choose_ready(w_, wanted);
    return rt_.take_if(w_, wanted, first_entries, look_first::others);
}

task_id work_search::needed_of_others() {
    // With a chooser, find() has already considered all needed tasks.
    if (rt_.serial != nullptr || !enough_stack(rt_, w_)) return {};
    return take_others([&](std::uint64_t entry) { return serves(entry); });
}

bool work_search::others_are_ready() {
    bool any = false;
    (void)take_others([&](std::uint64_t entry) {
        any = any || !is_needed(entry);
        return false;  // claims nothing
    });
    return any;
}

task_id work_search::oldest_of_others() {
    if (!enough_stack(rt_, w_)) return {};
    return take_others([&](std::uint64_t entry) { return !is_needed(entry); });
}

task_id work_search::find_anywhere() {
    if (target_.branch != nullptr) return {};
    if (target_.task) look_for_needs();
    return claim_needed(SIZE_MAX);
}

task_id work_search::oldest_ready() {
    if (!enough_stack(rt_, w_)) return {};
    constexpr auto any = [](std::uint64_t) { return true; };
    if (w_.kind == seat_kind::background) return rt_.take_background(any);
    if (rt_.serial) return rt_.choose_ready(w_, any);
    if (const task_id id = rt_.direct_task(w_)) return id;
    const auto promised = [&](std::uint64_t entry) {
        return rt_.slots.at(index_of(entry)).has(flag_never_waits);
    };
    if (const task_id id = rt_.take_if(w_, promised, SIZE_MAX, look_first::own_oldest)) return id;
    return rt_.take_if(w_, any, SIZE_MAX, look_first::own_oldest);
}

}  // namespace detail
BRAID_NAMESPACE_END
