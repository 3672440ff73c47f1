#pragma once
// A frame_stage is a stage of a frame loop, for example simulate, draw or render. Each stage has a
// graph that is kept from frame to frame.

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

/// The operations on a body of any type, and its size and alignment in bytes.
struct body_manner {
    void (*call)(void* object, const frame_context& frame);
    void (*destroy)(void* object);
    std::size_t bytes, alignment;
};

}  // namespace detail

/// The argument of a body that takes a parameter: `[](const braid::frame_context& frame) { … }`.
/// The object is valid until the body returns.
struct frame_context {
    std::uint64_t frame;  // number of the frame; the first is 1
    unsigned slot;        // frame % frame_loop::slot_count(), unique among the frames in flight
    bool serial;          // true if the stage runs on one thread in this frame
    frame_arena& arena;   // this frame's memory
    task_context& task;

    /// Runs a parallel_for() over [0, count). In a serial stage, for_each() runs a plain loop on
    /// the calling thread instead.
    template <loop_body Body>
    void for_each(std::size_t count, Body&& body, const loop_options& options = {}) const {
        if (!serial) return parallel_for(task, count, body, options);
        if (count != 0) detail::by_range(body)(fork_context(task), {0, count});
    }
};

/// A callable that can be called as f(), f(task_context&) or f(const frame_context&).
template <class F>
concept frame_body =
    detail::task_callable<F> || std::is_invocable_v<std::decay_t<F>&, const frame_context&>;

struct stage_options {
    const char* name = "stage";  // must outlive the stage; fault injectors select stages by name
    nanoseconds budget{0};       // a longer run is marked in the record; 0 or below means no budget
    bool serial = false;
};

/// A stage of a loop. In each frame, the stage runs after the stages that were constructed before
/// it for the same loop. A stage must be destroyed before its loop. Only one thread at a time may
/// build the stage, and only while no frame is in flight.
class frame_stage {
public:
    BRAID_API explicit frame_stage(frame_loop& loop, const stage_options& options = {});
    /// Waits for the frames in flight and removes the stage from its loop. Later frames run without
    /// this stage.
    BRAID_API ~frame_stage();
    frame_stage(const frame_stage&) = delete;
    frame_stage& operator=(const frame_stage&) = delete;

    /// Adds a body. The stage calls `f` once per frame. The destructor of the stage destroys `f`.
    /// If the body is refused, add() returns an empty node, and the handlers of the scheduler
    /// receive the reason. A body is refused if a frame is in flight or there is no memory. A
    /// serial stage also refuses a body that is tied to a thread, to workers or to resources, or
    /// that runs as background work.
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

    /// Makes the stage serial or parallel. Any thread may call set_serial() at any time. The change
    /// takes effect when the next frame begins this stage. The bodies of a serial stage run one
    /// after the other on one thread. They run in the order in which they were added, as far as the
    /// edges allow. In a serial stage, frame_context::for_each() is a plain loop, but tasks that a
    /// body spawns may still run in parallel. A body that throws has the same consequences as in a
    /// run of a graph. A stage cannot be serial if one of its bodies is tied to a thread, to
    /// workers or to resources, or runs as background work. In this case, set_serial(true) calls
    /// the assertion handler and returns false.
    BRAID_API bool set_serial(bool serial);
    BRAID_API bool serial() const;

    /// Returns the number of the frame on which the stage works. frame() may be called only in a
    /// body of the stage, in a child task of such a body, and in a task for which such a body
    /// waits.
    BRAID_API std::uint64_t frame() const;
    BRAID_API const char* name() const;
    BRAID_API std::size_t size() const;
    /// Returns the graph of the stage. Use the graph for priorities, times and pictures. Build the
    /// graph only with add() and precede() of the stage, and do not run the graph yourself. Call
    /// nodes() only while no frame is in flight, and never on a stage that was refused.
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
