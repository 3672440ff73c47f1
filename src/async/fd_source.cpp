#include "braid/async/fd_source.hpp"

#include "async/source_state.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

struct fd_source::state final : detail::source_state<const fd_event&> {
    state(detail::runtime& rt, fd_source& of, const fd_options& o)
        : source_state(rt, kind::descriptor, o.name != nullptr ? o.name : "descriptor", o.where),
          owner(of),
          options(o) {}

    /// In the storage of an event's task.
    struct event_body {
        state* of;
        fd_event event;
    };

    void arrived(detail::runtime& rt, detail::whole_seat& w, const core::arrival& what) override;
    void abandon() override { owner.end(); }
    void note(const char* refused);
    void watch_again();
    void rest();
    static void run(void* storage, task_context* context);
    static void run_again(void* storage, task_context* context);

    // Where there is no memory for the task that follows, what comes second of these two waits for
    // the descriptor again: the end of the body, and that the task was refused.
    enum : std::uint32_t { ended = 1, refused_next = 2 };

    fd_source& owner;
    const fd_options options;
    const platform::descriptor_events wanted{.readable = options.readable,
                                             .writable = options.writable};
    atomic<std::uint32_t> marks{0};
    bool rests = false;               // no task for the latest event; the source thread's
    atomic<std::uint64_t> events{0};  // relaxed: a count
    atomic<const char*> error{nullptr};
};

void fd_source::state::run(void* storage, task_context* context) {
    const event_body b = *std::launder(static_cast<event_body*>(storage));
    if (context != nullptr) {
        detail::guarded(*context, [&] { b.of->body().call(*context, b.event); });
    }
    // acq_rel: pairs with arrived(); the one of the two that comes second.
    if ((b.of->marks.fetch_or(ended, acq_rel) & refused_next) != 0) b.of->watch_again();
}

void fd_source::state::run_again(void* storage, task_context*) {
    (*std::launder(static_cast<state**>(storage)))->watch_again();
}

void fd_source::state::note(const char* refused) {
    if (refused == nullptr) return;
    error.store(refused, release);  // pairs with error()
    core::log(rt_, log_level::error, "no tasks for descriptor %d of '%s': %s", options.descriptor,
              name(), refused);
}

/// No task could be made, mostly for want of memory. The event stays with the descriptor.
void fd_source::state::rest() {
    if (!std::exchange(rests, true)) {
        core::log(rt_, log_level::error,
                  "no task could be made for descriptor %d of '%s': it is tried again every 10 ms",
                  options.descriptor, name());
    }
    core::sources(rt_).rest(*this);
}

void fd_source::state::watch_again() { note(core::sources(rt_).watch_again(*this, wanted)); }

void fd_source::state::arrived(detail::runtime& rt, detail::whole_seat& w,
                               const core::arrival& what) {
    if (what.rested) return watch_again();
    if (!core::accepts_tasks(rt)) return;
    marks.store(0, relaxed);  // nobody else has it now
    const fd_event event{.descriptor = options.descriptor,
                         .readable = what.events.readable,
                         .writable = what.events.writable,
                         .hung_up = what.events.hung_up};
    const task_id made = detail::submit_as<event_body>(
        rt, &w, detail::options_of(options.task, name(), options.where),
        detail::draft_kind::spawned, &run, event_body{this, event});
    if (!made) return rest();
    rests = false;
    set_newest(made);
    events.fetch_add(1, relaxed);
    // However it ends, and whether or not its scope is cancelled.
    const task_id next = detail::submit_as<state*>(rt, &w,
                                                   {.name = "wait for descriptor",
                                                    .after_any = {made},
                                                    .never_waits = true,
                                                    .where = options.where},
                                                   detail::draft_kind::spawned, &run_again, this);
    if (next) {
        set_newest(next);
    } else if ((marks.fetch_or(refused_next, acq_rel) & ended) != 0) {
        watch_again();
    }
}

void fd_source::start(const fd_options& options, detail::source_body<const fd_event&>& body) {
    core::point(rt_);
    state_ = detail::make_source<state>(rt_, *this, options);
    if (state_ == nullptr) return body.reset(rt_);
    state_->body().take(body);
    state_->note(core::sources(rt_).watch(*state_, options.descriptor, state_->wanted));
}

/// Also where the scheduler ends first.
void fd_source::end() { detail::end_source(rt_, state_); }

fd_source::~fd_source() {
    if (state_ == nullptr) return;
    core::point(rt_);
    end();
}

void fd_source::stop() {
    if (state_ == nullptr) return;
    core::point(rt_);
    core::sources(rt_).disarm(*state_);
}

const char* fd_source::error() const {
    if (state_ == nullptr) return "there is no memory for it, or its scheduler has ended";
    core::point(rt_);
    return state_->error.load(acquire);  // pairs with note()
}

task_id fd_source::task() const {
    if (state_ == nullptr) return {};
    core::point(rt_);
    return state_->newest();
}

std::uint64_t fd_source::events() const {
    if (state_ == nullptr) return 0;
    core::point(rt_);
    return state_->events.load(relaxed);
}

BRAID_NAMESPACE_END
