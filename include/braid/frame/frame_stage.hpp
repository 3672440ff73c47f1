#pragma once
// A stage of a frame loop: simulate, draw, render. The work of a stage is a retained graph of its
// own.

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

/// The operations on a body whose type is erased.
struct body_manner {
    void (*call)(void* object, const frame_context& frame);
    void (*destroy)(void* object);
    std::size_t bytes, alignment;
};

}  // namespace detail

/// The argument of a body that takes one: `[](const braid::frame_context& frame) { … }`. The object
/// lives as long as the body runs.
struct frame_context {
    std::uint64_t frame;  // number of the frame; the first is 1
    unsigned slot;        // frame % frame_loop::slot_count(); no other frame in flight has it
    bool serial;          // the stage runs on one thread now
    frame_arena& arena;   // this frame's memory
    task_context& task;

    /// Runs parallel_for(). In a serial stage it is a plain loop on this thread.
    template <loop_body Body>
    void for_each(std::size_t count, Body&& body, const loop_options& options = {}) const {
        if (!serial) return parallel_for(task, count, body, options);
        if (count != 0) detail::by_range(body)(fork_context(task), {0, count});
    }
};

/// A callable that is called as f(), f(task_context&) or f(const frame_context&).
template <class F>
concept frame_body =
    detail::task_callable<F> || std::is_invocable_v<std::decay_t<F>&, const frame_context&>;

struct stage_options {
    const char* name = "stage";  // outlives the stage; fault injectors know it by this
    nanoseconds budget{0};       // a longer run is marked in the record; 0 and below mean none
    bool serial = false;
};

/// A stage runs after the stages of its loop that were constructed before it. It must be destroyed
/// before the loop. One thread builds it, while no frame is in flight.
class frame_stage {
public:
    BRAID_API explicit frame_stage(frame_loop& loop, const stage_options& options = {});
    /// Waits for the frames in flight. The loop goes on without this stage.
    BRAID_API ~frame_stage();
    frame_stage(const frame_stage&) = delete;
    frame_stage& operator=(const frame_stage&) = delete;

    /// Adds a body. `f` is called once a frame, and destroyed with the stage. Returns an empty node
    /// if the body is refused, and the handlers get the reason: a frame is in flight, there is no
    /// memory, or the stage is serial and the body is tied to a thread, to workers or to resources,
    /// or runs as background.
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
    /// Like graph::precede(), for nodes of this stage.
    BRAID_API bool precede(graph_node earlier, graph_node later);

    /// Makes the stage serial or parallel. This takes effect when the next frame begins this stage.
    /// Any thread may call it at any time. The bodies of a serial stage run one after the other on
    /// one thread, in the order in which they were added as far as edges allow, and
    /// frame_context::for_each() is a plain loop. Tasks that a body spawns are not serialized.
    /// Failures are those of a graph. Returns false, and reports it, if a body is tied to a thread,
    /// to workers or to resources, or runs as background.
    BRAID_API bool set_serial(bool serial);
    BRAID_API bool serial() const;

    /// Returns the number of the frame on which the stage works. Only bodies of the stage may call
    /// it, and tasks that these wait for or have as children.
    BRAID_API std::uint64_t frame() const;
    BRAID_API const char* name() const;
    BRAID_API std::size_t size() const;
    /// Returns the stage's graph, for priorities, times and pictures. Build it with add() and
    /// precede() only, and do not run it. Call it between frames, and not on a stage that was
    /// refused.
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

    detail::stage_state* state_;  // null if the stage was refused
};

BRAID_NAMESPACE_END
