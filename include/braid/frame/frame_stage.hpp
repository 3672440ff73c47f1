#pragma once
// A stage of a frame loop: simulate, draw, render. Its work is a retained graph of its own.

#include "braid/fork_join/parallel_for.hpp"
#include "braid/frame/frame_arena.hpp"
#include "braid/graph/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

BRAID_NAMESPACE_BEGIN

class frame_loop;
struct frame_context;
namespace detail {

struct stage_state;

/// What can be done with a body whose type is forgotten.
struct body_manner {
    void (*call)(void* object, const frame_context& frame);
    void (*destroy)(void* object);
    std::size_t bytes, alignment;
};

}  // namespace detail

/// What a body is handed when it takes one: `[](const braid::frame_context& frame) { … }`. Lives as
/// long as the body runs.
struct frame_context {
    std::uint64_t frame;  // its number; the first is 1
    unsigned slot;        // frame % frame_loop::slot_count(): no other frame in flight has it
    bool serial;          // the stage runs on one thread now
    frame_arena& arena;   // this frame's memory
    task_context& task;

    /// parallel_for(); in a serial stage a plain loop on this thread.
    template <loop_body Body>
    void for_each(std::size_t count, Body&& body, const loop_options& options = {}) const {
        if (!serial) return parallel_for(task, count, body, options);
        if (count != 0) detail::by_range(body)(fork_context(task), {0, count});
    }
};

/// f(), f(task_context&) or f(const frame_context&).
template <class F>
concept frame_body =
    detail::task_callable<F> || std::is_invocable_v<std::decay_t<F>&, const frame_context&>;

struct stage_options {
    const char* name = "stage";  // outlives the stage; fault injectors know it by this
    nanoseconds budget{0};       // a run above it is marked in the record; 0 and below: none
    bool serial = false;
};

/// Comes after the stages of its loop that were made before it, and has to end before the loop.
/// Built by one thread, while no frame is in flight.
class frame_stage {
public:
    BRAID_API explicit frame_stage(frame_loop& loop, const stage_options& options = {});
    /// Waits for the frames in flight; the loop goes on without this stage.
    BRAID_API ~frame_stage();
    frame_stage(const frame_stage&) = delete;
    frame_stage& operator=(const frame_stage&) = delete;

    /// `f` is called once a frame, and destroyed with the stage. Empty: refused (a frame is in
    /// flight, no memory, or tied to threads or resources in a serial stage); the handlers know.
    template <frame_body F>
    graph_node add(const node_options& options, F&& f) {
        using callable = std::decay_t<F>;
        struct guard {
            frame_stage& self;
            void* object;
            ~guard() {
                if (object != nullptr) self.drop_body(object, sizeof(callable), alignof(callable));
            }
        } g{*this, open_body(options, sizeof(callable), alignof(callable))};
        if (g.object == nullptr) return {};
        ::new (g.object) callable(std::forward<F>(f));
        return close_body(
            options, std::exchange(g.object, nullptr),
            {&call<callable>, &destroy<callable>, sizeof(callable), alignof(callable)});
    }
    template <frame_body F>
    graph_node add(F&& f, std::source_location where = std::source_location::current()) {
        return add(node_options{.where = where}, std::forward<F>(f));
    }
    /// The graph::precede() for nodes of this stage.
    BRAID_API bool precede(graph_node earlier, graph_node later);

    /// From the next frame that begins this stage on: its bodies run one after the other, on one
    /// thread, in the order in which they were added as far as edges allow, and
    /// frame_context::for_each() is a plain loop. What a body spawns goes its own way. Failures are
    /// those of a graph. Any thread, at any time. False, and reported: a body is tied to a thread,
    /// to workers or to resources, or runs as background.
    BRAID_API bool set_serial(bool serial);
    BRAID_API bool serial() const;

    /// The frame on which the stage works. For its bodies, and tasks that these wait for or have as
    /// children; nobody else.
    BRAID_API std::uint64_t frame() const;
    BRAID_API const char* name() const;
    BRAID_API std::size_t size() const;
    /// The stage's graph, for priorities, times and pictures. Build it by add() and precede() only,
    /// and do not run it. Between frames; not of a stage that was refused.
    BRAID_API graph& nodes() const;
    BRAID_API std::string to_dot() const;

private:
    friend class frame_loop;
    template <class F>
    static void call(void* object, const frame_context& frame) {
        F& f = *std::launder(static_cast<F*>(object));
        if constexpr (std::is_invocable_v<F&, const frame_context&>) {
            f(frame);
        } else {
            detail::call_task(f, frame.task);
        }
    }
    template <class F>
    static void destroy(void* object) {
        std::launder(static_cast<F*>(object))->~F();
    }
    BRAID_API void* open_body(const node_options& options, std::size_t bytes,
                              std::size_t alignment);
    BRAID_API void drop_body(void* object, std::size_t bytes, std::size_t alignment);
    BRAID_API graph_node close_body(const node_options& options, void* object,
                                    const detail::body_manner& how);

    detail::stage_state* state_;  // null: refused
};

BRAID_NAMESPACE_END
