// One frame, two stages, as tasks. All belong to `frame`, which has their failure; nothing begins
// before the gate opens, so that no edge comes too late to a task that has failed by then.
//
//   gate ─► begin ─► run of ─► end ─► begin ─► run of ─► end
//     └──► frame     graph 1             ▲     graph 2
//                                        │
//            run of graph 2 of the frame before, however it ended
#include "braid/frame/frame_loop.hpp"

#include "frame/frame_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;
using detail::frame_slot;
using detail::frame_state;

namespace detail {

frame_state::frame_state(scheduler& owner, const frame_loop_options& o)
    : code_holder(owner),
      s(owner),
      rt(owner.internals()),
      options(o),
      depth(o.depth),
      slot_count(o.depth + 1) {}

void stage_state::show_code(code_search& to) const {
    for (const stage_body& body : bodies) {
        const held_code what{.use = code_use::callback,
                             .name = name,
                             .address = reinterpret_cast<std::uintptr_t>(body.how.call)};
        const bool found = to.where().has(what.address);
        found ? to.report(what) : void(to.look_into(what, body.object, body.how.bytes));
    }
}

void frame_state::show_code(code_search& to) const {
    for (unsigned i = 0; i < stage_count; ++i) stages[i]->show_code(to);
}

void frame_state::destroy(frame_state* state) {
    runtime& rt = state->rt;
    for (frame_slot* slot : state->slots) destroy_accounted(rt, slot);
    destroy_accounted(rt, state);
}

bool frame_state::prepare() {
    for (unsigned i = 0; i < stage_count; ++i) {
        if (!stages[i]->prepare()) return false;
    }
    return BRAID_EXPECT(core::misuse(rt), stage_count != 0,
                        "give the loop a stage before its first frame");
}

bool frame_state::submit(std::uint64_t frame) {
    frame_slot& slot = slot_of(frame);
    slot.frame = frame;
    slot.passed = 0;
    slot.opened = false;
    slot.refused = false;
    slot.record = frame_record();
    slot.record.frame = frame;
    slot.record.submitted = active_policy::now();
    slot.record.stages = stage_count;
    for (unsigned i = 0; i < stage_count; ++i) slot.record.stage[i].name = stages[i]->name;
    slot.arena.reset(frame);
    {
        // Destroyed before it has opened it cancels what has been submitted.
        task_builder gate = s.begin({.name = options.name, .where = {}}, empty);
        if (!gate.id()) return false;
        slot.end = s.async({.name = options.name, .after = {gate.id()}, .where = {}},
                           [&slot] { slot.opened = true; });
        task_id last = slot.end.valid() ? gate.id() : task_id{};
        for (unsigned i = 0; i < stage_count && last; ++i) {
            last = stages[i]->submit(frame, last, slot.end.id());
        }
        if (last) {
            gate.finish();
            return true;
        }
        slot.refused = true;  // without memory the cancellation would not be handed on
    }
    if (slot.end.valid()) wait_for(slot.end.id());
    slot.end = {};
    return false;
}

void frame_state::report(event_kind kind, std::uint64_t frame) const {
    if (!core::observed(rt)) return;
    core::observer_of(rt).on_event({.kind = kind, .other = {frame}, .name = options.name});
}

bool frame_state::wait_for(task_id end) {
    core::failure received(rt);  // is not rethrown: the future has the failure, too
    return core::wait(rt, end, options.while_waiting, received);
}

future<void> frame_state::collect(std::uint64_t frame) {
    frame_slot& slot = slot_of(frame);
    if (!wait_for(slot.end.id())) return {};
    if (std::exchange(slot.shown, false)) report(event_kind::frame_end, frame);  // it failed
    frame_record& r = slot.record;
    r.failed = slot.passed != stage_count || !slot.opened;
    std::int64_t before = 0;
    for (unsigned i = 0; i < r.stages; ++i) {
        stage_record& one = r.stage[i];
        if (one.began == 0) one.began = i == 0 ? r.submitted : before;
        if (one.ended == 0) one.ended = one.began;
        one.waited = nanoseconds{i == 0 ? 0 : one.began - before};
        one.ran = nanoseconds{one.ended - one.began};
        one.over_budget = stages[i]->budget.value > 0 && one.ran > stages[i]->budget;
        before = one.ended;
    }
    r.began = r.stage[0].began;
    r.ended = before;
    r.time = nanoseconds{r.ended - r.began};
    r.over_budget = options.budget.value > 0 && r.time > options.budget;
    over_budget += r.over_budget;
    records[frame % kept_records] = r;
    completed = frame;
    return std::exchange(slot.end, {});
}

void frame_state::drain() {
    while (busy() && collect(completed + 1).valid()) {
    }
}

}  // namespace detail

