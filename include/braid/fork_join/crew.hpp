#pragma once
// The crew of a pipeline: the threads that run it. They are the caller, and tasks that any of them
// calls when there is more to do. Used by pipeline.hpp; not for programs. Why these are tasks and
// not joins: docs/design/fork-join.md

#include "braid/core/closure.hpp"
#include "braid/core/fork_stack.hpp"

#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

class crew {
public:
    /// Called as work(object, &context) in a task of the crew. The context is null if that task was
    /// cancelled.
    using work_fn = void (*)(void* object, const fork_context* c);

    /// `tokens` limits the number of threads, because there is never work for more.
    BRAID_API crew(fork_context c, const char* name, std::size_t tokens, work_fn work,
                   void* object);
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    /// The most threads that may run at once, the caller among them. With 1, nobody is called.
    unsigned most() const { return most_; }
    /// Returns a stable id that tells the items of this pipeline apart, or 0 if nobody asks for
    /// stable ids.
    std::uint64_t identity() const { return identity_; }
    /// Posts one more task that works for the pipeline. Called on a thread of the crew. Returns
    /// false if the task is refused (the scheduler is shut down, or out of memory).
    BRAID_API bool call();
    /// Called by the caller when it has nothing left to run. Returns when all tasks of the crew
    /// have ended, and runs them meanwhile.
    BRAID_API void wait();

    /// Allocates with the memory functions of the scheduler. Returns null if there is no memory or
    /// no scheduler.
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
    atomic<std::uint64_t> calls_{0};  // counted only with an identity
    draft draft_;                     // of the root task
    task_id root_;  // a child of the caller's task, and the parent of all other tasks of the crew
};

}  // namespace detail
BRAID_NAMESPACE_END
