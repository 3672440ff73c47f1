// Finds everything in a scheduler at rest that points into a range of code: task slots, handlers,
// stacks, and all registered code holders.
#include "braid/core/code_holders.hpp"

#include "braid/core/suspend.hpp"
#include "core/control/seat_lease.hpp"
#include "core/run/ticket_kind.hpp"

#include <cstring>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN

const char* text_of(code_use use) {
    switch (use) {
        case code_use::task:
            return "task";
        case code_use::stack:
            return "stack of thread";
        case code_use::node:
            return "node of graph";
        case code_use::job:
            return "job";
        case code_use::queued:
            return "work in queue";
        case code_use::thread:
            return "thread";
        case code_use::handler:
            return "handler";
        case code_use::observer:
            return "observer or chooser";
        case code_use::callback:
            return "callback";
    }
    return "";
}

bool code_search::look_into(const held_code& what, const void* bytes, std::size_t size) {
    const auto* const from = static_cast<const std::byte*>(bytes);
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= size; at += sizeof(std::uintptr_t)) {
        held_code here = what;
        std::memcpy(&here.address, from + at, sizeof here.address);
        if (!where_.has(here.address)) continue;
        report(here);
        return true;
    }
    return false;
}

void code_search::look_at_callable(code_use use, const char* name, const void* code,
                                   const void* object, std::size_t size) {
    const held_code what{.use = use,
                         .name = name != nullptr ? name : "",
                         .address = reinterpret_cast<std::uintptr_t>(code)};
    if (where_.has(what.address)) return report(what);
    if (object != nullptr) look_into(what, object, size);
}

code_holder::code_holder(scheduler& s) : code_holder(s.internals()) {}
code_holder::code_holder(detail::runtime& rt) : rt_(rt) { rt_.holders().add(*this); }
code_holder::~code_holder() { rt_.holders().remove(*this); }

namespace detail {
namespace {

/// Returns the resumable_body in the slot's storage. Returns null if the task has another kind of
/// body, or if a value has replaced the body.
const resumable_body* resumable_body_of(const task_room& tasks, const slot& s) {
    const detail_block* const d = s.has(flag_detailed) ? tasks.details.find(s) : nullptr;
    if (d == nullptr || !d->resumable || d->has_value.load(relaxed)) return nullptr;
    return std::launder(reinterpret_cast<const resumable_body*>(s.storage));
}

/// Returns true if the slot still has its callable, or has a value that `invoke` destroys.
bool has_callable(const task_room& tasks, const slot& s) {
    if (!s.has(flag_own_kind) && s.invoke == nullptr) return false;
    // The count of open work does not show this: a posted task that has run keeps its own share.
    const bool open = !is_closed(s.successors.load(acquire));  // pairs with open_words()
    if (open) return s.runner.load(relaxed) == UINT16_MAX || s.has(flag_shared);
    const detail_block* const d = s.has(flag_detailed) ? tasks.details.find(s) : nullptr;
    return d != nullptr && d->has_value.load(relaxed);
}

/// Checks a user object that has virtual functions: its address, and its virtual table.
void look_at_object(code_search& to, const char* name, const void* object) {
    if (object == nullptr) return;
    const held_code what{.use = code_use::observer,
                         .name = name,
                         .address = reinterpret_cast<std::uintptr_t>(object)};
    if (to.where().has(what.address)) return to.report(what);
    to.look_into(what, object, sizeof(void*));  // the pointer to its virtual table
}

}  // namespace

bool runtime::look_into_storage(code_search& to, const held_code& what, const slot& s) const {
    if (const resumable_body* const body = resumable_body_of(*this, s)) {
        return body->show_code(*body, to, what);
    }
    return to.look_into(what, s.storage, sizeof s.storage);
}

void runtime::search_task(code_search& to, std::uint32_t index) const {
    const slot& s = slots.at(index);
    if (!has_callable(*this, s)) return;
    held_code what{.use = code_use::task,
                   .name = s.name != nullptr ? s.name : "",
                   .address = 0,
                   .task = slots.id_of(index)};
    const code_range& where = to.where();
    if (s.has(flag_own_kind) && s.kind == &completion_kind) {
        const completion_facts& facts = completion_at(s);
        const auto look_at = [&](const void* code) {
            what.address = reinterpret_cast<std::uintptr_t>(code);
            to.look_at(what);
        };
        if (where.tag != 0 && s.module == where.tag) return to.report(what);
        look_at(reinterpret_cast<const void*>(facts.hint.ask));
        if (facts.extra != no_index) look_at(extra_at(facts.extra).held.code());
        return;
    }
    if (s.has(flag_own_kind) && s.kind != &ticket_kind) return;  // the task's module reports it
    if (!s.has(flag_own_kind) && s.invoke != nullptr) {
        what.address = reinterpret_cast<std::uintptr_t>(s.invoke);
        if (where.has(what.address) || (where.tag != 0 && s.module == where.tag)) {
            return to.report(what);
        }
    }
    if (look_into_storage(to, what, s)) return;
    what.address = reinterpret_cast<std::uintptr_t>(s.environment.load(relaxed));
    to.look_at(what);
}

/// Searches the captures of the tasks that a resting thread has begun but not ended.
void runtime::search_running(code_search& to, const whole_seat& w) const {
    for (const running_task* t = w.top; t != nullptr; t = t->below) {
        const slot& s = slots.at(t->slot);
        // Other tasks are reported by search_task(), as if they had not begun, or by their module.
        if (s.has(flag_own_kind) || has_callable(*this, s)) continue;
        look_into_storage(to,
                          {.use = code_use::task,
                           .name = s.name != nullptr ? s.name : "",
                           .task = slots.id_of(t->slot)},
                          s);
    }
}

bool runtime::is_running(task_id id) const {
    for (unsigned i = 0; i < seat_count(); ++i) {
        const whole_seat& w = seat_at(i);
        if (!is_own(w) && &w != bound() && !w.inside.load(acquire)) continue;
        for (const running_task* t = w.top; t != nullptr; t = t->below) {
            if (t->slot == index_of(id.value)) return true;
        }
    }
    return false;
}

bool runtime::cancel_at_rest(task_id id) {
    slot& s = slots.at(id);
    constexpr std::uint16_t others = flag_own_kind | flag_shared;
    if (s.has(others) || s.runner.load(relaxed) != UINT16_MAX || is_running(id)) return false;
    if (details.was_suspended(s)) return false;  // lists of what it awaits point to its frame
    s.mark(flag_cancel);  // a lock in resume() orders this before the task's end
    if (const closure_fn end = std::exchange(s.invoke, nullptr)) end(s.storage, nullptr);
    return true;
}

void runtime::search_handlers(code_search& to) const {
    const scheduler_options& o = options;
    const auto look = [&to](const char* name, const auto& handler) {
        to.look_at(code_use::handler, name, handler.function);
        to.look_at(code_use::handler, name, handler.user);
    };
    look("log", o.log);
    look("assertion", o.assertion);
    look("out_of_memory", o.out_of_memory);
    look("unobserved_exception", o.unobserved_exception);
    to.look_at(code_use::handler, "threads.started", o.threads.started);
    to.look_at(code_use::handler, "threads.stopping", o.threads.stopping);
    to.look_at(code_use::handler, "threads", o.threads.user);
    to.look_at(code_use::handler, "memory", o.memory.allocate);
    to.look_at(code_use::handler, "memory", o.memory.release);
    to.look_at(code_use::handler, "memory", o.memory.user);
    look_at_object(to, "observer", o.observer);
    look_at_object(to, "chooser", o.chooser);
}

namespace {

/// Reports each stack at most once, by its innermost frame in the searched code.
struct stack_search {
    code_search& to;
    const runtime& rt;

