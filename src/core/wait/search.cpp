#include "core/wait/search.hpp"

#include "braid/core/scope.hpp"
#include "core/ready/lists.hpp"
#include "core/wait/needed_work.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr auto high = static_cast<unsigned>(priority_level::high);
/// Entries of a ring at which a search looks: a thread that stands in runs what lies deeper.
constexpr std::size_t first_entries = 64;

}  // namespace

bool enough_stack(const runtime& rt, worker& w) {
    if (w.depth < 16) return true;
    if (w.stack_low == 0) w.stack_low = platform::current_stack().low;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here - w.stack_low > rt.options().stack_reserve_bytes;
}

task_id work_search::find() {
    if (policy_ == help::none || !enough_stack(rt_, w_)) return {};
    if (target_.run_everything) return rt_.next_task(w_);
    if (target_.branch != nullptr) return {};               // steal_needed_branch()
    if (!target_.task) return claim_needed(first_entries);  // does not look at needs
    if (!rt_.serial() && w_.kind != seat_kind::background) {
        // Most often the awaited task itself is the newest that this thread has made.
        const unsigned level = rt_.level_of(rt_.slot_at(index_of(target_.task.value)));
        const auto is_it = [&](std::uint64_t entry) { return entry == target_.task.value; };
        if (w_.ready[level].claim_newest_if(is_it, 1) != 0) {
            if (level == high) rt_.high_ready.fetch_sub(1, relaxed);
            return target_.task;
        }
    }
    if (w_.needed_for == target_.task) {
        if (const task_id id = claim_needed(first_entries)) return id;
    }
    needed_work(rt_, w_).find(target_.task);
    w_.needed_for = target_.task;
    return claim_needed(first_entries);
}

bool work_search::is_needed(std::uint64_t entry) const {
    if (target_.run_everything) return true;
    if (target_.task) {
        return rt_.is_below(rt_.slot_at(index_of(entry)), target_.task) ||
               (w_.needed_for == target_.task && needed_work(rt_, w_).contains(entry));
    }
    if (target_.all_of == nullptr) return false;
    // Not followed: the scope of a task that is complete by now may be gone. A thread that stands
    // in runs the tasks that came to the scope by an environment of the user's.
    return rt_.slot_at(index_of(entry)).environment.load(relaxed) ==
           runtime::environment_of(*target_.all_of);
}

bool work_search::is_node(task_id id) const {
    if (id == target_.task) return false;
    const slot& s = rt_.slot_at(index_of(id.value));
    return s.has(flag_own_way) && rt_.is_below(s, target_.task);
}

task_id work_search::claim_needed(std::size_t look_at) {
    const auto wanted = [&](std::uint64_t entry) {
        if (policy_ == help::any && rt_.slot_at(index_of(entry)).has(flag_never_waits)) return true;
        return is_needed(entry);
    };
    // A thread that waits for an event serves all that was given to it.
    const auto serves = [&](std::uint64_t entry) {
        return wanted(entry) ||
               (target_.signal != nullptr && rt_.slot_at(index_of(entry)).has(flag_direct));
    };
    if (w_.kind == seat_kind::background) {
        const std::lock_guard lock(rt_.background.mutex);
        return rt_.take_background([&](std::uint32_t i) { return wanted(rt_.id_of(i).value); });
    }
    if (rt_.serial()) return rt_.choose_ready(w_, serves);
    if (const task_id id = rt_.direct_task_if(w_, serves)) return id;
    if (target_.signal != nullptr && policy_ != help::any) return {};
    return claim_public(wanted, look_at, true);
}

/// Claims from what lies in queues for everybody, the highest level first; in this thread's own
/// ring the newest or the oldest first, elsewhere the oldest. Looks at so many of each ring.
task_id work_search::claim_public(id_test wanted, std::size_t look_at, bool newest) {
    const unsigned count = rt_.seat_count();
    for (unsigned level = level_count; level-- != 0;) {
        if (level == high && rt_.high_ready.load(relaxed) <= 0) continue;
        ready_queue& own = w_.ready[level];
        if (own.newest() == 0) rt_.refill_from_overflow(w_, level);
        std::uint64_t id =
            newest ? own.claim_newest_if(wanted, look_at) : own.claim_oldest_if(wanted, look_at);
        for (unsigned n = 0; id == 0 && n < count; ++n) {
            worker* victim = &rt_.seat_at((w_.index + 1 + n) % count);
            if (victim == &w_) continue;
            id = victim->ready[level].claim_oldest_if(wanted, look_at);
        }
        if (id == 0 && rt_.overflow[level].size.load(relaxed) != 0) {
            const std::lock_guard lock(rt_.overflow[level].mutex);
            const std::uint32_t i = rt_.take_first(
                rt_.overflow[level], [&](std::uint32_t t) { return wanted(rt_.id_of(t).value); });
            if (i != no_index) id = rt_.id_of(i).value;
        }
        if (id == 0) continue;
        if (level == high) rt_.high_ready.fetch_sub(1, relaxed);
        return {id};
    }
    return {};
}

task_id work_search::find_anywhere() {
    if (target_.branch != nullptr) return {};
    if (target_.task) {
        needed_work(rt_, w_).find(target_.task);
        w_.needed_for = target_.task;
    }
    return claim_needed(SIZE_MAX);
}

task_id work_search::oldest_ready() {
    constexpr auto any = [](std::uint64_t) { return true; };
    if (w_.kind == seat_kind::background) {
        const std::lock_guard lock(rt_.background.mutex);
        return rt_.take_background([](std::uint32_t) { return true; });
    }
    if (rt_.serial()) return rt_.choose_ready(w_, any);
    if (const task_id id = rt_.direct_task(w_)) return id;
    const auto promised = [&](std::uint64_t entry) {
        return rt_.slot_at(index_of(entry)).has(flag_never_waits);
    };
    if (const task_id id = claim_public(promised, SIZE_MAX, false)) return id;
    return claim_public(any, SIZE_MAX, false);
}

}  // namespace detail
BRAID_NAMESPACE_END
