#pragma once
// The loop of a game: stages in their order, each frame as one submission, and up to four frames in
// flight, so that the next one is simulated while this one is drawn.
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

    const char* name = "frame";  // outlives the loop
    /// How many frames may begin before this one is complete: 0 (one after the other) to 3; more
    /// is reported and counts as 3.
    unsigned depth = 1;
    /// A frame whose latency is above it is marked in its record; 0 and below: none.
    nanoseconds budget{0};
    /// How each of the arenas is made, of which there is one for each frame in flight.
    frame_arena_options arena = {.name = "frame arena"};
    /// What advance() and finish() may run while they wait. `any`: also work of younger frames that
    /// promised never to wait.
    help while_waiting = help::needed;
    fault_injector* faults = nullptr;  // outlives the loop
};

/// Stage s of frame n begins after stage s of frame n - 1 and stage s - 1 of frame n; the first
/// stage of frame n after the last one of frame n - 1 - depth. Steady state allocates nothing; a
/// frame costs about 1 µs a stage besides its bodies. One thread at a time; not from its own
/// bodies.
class frame_loop {
public:
    BRAID_API explicit frame_loop(scheduler& s, const frame_loop_options& options = {});
    /// Waits for the frames in flight.
    BRAID_API ~frame_loop();
    frame_loop(const frame_loop&) = delete;
    frame_loop& operator=(const frame_loop&) = delete;

    /// Begins the next frame and returns its number; the first is 1. Waits before that, helping,
    /// until frame n - 1 - depth is complete: back-pressure when a stage is slow. If that frame
    /// failed, throws its failure instead of beginning one; nothing is lost, call it again to go
    /// on. 0: refused (no stages, a cycle, no memory, shut down; the handlers know), without
    /// anything having run.
    BRAID_API std::uint64_t advance();
    /// Returns when all frames are complete. Throws the first failure among them, in their order;
    /// the handler gets the others.
    BRAID_API void finish();

    /// The frame that was begun last, and the last one that advance() or finish() found over.
    /// Everything that frame wrote is visible to their caller.
    BRAID_API std::uint64_t submitted() const;
    BRAID_API std::uint64_t completed() const;

    /// 0 up to the depth that it was made with; from the next advance() on.
    BRAID_API bool set_depth(unsigned depth);
    BRAID_API unsigned depth() const;
    /// Frames that may be in flight at the depth that it was made with: that plus 1.
    BRAID_API unsigned slot_count() const;

    /// The record of frame completed(). The reference is good until the next call.
    BRAID_API const frame_record& record() const;
    /// The latest 64 at most, newest first; returns how many were written.
    BRAID_API std::size_t records(frame_record* to, std::size_t capacity) const;
    BRAID_API std::uint64_t over_budget() const;  // frames so far

    /// Sums over all arenas, except high_water: the highest.
    BRAID_API frame_arena_statistics memory() const;

    /// For next_frame().
    detail::frame_state* internals() const { return state_; }

private:
    friend class frame_stage;
    detail::frame_state* state_;  // null: there was no memory for it
};

BRAID_NAMESPACE_END
