// Building a stage, and what its three tasks do in a frame.
#include "braid/frame/frame_stage.hpp"

#include "frame/frame_state.hpp"

#include <algorithm>
#include <exception>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;
using detail::frame_state;
using detail::stage_state;

namespace {

bool is_tied(const node_options& o) {
    return o.on || o.workers != 0 || o.uses.size() != 0 || o.runs_as != task_class::frame;
}

constexpr const char* tied_to_something =
    "a serial stage runs on whichever thread there is: its bodies have no `on`, `workers`, `uses` "
    "or background class";

}  // namespace

frame_stage::frame_stage(frame_loop& loop, const stage_options& options) : state_(nullptr) {
    frame_state* const l = loop.state_;
    if (l == nullptr ||
        !BRAID_EXPECT(core::misuse(l->rt), !l->busy(),
                      "finish() the loop before a stage is added to it") ||
        !BRAID_EXPECT(core::misuse(l->rt), l->stage_count < most_stages,
                      "a loop has at most 8 stages; put more work into each")) {
        return;
    }
    state_ = detail::make_accounted<stage_state>(l->rt, *l, options);
    if (state_ == nullptr) return;
    state_->position = l->stage_count;
    l->stages[l->stage_count++] = state_;
}

frame_stage::~frame_stage() {
    if (state_ == nullptr) return;
    frame_state& l = state_->loop;
    l.drain();
    --l.stage_count;
    for (unsigned i = state_->position; i < l.stage_count; ++i) {
        l.stages[i] = l.stages[i + 1];
        l.stages[i]->position = i;
    }
    detail::destroy_accounted(l.rt, state_);
    if (l.loop_gone && l.stage_count == 0) frame_state::destroy(&l);
}

void* frame_stage::open_body(const node_options& options, std::size_t bytes,
                             std::size_t alignment) {
    if (state_ == nullptr) return nullptr;
    const frame_state& l = state_->loop;
    if (!BRAID_EXPECT(core::misuse(l.rt), !l.busy(),
                      "finish() the loop before a stage is changed") ||
        !BRAID_EXPECT(core::misuse(l.rt), !is_tied(options) || !serial(), tied_to_something)) {
        return nullptr;
    }
    return core::memory(state_->loop.rt).allocate(bytes, alignment, memory_tag::frame);
}

void frame_stage::drop_body(void* object, std::size_t bytes, std::size_t alignment) {
    core::memory(state_->loop.rt).release(object, bytes, alignment, memory_tag::frame);
}

graph_node frame_stage::close_body(const node_options& options, void* object,
                                   const detail::body_manner& how) {
    stage_state& s = *state_;
    const auto index = static_cast<std::uint32_t>(s.bodies.size());
    graph_node node;
    if (s.bodies.push({object, how, {}})) {
        node = s.work.add(options, [&s, index](task_context& task) { s.run_body(index, task); });
        if (!node) s.bodies.pop();
    }
    if (!node) {
        how.destroy(object);
        drop_body(object, how.bytes, how.alignment);
        return {};
    }
    s.bodies[index].node = node;
    s.tied += is_tied(options);
    return node;
}

bool frame_stage::precede(graph_node earlier, graph_node later) {
    return state_ != nullptr && state_->work.precede(earlier, later);
}

bool frame_stage::set_serial(bool serial) {
    if (state_ != nullptr) core::point(state_->loop.rt);
    if (state_ == nullptr || !BRAID_EXPECT(core::misuse(state_->loop.rt),
                                           !serial || state_->tied == 0, tied_to_something)) {
        return false;
    }
    state_->wants_serial.store(serial, relaxed);
    return true;
}

bool frame_stage::serial() const {
    if (state_ == nullptr) return false;
    core::point(state_->loop.rt);
    return state_->wants_serial.load(relaxed);
}
std::uint64_t frame_stage::frame() const { return state_ != nullptr ? state_->frame : 0; }
const char* frame_stage::name() const { return state_ != nullptr ? state_->name : ""; }
std::size_t frame_stage::size() const { return state_ != nullptr ? state_->bodies.size() : 0; }
graph& frame_stage::nodes() const { return state_->work; }

std::string frame_stage::to_dot() const {
    return state_ != nullptr ? state_->work.to_dot() : std::string();
}

namespace detail {

stage_state::stage_state(frame_state& owner, const stage_options& o)
    : loop(owner),
      name(o.name != nullptr ? o.name : "stage"),
      budget(o.budget),
      work(owner.s, name),
      bodies(core::memory(owner.rt)),
      wants_serial(o.serial),
      one_by_one(core::memory(owner.rt)) {}

stage_state::~stage_state() {
    for (const stage_body& b : bodies) {
        b.how.destroy(b.object);
        core::memory(loop.rt).release(b.object, b.how.bytes, b.how.alignment, memory_tag::frame);
    }
}

bool stage_state::prepare() {
    graph_state* const nodes = work.internals();
    return nodes != nullptr && nodes->sort_if_edited() && one_by_one.prepare(*nodes);
}

task_id stage_state::submit(std::uint64_t f, task_id after, task_id parent) {
    scheduler& s = loop.s;
    const task_id started = s.spawn({.name = name,
                                     .after = {after},
                                     .after_any = {last_run},
                                     .parent = parent,
                                     .may_be_long = true,
                                     .where = {}},
                                    [this, f](task_context& task) { begin(f, task); });
    if (!started) return {};
    const task_id run = work.run({.after = {started}, .parent = parent});
    if (!run) return {};
    last_run = run;
    return s.spawn({.name = "end of stage", .after = {run}, .parent = parent, .where = {}},
                   [this, f] { end(f); });
}

void stage_state::begin(std::uint64_t f, task_context& task) {
    frame_slot& slot = loop.slot_of(f);
    frame = f;
    if (position == 0) {
        slot.shown = true;
        loop.report(event_kind::frame_begin, f);
    }
    no_bodies = slot.refused;
    if (no_bodies) return;
    serial_now = wants_serial.load(relaxed);
    stage_record& r = slot.record.stage[position];
    r.began = active_policy::now();
    r.serial = serial_now;
    if (loop.options.faults != nullptr) loop.options.faults->begin_stage(name, f);
    if (!serial_now) return;
    std::exception_ptr failure = one_by_one.run(*work.internals(), task);
    if (failure != nullptr) fail_task(task, std::move(failure));
    no_bodies = true;  // for the run of the graph that follows
}

void stage_state::end(std::uint64_t f) {
    frame_slot& slot = loop.slot_of(f);
    slot.record.stage[position].ended = active_policy::now();
    ++slot.passed;
    if (position + 1 == loop.stage_count) {
        slot.shown = false;
        loop.report(event_kind::frame_end, f);
    }
}

void stage_state::run_body(std::uint32_t index, task_context& task) {
    if (no_bodies) return;
    frame_slot& slot = loop.slot_of(frame);
    if (!serial_now && loop.options.faults != nullptr) {
        loop.options.faults->begin_body(frame, std::uint64_t{position} << 32 | index);
    }
    const stage_body& b = bodies[index];
    b.how.call(b.object, {.frame = frame,
                          .slot = static_cast<unsigned>(frame % loop.slot_count),
                          .serial = serial_now,
                          .arena = slot.arena,
                          .task = task});
}

}  // namespace detail
BRAID_NAMESPACE_END