namespace {

/// Throws if the frame failed. Its own task may have run before its stages were discarded: then
/// only the record says so.
void end_frame(future<void> over, const frame_record& r) {
    over.get();
#if BRAID_HAS_EXCEPTIONS
    if (r.failed) throw broken_promise{};
#else
    static_cast<void>(r);
#endif
}

std::exception_ptr failure_of(future<void> over, const frame_record& r) {
#if BRAID_HAS_EXCEPTIONS
    try {
        end_frame(std::move(over), r);
    } catch (...) {
        return std::current_exception();
    }
#else
    end_frame(std::move(over), r);
#endif
    return nullptr;
}

}  // namespace

frame_loop::frame_loop(scheduler& s, const frame_loop_options& o) : state_(nullptr) {
    detail::runtime& rt = s.internals();
    frame_loop_options checked = o;
    if (checked.name == nullptr) checked.name = "frame";
    if (!BRAID_EXPECT(core::misuse(rt), o.depth <= frame_loop_options::most_depth,
                      "a loop is 0 to 3 frames deep")) {
        checked.depth = frame_loop_options::most_depth;
    }
    auto* const state = detail::make_accounted<frame_state>(rt, s, checked);
    bool complete = state != nullptr;
    for (unsigned i = 0; complete && i < state->slot_count; ++i) {
        state->slots[i] = detail::make_accounted<frame_slot>(rt, s, checked.arena);
        complete = state->slots[i] != nullptr;
    }
    if (complete) {
        state_ = state;
        return;
    }
    if (state != nullptr) frame_state::destroy(state);
}

frame_loop::~frame_loop() {
    if (state_ == nullptr) return;
    state_->drain();
    state_->release_waiting(0);
    if (BRAID_EXPECT(core::misuse(state_->rt), state_->stage_count == 0,
                     "a loop ends after its stages: declare it before them")) {
        frame_state::destroy(state_);
    } else {
        state_->loop_gone = true;
    }
}

std::uint64_t frame_loop::advance() {
    if (state_ == nullptr || !state_->prepare()) return 0;
    frame_state& f = *state_;
    const std::uint64_t next = f.submitted + 1;
    while (f.completed + f.depth + 1 < next) {
        future<void> over = f.collect(f.completed + 1);
        if (!over.valid()) return 0;
        end_frame(std::move(over), record());
    }
    if (!f.submit(next)) return 0;
    f.submitted = next;
    f.release_waiting(next);
    return next;
}

void frame_loop::finish() {
    if (state_ == nullptr) return;
    std::exception_ptr first;
    while (state_->busy()) {
        future<void> over = state_->collect(state_->completed + 1);
        if (!over.valid()) return;
        if (first == nullptr) first = failure_of(std::move(over), record());
    }
#if BRAID_HAS_EXCEPTIONS
    if (first != nullptr) std::rethrow_exception(first);
#endif
}

std::uint64_t frame_loop::submitted() const { return state_ != nullptr ? state_->submitted : 0; }
std::uint64_t frame_loop::completed() const { return state_ != nullptr ? state_->completed : 0; }

bool frame_loop::set_depth(unsigned depth) {
    if (state_ == nullptr ||
        !BRAID_EXPECT(core::misuse(state_->rt), depth < state_->slot_count,
                      "give the loop the greatest depth that you want in its options")) {
        return false;
    }
    state_->depth = depth;
    return true;
}
unsigned frame_loop::depth() const { return state_ != nullptr ? state_->depth : 0; }
unsigned frame_loop::slot_count() const { return state_ != nullptr ? state_->slot_count : 1; }

const frame_record& frame_loop::record() const {
    static const frame_record none;
    if (completed() == 0) return none;
    return state_->records[state_->completed % frame_state::kept_records];
}

std::size_t frame_loop::records(frame_record* to, std::size_t capacity) const {
    const std::size_t count = static_cast<std::size_t>(
        std::min<std::uint64_t>({completed(), frame_state::kept_records, capacity}));
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = state_->records[(state_->completed - i) % frame_state::kept_records];
    }
    return count;
}

std::uint64_t frame_loop::over_budget() const {
    return state_ != nullptr ? state_->over_budget : 0;
}

frame_arena_statistics frame_loop::memory() const {
    frame_arena_statistics sum;
    for (unsigned i = 0; state_ != nullptr && i < state_->slot_count; ++i) {
        const frame_arena_statistics one = state_->slots[i]->arena.statistics();
        sum.used += one.used;
        sum.high_water = std::max(sum.high_water, one.high_water);
        sum.reserved += one.reserved;
        sum.growths += one.growths;
        sum.refused += one.refused;
    }
    return sum;
}

BRAID_NAMESPACE_END
