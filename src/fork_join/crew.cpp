#include "braid/fork_join/crew.hpp"

#include "core/seat_lease.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// The running task, as a parent and for its level.
struct running {
    task_id id;  // empty for a posted one
    priority_level level;

    explicit running(const runtime& rt, const worker& w)
        : level(static_cast<priority_level>(rt.level_of(rt.slot_at(w.top->slot)))) {
        if (!rt.slot_at(w.top->slot).has(flag_posted)) id = rt.id_of(w.top->slot);
    }
};

}  // namespace

crew::crew(fork_context c, const char* name, std::size_t tokens, work_fn work, void* object)
    : work_(work), object_(object), name_(name) {
    const worker* w = fork_access::top(c)->stack->owner;
    if (w == nullptr) return;
    rt_ = &w->rt;
    // Nobody helps background work. Without a task the scheduler was shut down.
    if (w->kind == seat_kind::background || w->top == nullptr) return;
    // One more than the caller in any case: a stage may wait for what another item does, and a
    // reserve runs it then.
    const unsigned threads = std::max(2U, rt_->active_workers(relaxed) + 1);
    most_ = static_cast<unsigned>(std::min<std::size_t>(tokens, threads));
}

bool crew::call() {
    const running task(*rt_, *rt_->bound());
    if (!root_) {
        // By the caller, which is the only one so far. Open until wait() publishes it. As if a
        // handle held it: a child that is cancelled is no failure of the caller's task.
        draft_ = open_task(*rt_, nullptr, {.name = name_, .parent = task.id, .where = {}},
                           draft_kind::valued);
        if (draft_.storage == nullptr) return false;
        root_ = rt_->id_of(index_of(draft_));
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
    outcome* received = nullptr;
    rt_->wait_here({.task = root_}, forever, help::needed, &received);
    rt_->drop(received);
    rt_->release_holder(*seat_lease(*rt_, nullptr), root_);
}

void* crew::allocate(std::size_t bytes, std::size_t alignment) {
    return rt_ != nullptr ? rt_->memory().allocate(bytes, alignment, memory_tag::queue) : nullptr;
}
void crew::release(void* p, std::size_t bytes, std::size_t alignment) {
    rt_->memory().release(p, bytes, alignment, memory_tag::queue);
}

}  // namespace detail
BRAID_NAMESPACE_END
