#pragma once
// What the states of timers and descriptors have in common.

#include "braid/async/source_task.hpp"
#include "braid/core/code_holders.hpp"
#include "core/extension.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

inline task_options options_of(const source_task& t, const char* name,
                               const std::source_location& where) {
    return {.name = name,
            .priority = t.priority,
            .category = t.category,
            .runs_as = t.runs_as,
            .on = t.on,
            .workers = t.workers,
            .within = t.within,
            .environment = t.environment,
            .never_waits = t.never_waits,
            .may_be_long = t.may_be_long,
            .module = t.module,
            .where = where};
}

/// A source, its callable, and the newest of its tasks.
template <class What>
class source_state : public code_holder, public core::outside_source {
public:
    source_state(runtime& rt, kind k, const char* name, const std::source_location& where)
        : code_holder(rt), outside_source(k, name, where), rt_(rt) {
        core::attach_source(rt, *this);
    }
    ~source_state() override { body_.reset(rt_); }

    source_body<What>& body() { return body_; }
    const source_body<What>& body() const { return body_; }
    void show_code(code_search& to) const override {
        to.look_at_callable(code_use::callback, name(), body_.code(), body_.object(), body_.size());
    }

    /// acquire: who knows the id sees what the source thread did before.
    task_id newest() const { return {newest_.load(acquire)}; }
    void set_newest(task_id id) { newest_.store(id.value, release); }  // pairs with newest()
    /// Never two of its tasks at a time.
    bool is_busy() const {
        const task_id id = newest();
        return id && core::is_open(rt_, id);
    }
    /// Nobody calls in any more, and the newest task is complete. False, and reported: that task
    /// is the caller.
    bool come_to_rest() {
        core::sources(rt_).detach(*this);
        if (!is_busy()) return true;
        core::failure received(rt_);  // dropped unseen: the handler gets it
        return core::wait(rt_, newest(), help::needed, received);
    }

protected:
    runtime& rt_;

private:
    source_body<What> body_;
    atomic<std::uint64_t> newest_{0};
};

/// In the scheduler's memory. Null: there is none.
template <class State, class... Arguments>
State* make_source(runtime& rt, Arguments&&... arguments) {
    void* bytes = core::memory(rt).allocate(sizeof(State), alignof(State), memory_tag::closure);
    return bytes != nullptr ? ::new (bytes) State(rt, std::forward<Arguments>(arguments)...)
                            : nullptr;
}
/// `s` is what tasks of its own may still call, and null afterwards. False, and reported: one of
/// them has called this, and its memory stays.
template <class State>
bool end_source(runtime& rt, State*& s) {
    if (!s->come_to_rest()) return false;
    s->~State();
    core::memory(rt).release(std::exchange(s, nullptr), sizeof(State), alignof(State),
                             memory_tag::closure);
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
