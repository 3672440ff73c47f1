#pragma once
// The loop of a game: an ordered list of stages, each frame as one submission, and up to four
// frames in flight, so that the next frame is simulated while this one is drawn.
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
    /// How many further frames may begin before a frame is complete: 0 (one after the other) to 3.
    /// More is reported and counts as 3.
    unsigned depth = 1;
    /// A frame whose latency is above the budget is marked in its record. 0 and below mean no
    /// budget.
    nanoseconds budget{0};
    /// The options of the arenas. There is one arena for each frame in flight.
    frame_arena_options arena = {.name = "frame arena"};
    /// What advance() and finish() may run while they wait. With `any` this includes work of
    /// younger frames that promised never to wait.
    help while_waiting = help::needed;
    fault_injector* faults = nullptr;  // outlives the loop
};

/// Stage s of frame n begins after stage s of frame n - 1 and after stage s - 1 of frame n. The
/// first stage of frame n begins after the last stage of frame n - 1 - depth. In the steady state,
/// the loop allocates nothing. A frame costs about 1 µs for each stage besides its bodies. One
/// thread at a time may use the loop, and not one of its own bodies.
class frame_loop {
public:
    BRAID_API explicit frame_loop(scheduler& s, const frame_loop_options& options = {});
    /// Waits for the frames in flight.
    BRAID_API ~frame_loop();
    frame_loop(const frame_loop&) = delete;
    frame_loop& operator=(const frame_loop&) = delete;

    /// Begins the next frame n and returns its number; the first is 1. Before that, it waits and
    /// helps until frame n - 1 - depth is complete, which is the back-pressure when a stage is
    /// slow. If that frame failed, advance() throws its failure instead of beginning a frame.
    /// Nothing is lost; call it again to go on. Returns 0 if the frame is refused (no stages, a
    /// cycle, no memory, shut down) without any of it having run. The handlers get the reason.
    BRAID_API std::uint64_t advance();
    /// Returns when all frames are complete. Throws the first failure among them, in the order of
    /// the frames; the handler gets the others.
    BRAID_API void finish();

    /// Returns the number of the frame that was begun last; 0 if there is none.
    BRAID_API std::uint64_t submitted() const;
    /// Returns the number of the last frame that advance() or finish() found complete; 0 if there
    /// is none. Everything that this frame wrote is visible to the caller of advance() or finish().
    BRAID_API std::uint64_t completed() const;

    /// Sets the depth from the next advance() on. Returns false, and reports it, if `depth` is
    /// above the depth that the loop was made with.
    BRAID_API bool set_depth(unsigned depth);
    BRAID_API unsigned depth() const;
    /// Returns how many frames may be in flight at the depth that the loop was made with: that
    /// depth plus 1.
    BRAID_API unsigned slot_count() const;

    /// Returns the record of frame completed(). The reference is valid until the next call.
    BRAID_API const frame_record& record() const;
    /// Writes the latest records to `to`, newest first, at most `capacity` and at most 64. Returns
    /// how many were written.
    BRAID_API std::size_t records(frame_record* to, std::size_t capacity) const;
    BRAID_API std::uint64_t over_budget() const;  // frames above the budget so far

    /// Returns the sums over all arenas. `high_water` is not a sum, but the highest of all.
    BRAID_API frame_arena_statistics memory() const;

    /// next_frame() uses it.
    detail::frame_state* internals() const { return state_; }

private:
    friend class frame_stage;
    detail::frame_state* state_;  // null if there was no memory for it
};

BRAID_NAMESPACE_END
