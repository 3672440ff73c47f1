#include "braid/async/message_source.hpp"

#include "async/source_state.hpp"

BRAID_NAMESPACE_BEGIN

namespace detail {

/// The source needs no thread, so it is never armed; the scheduler knows it for the report of a
/// source that outlives it.
struct message_tasks::state final : source_state<int> {
    state(runtime& rt, message_tasks& of, const message_options& o)
        : source_state(rt, kind::timer, o.name, o.where),
          owner(of),
          task(options_of(o.task, o.name, o.where)) {}

    void arrived(runtime&, whole_seat&, const core::arrival&) override {}
    void abandon() override {
        const functions f = serves;
        end_source(rt_, owner.state_);
        if (f.drop != nullptr) f.drop(f.self);
    }
    void show_code(code_search& to) const override {
        to.look_at_callable(code_use::callback, name(), reinterpret_cast<const void*>(serves.serve),
                            serves.captures, serves.captured_bytes);
    }
    bool has_left() const { return serves.left != nullptr && serves.left(serves.self); }
    /// True: there is a task, or will be.
    bool make_task_for_left();
    static void run(void* storage, task_context* context);

    message_tasks& owner;
    const task_options task;
    functions serves{};
    // There is a task, or one is being made. A thread that has pushed, or has served, looks at it
    // (seq_cst) after that; one that ends a task sets it back and looks at the messages (seq_cst):
    // one of the two sees the other.
    atomic<bool> has_task{false};
    atomic<bool> was_cancelled{false};  // the latest task; relaxed: for who has waited for it
};

/// Known before it may run, and after the one before it, which may still be on its way out: when
/// the newest is complete, all are.
bool message_tasks::state::make_task_for_left() {
    if (!has_left() || has_task.exchange(true, seq_cst)) return true;
    const auto before = {newest()};
    task_options how = task;
    if (is_busy()) how.after_any = before;
    const draft opened = open_task(rt_, nullptr, how, draft_kind::spawned);
    if (opened.storage != nullptr) set_newest(core::id_of(rt_, opened));
    if (put_and_publish<state*>(rt_, opened, publish_task, &run, this)) return true;
    has_task.store(false, seq_cst);
    return false;
}

void message_tasks::state::run(void* storage, task_context* context) {
    state& s = **std::launder(static_cast<state**>(storage));
    const bool serves_now = context != nullptr && !context->cancelled();
    s.was_cancelled.store(!serves_now, relaxed);
    if (serves_now) guarded(*context, [&] { s.serves.serve(s.serves.self, *context); });
    s.has_task.store(false, seq_cst);
    // One that was cancelled has served nothing, and neither would the next.
    if (serves_now) s.make_task_for_left();
}

message_tasks::message_tasks(runtime& rt, message_options& options) : rt_(rt) {
    core::point(rt);
    using range = message_options;
    if (options.name == nullptr) options.name = "messages";
    const limiter limits = core::limits(rt, "message_options");
    limits.clamp(options.capacity, range::least_capacity, range::most_capacity, "capacity");
    limits.clamp(options.batch, 1U, range::most_batch, "batch");
    state_ = make_source<state>(rt, *this, options);
}

void message_tasks::open(const functions& f) {
    if (state_ != nullptr) state_->serves = f;
}

bool message_tasks::close() {
    if (state_ == nullptr) return true;
    core::point(rt_);
    while (true) {
        while (state_->is_busy()) {
            core::failure received(rt_);  // dropped unseen: the handler gets it
            if (!core::wait(rt_, state_->newest(), help::needed, received)) return false;
        }
        if (!state_->has_left() || !core::accepts_tasks(rt_)) break;
        if (state_->was_cancelled.load(relaxed) || !state_->make_task_for_left()) break;
    }
    return end_source(rt_, state_);
}

bool message_tasks::accepts() const {
    if (state_ == nullptr || state_->serves.self == nullptr) return false;
    core::point(rt_);
    return core::accepts_tasks(rt_);
}

void message_tasks::pushed() { state_->make_task_for_left(); }

task_id message_tasks::newest() const { return state_ != nullptr ? state_->newest() : task_id{}; }

}  // namespace detail
BRAID_NAMESPACE_END