    void look(unsigned seat) const {
        look_from({.use = code_use::stack, .thread = rt.seat_at(seat).report.name});
    }
    void look_from(const held_code& here) const {
        struct walk {
            code_search& to;
            held_code here;
        } state{to, here};
        platform::walk_stack(
            [](void* user, std::uintptr_t address) {
                auto& w = *static_cast<walk*>(user);
                w.here.address = address;
                if (!w.to.where().has(address)) return true;
                w.to.report(w.here);
                return false;
            },
            &state);
    }
};

}  // namespace

/// Searches the stacks of all threads that rest inside a task or inside a wait of the program, and
/// the stack of the calling thread.
void runtime::search_stacks(code_search& to) {
    whole_seat* const self = bound();
    const stack_search search{to, *this};
    search.look_from({.use = code_use::stack, .thread = "of the caller"});
    if (self != nullptr) search_running(to, *self);
    const freezer::question look_at_stack{
        .look = [](void* user,
                   unsigned seat) { static_cast<const stack_search*>(user)->look(seat); },
        .user = const_cast<stack_search*>(&search)};
    const bool uses_gate = serial != nullptr && self != nullptr;
    if (uses_gate) serial->leave(self->index);
    parker here;
    for (unsigned i = 0; i < seat_count(); ++i) {
        whole_seat& w = seat_at(i);
        const bool waits = !is_own(w) && w.inside.load(acquire);  // pairs with wait_loop::begin()
        if (&w == self || (!is_own(w) && !waits)) continue;
        search_running(to, w);
        if (w.shown.load(acquire) == 0 && !waits) continue;
        frozen().ask(w.asked, look_at_stack);
        notify(i);
        while (!freezer::is_answered(w.asked) && (is_own(w) || w.inside.load(acquire))) {
            here.park(active_policy::now() + 20'000);
        }
        frozen().withdraw(w.asked);
    }
    if (uses_gate) serial->enter(self->index);
}

void runtime::search_code(code_search& to) {
    for (std::uint32_t index = 0; slots.has(index); ++index) search_task(to, index);
    search_handlers(to);
    holders_.show(to);
    search_stacks(to);
}

}  // namespace detail
BRAID_NAMESPACE_END
