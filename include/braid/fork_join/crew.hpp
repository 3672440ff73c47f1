#pragma once
// The crew of a pipeline is the set of threads that run it: the caller, and the threads that run
// the crew's tasks. Any thread of the crew may post another task of the crew when there is more
// work. pipeline.hpp uses this class; programs do not. docs/design/fork-join.md explains why the
// crew uses tasks and not joins.

#include "braid/core/closure.hpp"
#include "braid/core/fork_stack.hpp"

#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

class crew {
public:
    /// Each task of the crew calls this function as work(object, &context). The context pointer is
    /// null if the task was cancelled.
    using work_fn = void (*)(void* object, const fork_context* c);

    /// Creates a crew of at most `tokens` threads, because a pipeline never has work for more
    /// threads than tokens.
    BRAID_API crew(fork_context c, const char* name, std::size_t tokens, work_fn work,
                   void* object);
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    /// Returns the maximum number of threads that may run the pipeline at once, including the
    /// caller. If the maximum is 1, the caller runs the pipeline alone.
    unsigned most() const { return most_; }
    /// Returns the stable id of this pipeline, or 0 if tasks have no stable ids. The stable id of a
    /// stage call is computed from the stable id of the pipeline, the number of the item and the
    /// number of the stage.
    std::uint64_t identity() const { return identity_; }
    /// Posts one more task that runs the pipeline. call() must be called on a thread of the crew.
    /// Returns false if the task is refused because the scheduler is shut down or out of memory.
    BRAID_API bool call();
    /// Waits until all tasks of the crew have ended. The waiting thread may run these tasks. The
    /// caller of the pipeline must call wait() when it has nothing left to run.
    BRAID_API void wait();

    /// Allocates memory with the memory functions of the scheduler. Returns null if there is no
    /// memory, or if the caller of the pipeline has no seat in a scheduler.
    BRAID_API void* allocate(std::size_t bytes, std::size_t alignment);
    BRAID_API void release(void* p, std::size_t bytes, std::size_t alignment);

private:
    static void run(void* storage, task_context* context);

    runtime* rt_ = nullptr;
    work_fn work_;
    void* object_;
    const char* name_;
    unsigned most_ = 1;
    std::uint64_t identity_ = 0;
    atomic<std::uint64_t> calls_{0};  // used only if identity_ is not 0
    draft draft_;                     // the draft of the task root_
    task_id root_;  // a child of the caller's task, and the parent of all other tasks of the crew
};

}  // namespace detail
BRAID_NAMESPACE_END
