#pragma once
// A frame_loop is the main loop of a game. A loop has an ordered list of stages, and each frame is
// one submission. Up to four frames can be in flight, so that the next frame is simulated while the
// current frame is drawn.
//
//   braid::frame_loop loop(scheduler, {.depth = 1});
//   braid::frame_stage simulate(loop, {.name = "simulate"}), render(loop, {.name = "render"});
//   simulate.add([&](const braid::frame_context& f) { … });
//   render.add([&](const braid::frame_context& f) { … });
//   while (running) loop.advance();
//   loop.finish();
//
//   depth 0   simulate 1 render 1 simulate 2 render 2
//   depth 1   simulate 1 simulate 2 simulate 3
//                        render 1   render 2   render 3

#include "braid/frame/frame_record.hpp"
#include "braid/frame/frame_stage.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

class fault_injector;
namespace detail {
struct frame_state;
}

struct frame_loop_options {
    static constexpr unsigned most_depth = 3;

    const char* name = "frame";  // must outlive the loop
    /// The number of further frames that may begin before a frame is complete: 0 (one frame after
    /// the other) to 3. If the depth is greater, the loop calls the assertion handler and clamps
    /// the depth to 3.
    unsigned depth = 1;
    /// The budget for the latency of a frame. If a frame takes longer, its record is marked. A
    /// value of 0 or below means no budget.
    nanoseconds budget{0};
    /// The options of the arenas. The loop has one arena for each frame in flight.
    frame_arena_options arena = {.name = "frame arena"};
    /// Selects the tasks that advance() and finish() may run while they wait. With help::any, they
    /// may also run tasks of younger frames that promised never to wait.
    help while_waiting = help::needed;
    fault_injector* faults = nullptr;  // must outlive the loop
};

/// Stage s of frame n begins after stage s of frame n - 1 and after stage s - 1 of frame n. The
/// first stage of frame n begins after the last stage of frame n - 1 - depth. In the steady state,
/// the loop allocates no memory. A frame costs about 1 µs per stage, in addition to its bodies.
/// Only one thread at a time may use the loop. A body of the loop must not use the loop.
class frame_loop {
public:
    BRAID_API explicit frame_loop(scheduler& s, const frame_loop_options& options = {});
    /// Waits for the frames in flight.
    BRAID_API ~frame_loop();
    frame_loop(const frame_loop&) = delete;
    frame_loop& operator=(const frame_loop&) = delete;

    /// Begins the next frame n and returns its number. The first frame has number 1. advance()
    /// first waits until frame n - 1 - depth is complete, and may run tasks while it waits. If a
    /// stage is slow, this wait is the back-pressure on the caller. If frame n - 1 - depth failed,
    /// advance() throws the failure of that frame and begins no frame. No work is lost, and the
    /// next call of advance() continues.
    /// Returns 0 if the frame is refused. A frame is refused if the loop has no stages, the edges
    /// have a cycle, there is no memory, the scheduler is shut down, or the wait could never end.
    /// No body of a refused frame runs. The handlers of the scheduler receive the reason.
    BRAID_API std::uint64_t advance();
    /// Waits until all frames are complete. If frames failed, finish() throws the failure of the
    /// earliest failed frame. The failures of the other frames go to the unobserved-exception
    /// handler.
    BRAID_API void finish();

    /// Returns the number of the frame that began last, or 0 if no frame has begun.
    BRAID_API std::uint64_t submitted() const;
    /// Returns the number of the last frame that advance() or finish() found complete, or 0 if no
    /// frame is complete. All writes of that frame are visible to the thread that called advance()
    /// or finish().
    BRAID_API std::uint64_t completed() const;

    /// Sets the depth. The new depth takes effect in the next advance(). If `depth` is greater than
    /// frame_loop_options::depth, set_depth() calls the assertion handler and returns false.
    BRAID_API bool set_depth(unsigned depth);
    BRAID_API unsigned depth() const;
    /// Returns the maximum number of frames in flight, which is frame_loop_options::depth plus 1.
    BRAID_API unsigned slot_count() const;

    /// Returns the record of the frame whose number completed() returns. The reference is valid
    /// until the next advance() or finish().
    BRAID_API const frame_record& record() const;
    /// Writes the latest records to `to`, newest first. Writes at most `capacity` records, and at
    /// most 64. Returns the number of records that were written.
    BRAID_API std::size_t records(frame_record* to, std::size_t capacity) const;
    /// Returns how many frames have exceeded the budget so far.
    BRAID_API std::uint64_t over_budget() const;

    /// Returns the statistics of all arenas together. Each number is a sum, except `high_water`,
    /// which is the maximum over the arenas.
    BRAID_API frame_arena_statistics memory() const;

    /// For internal use: next_frame() calls this function.
    detail::frame_state* internals() const { return state_; }

private:
    friend class frame_stage;
    detail::frame_state* state_;  // null if there was no memory for the state
};

BRAID_NAMESPACE_END
