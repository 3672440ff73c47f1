#include "core/ready/background_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

seats_seat* background_room::put_in_background(std::uint32_t index) {
    // Both locks are needed. A thread that finds no task counts itself as idle under `mutex_`. So
    // either that thread finds this task, or this call sees it as idle.
    const locked lock(mutex_);
    task_list& list = lists_[slots.level_of(slots.at(index))];
    {
        const locked of_list(list.lock);
        list.append(slots, index, index);
    }
    return idle_count_ != 0 ? idle_[--idle_count_] : nullptr;
}

task_id background_room::take_background(id_test wanted) {
    const auto fits = [&](std::uint32_t i) { return wanted(slots.id_of(i).value); };
    for (unsigned level = level_count; level-- != 0;) {
        const std::uint32_t index = take_background_if(level, fits);
        if (index != no_index) return slots.id_of(index);
    }
    return {};
}

task_id background_room::take_any() {
    return take_background([](std::uint64_t) { return true; });
}

task_id background_room::take_background_or_rest(seats_seat& w) {
    const locked lock(mutex_);
    const task_id id = take_any();
    if (!id) idle_[idle_count_++] = &w;
    return id;
}

void background_room::background_thread_woke(const seats_seat& w) {
    const locked lock(mutex_);
    seats_seat** const end = std::remove(idle_, idle_ + idle_count_, &w);
    idle_count_ = static_cast<unsigned>(end - idle_);
}

task_id background_room::take_stranded_background() {
    const locked lock(mutex_);
    return threads_ > waiting_ ? task_id{} : take_any();
}

bool background_room::take_out_of_background(task_id id, unsigned level) {
    return take_background_if(level, [&](std::uint32_t i) { return slots.id_of(i) == id; }) !=
           no_index;
}

bool background_room::add_background_thread(unsigned& number) {
    const locked lock(mutex_);
    const unsigned allowed =
        static_cast<unsigned>(std::max(1, options.background_threads)) + waiting_;
    if (threads_ >= allowed) return false;
    number = threads_++;
    return true;
}

void background_room::background_thread_refused() {
    const locked lock(mutex_);
    --threads_;
}

bool background_room::count_background_waiter(int change) {
    const locked lock(mutex_);
    waiting_ += static_cast<unsigned>(change);
    bool queued = false;
    for (const task_list& list : lists_) queued = queued || list.size(relaxed) != 0;
    return queued && change > 0;
}

}  // namespace detail
BRAID_NAMESPACE_END
