#include "braid/fork_join/crew.hpp"

#include "core/extension.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

crew::crew(fork_context c, const char* name, std::size_t tokens, work_fn work, void* object)
    : work_(work), object_(object), name_(name) {
    const core::seat* w = core::seat_of(c);
    if (w == nullptr) return;
    rt_ = &core::scheduler_of(*w);
    // Nobody helps background work. Without a task the scheduler was shut down.
    if (core::is_background(*w) || !core::runs_task(*w)) return;
    // One more than the caller in any case: a stage may wait for what another item does, and a
    // reserve runs it then.
    const unsigned threads = std::max(2U, core::worker_count(*rt_) + 1);
    most_ = static_cast<unsigned>(std::min<std::size_t>(tokens, threads));
    identity_ = fork_access::identity_of_pieces(c);
}

bool crew::call() {
    core::seat& w = *core::own_seat(*rt_);
    const core::running task = core::running_on(w);
    // It is of no item's creation. relaxed: a number.
    const bool identified = identity_ != 0;
    const core::part_of_task as(
        w, identified ? core::join_stable_ids(core::join_stable_ids(identity_, "call"),
                                              calls_.fetch_add(1, relaxed))
                      : 0);
    if (!root_) {
        // By the caller, which is the only one so far. Open until wait() publishes it. As if a
        // handle held it: a child that is cancelled is no failure of the caller's task.
        draft_ = open_task(*rt_, nullptr, {.name = name_, .parent = task.id, .where = {}},
                           draft_kind::valued);
        if (draft_.storage == nullptr) return false;
        root_ = core::id_of(*rt_, draft_);
    }
    const draft one = open_task(
        *rt_, nullptr,
        {.name = name_, .parent = root_, .priority = task.level, .may_be_long = true, .where = {}},
        draft_kind::posted);
    if (one.storage == nullptr) return false;
    ::new (one.storage) crew*(this);
    publish_task(*rt_, one, &run);
    return true;
}

void crew::run(void* storage, task_context* context) {
    const crew& self = **std::launder(static_cast<crew**>(storage));
    if (context == nullptr) return self.work_(self.object_, nullptr);
    const fork_context c(*context);
    self.work_(self.object_, &c);
}

void crew::wait() {
    if (!root_) return;
    publish_task(*rt_, draft_, nullptr);
    {
        core::failure unseen(*rt_);
        core::wait(*rt_, root_, help::needed, unseen);
    }
    core::release_handle(*rt_, root_);
}

void* crew::allocate(std::size_t bytes, std::size_t alignment) {
    return rt_ != nullptr ? core::memory(*rt_).allocate(bytes, alignment, memory_tag::queue)
                          : nullptr;
}
void crew::release(void* p, std::size_t bytes, std::size_t alignment) {
    core::memory(*rt_).release(p, bytes, alignment, memory_tag::queue);
}

}  // namespace detail
BRAID_NAMESPACE_END
