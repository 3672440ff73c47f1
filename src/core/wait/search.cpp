// What a waiting thread may run on top of its wait: work that the wait needs, and nothing else
// (I6).
#include "braid/core/scope.hpp"
#include "core/lists.hpp"
#include "core/wait/needed_work.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr auto high = static_cast<unsigned>(priority_level::high);
/// Entries of a ring at which a search looks: what lies deeper is run by whoever stands in.
constexpr std::size_t look_at = 64;

}  // namespace

bool runtime::enough_stack(worker& w) const {
    if (w.depth < 16) return true;
    if (w.stack_low == 0) w.stack_low = platform::current_stack().low;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here - w.stack_low > options.stack_reserve_bytes;
}

task_id runtime::find_work(worker& w, const wait_target& target, help policy) {
    if (policy == help::none || !enough_stack(w)) return {};
    if (target.run_everything) return next_task(w);
    if (target.job != nullptr) return {};                               // steal_needed_job()
    if (!target.task) return claim_needed(w, target, policy, look_at);  // does not look at needs
    if (!turn && w.kind != seat_kind::background) {
        // Most often the awaited task itself is the newest that this thread has made.
        const unsigned level = level_of(slots[index_of(target.task.value)]);
        const auto is_it = [&](std::uint64_t entry) { return entry == target.task.value; };
        if (w.ready[level].claim_newest_if(is_it, 1) != 0) {
            if (level == high) high_ready.fetch_sub(1, relaxed);
            return target.task;
        }
    }
    if (w.needed_for == target.task) {
        if (const task_id id = claim_needed(w, target, policy, look_at)) return id;
    }
    needed_work(*this, w).find(target.task);
    w.needed_for = target.task;
    return claim_needed(w, target, policy, look_at);
}

/// By what find_work() found for this target lately.
bool runtime::is_needed(worker& w, const wait_target& target, std::uint64_t entry) const {
    if (target.run_everything) return true;
    if (target.task) {
        return is_below(slots[index_of(entry)], target.task) ||
               (w.needed_for == target.task && needed_work(*this, w).contains(entry));
    }
    if (target.all_of == nullptr) return false;
    // Not followed: the scope of a task that is over by now may be gone. Tasks that came to the
    // scope by an environment of the user's are run by whoever stands in.
    return slots[index_of(entry)].environment.load(relaxed) == &target.all_of->environment_;
}

/// A node of the graph whose run is awaited.
bool runtime::is_node(task_id id, const wait_target& target) const {
    if (id == target.task) return false;
    const slot& s = slots[index_of(id.value)];
    return s.has(flag_own_way) && is_below(s, target.task);
}

task_id runtime::claim_needed(worker& w, const wait_target& target, help policy,
                              std::size_t look_at) {
    const auto wanted = [&](std::uint64_t entry) {
        if (policy == help::any && slots[index_of(entry)].has(flag_never_waits)) return true;
        return is_needed(w, target, entry);
    };
    // A thread that waits for an event serves all that was given to it.
    const auto serves = [&](std::uint64_t entry) {
        return wanted(entry) ||
               (target.signal != nullptr && slots[index_of(entry)].has(flag_direct));
    };
    if (w.kind == seat_kind::background) {
        const std::lock_guard lock(background_mutex);
        return take_background([&](std::uint32_t i) { return wanted(id_of(i).value); });
    }
    if (turn) return choose_ready(w, serves);
    if (const task_id id = direct_task_if(w, serves)) return id;
    if (target.signal != nullptr && policy != help::any) return {};
    return claim_public(w, wanted, look_at, true);
}

/// Of what lies in queues for everybody, the highest level first; in this thread's own ring the
/// newest or the oldest first, elsewhere the oldest. Looks at so many of each ring.
task_id runtime::claim_public(worker& w, id_test wanted, std::size_t look_at, bool newest) {
    const unsigned count = seat_count.load(acquire);
    for (unsigned level = level_count; level-- != 0;) {
        if (level == high && high_ready.load(relaxed) <= 0) continue;
        ready_queue& own = w.ready[level];
        if (own.newest() == 0) unspill(w, level);
        std::uint64_t id =
            newest ? own.claim_newest_if(wanted, look_at) : own.claim_oldest_if(wanted, look_at);
        for (unsigned n = 0; id == 0 && n < count; ++n) {
            worker* victim = seats[(w.index + 1 + n) % count].load(acquire);
            if (victim == nullptr || victim == &w) continue;
            id = victim->ready[level].claim_oldest_if(wanted, look_at);
        }
        if (id == 0 && spilled[level].size.load(relaxed) != 0) {
            const std::lock_guard lock(spilled[level].mutex);
            const std::uint32_t i =
                take_first(spilled[level], [&](std::uint32_t t) { return wanted(id_of(t).value); });
            if (i != no_index) id = id_of(i).value;
        }
        if (id == 0) continue;
        if (level == high) high_ready.fetch_sub(1, relaxed);
        return {id};
    }
    return {};
}

/// As find_work(), however much lies there.
task_id runtime::search_everything(worker& w, const wait_target& target, help policy) {
    if (target.job != nullptr) return {};
    if (target.task) {
        needed_work(*this, w).find(target.task);
        w.needed_for = target.task;
    }
    return claim_needed(w, target, policy, SIZE_MAX);
}

/// Whatever this thread may run: first what promised never to wait, then what is oldest, which
/// most likely waits for nothing that came before it.
task_id runtime::oldest_ready(worker& w) {
    constexpr auto any = [](std::uint64_t) { return true; };
    if (w.kind == seat_kind::background) {
        const std::lock_guard lock(background_mutex);
        return take_background([](std::uint32_t) { return true; });
    }
    if (turn) return choose_ready(w, any);
    if (const task_id id = direct_task(w)) return id;
    const auto promised = [&](std::uint64_t entry) {
        return slots[index_of(entry)].has(flag_never_waits);
    };
    if (const task_id id = claim_public(w, promised, SIZE_MAX, false)) return id;
    return claim_public(w, any, SIZE_MAX, false);
}

}  // namespace detail
BRAID_NAMESPACE_END
