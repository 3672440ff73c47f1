#pragma once
// What a frame loop and its stages hold.

#include "base/accounted_array.hpp"
#include "braid/async/waiting_tasks.hpp"
#include "braid/core/code_holders.hpp"
#include "braid/core/future.hpp"
#include "braid/core/task_builder.hpp"
#include "braid/frame/fault_injector.hpp"
#include "braid/frame/frame_loop.hpp"
#include "core/extension.hpp"
#include "graph/serial_walk.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A frame in flight.
struct frame_slot {
    frame_slot(scheduler& s, const frame_arena_options& options) : arena(s, options) {}

    std::uint64_t frame = 0;
    future<void> end;      // valid: in flight
    unsigned passed = 0;   // stages that succeeded; written by one after the other
    bool opened = false;   // the gate; else the frame was cancelled, whatever ran
    bool refused = false;  // nothing of it runs
    bool shown = false;    // its begin was reported, its end was not
    frame_record record;
    frame_arena arena;
};

struct stage_body {
    void* object;
    body_manner how;
    graph_node node;
};

struct frame_state;

struct stage_state {
    stage_state(frame_state& loop, const stage_options& options);
    ~stage_state();

    /// The tasks of this stage in one frame: begin, the run of the graph, end. Returns the last;
    /// empty: refused.
    task_id submit(std::uint64_t frame, task_id after, task_id parent);
    void begin(std::uint64_t frame, task_context& task);
    void end(std::uint64_t frame);
    void run_body(std::uint32_t index, task_context& task);
    /// Before a frame. False, and reported: the stage cannot run.
    bool prepare();
    void show_code(code_search& to) const;

    frame_state& loop;
    const char* name;
    nanoseconds budget;
    graph work;
    accounted_array<stage_body, memory_tag::frame> bodies;  // by node
    unsigned position = 0;
    task_id last_run;
    std::uint32_t tied = 0;  // bodies that may not run just anywhere
    // relaxed: a switch; begin() reads it once a frame.
    atomic<bool> wants_serial;

    serial_walk one_by_one;

    // The frame that the stage works on. Written by begin(), which comes after the run before.
    std::uint64_t frame = 0;
    bool serial_now = false;
    bool no_bodies = false;  // the run of the graph has nothing left to do
};

struct frame_state final : code_holder {
    static constexpr unsigned kept_records = 64;

    frame_state(scheduler& owner, const frame_loop_options& o);
    static void destroy(frame_state* state);
    void show_code(code_search& to) const override;

    frame_slot& slot_of(std::uint64_t frame) { return *slots[frame % slot_count]; }
    /// True: a frame has not been collected.
    bool busy() const { return submitted != completed; }
    bool prepare();
    bool submit(std::uint64_t frame);
    void report(event_kind kind, std::uint64_t frame) const;
    /// Helps until the task is complete, also without memory. False, and reported: it never will.
    bool wait_for(task_id end);
    /// Waits for the frame and writes its record. Invalid: the wait could never end.
    future<void> collect(std::uint64_t frame);
    /// Waits for all, and reports to the handler what they failed with.
    void drain();

    scheduler& s;
    runtime& rt;
    frame_loop_options options;
    unsigned depth, slot_count;
    frame_slot* slots[frame_loop_options::most_depth + 1] = {};
    stage_state* stages[most_stages] = {};
    unsigned stage_count = 0;
    bool loop_gone = false;  // a mistake: the last stage frees this
    std::uint64_t submitted = 0, completed = 0, over_budget = 0;
    frame_record records[kept_records];  // by frame

    /// Coroutines that wait for a frame go on; 0: there will be none.
    void release_waiting(std::uint64_t frame);
    waiting_lock waiting_guard;
    waiting_tasks waiting{waiting_guard.internals()};
};

/// In the scheduler's memory. Null: there is none.
template <class T, class... Arguments>
T* make_accounted(runtime& rt, Arguments&&... arguments) {
    void* bytes = core::memory(rt).allocate(sizeof(T), alignof(T), memory_tag::frame);
    return bytes != nullptr ? ::new (bytes) T(std::forward<Arguments>(arguments)...) : nullptr;
}
template <class T>
void destroy_accounted(runtime& rt, T* object) {
    if (object == nullptr) return;
    object->~T();
    core::memory(rt).release(object, sizeof(T), alignof(T), memory_tag::frame);
}

}  // namespace detail
BRAID_NAMESPACE_END
