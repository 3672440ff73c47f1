#pragma once
// The threads of one pipeline: the caller, and tasks that any of them calls when there is more to
// do. Used by pipeline.hpp; not for programs. Why tasks and not joins: docs/design/fork-join.md

#include "braid/core/closure.hpp"
#include "braid/core/fork_stack.hpp"

#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

class crew {
public:
    /// Calls work(object, &context) in a task of its own; with null: that one was cancelled.
    using work_fn = void (*)(void* object, const fork_context* c);

    /// `tokens`: there is never work for more.
    BRAID_API crew(fork_context c, const char* name, std::size_t tokens, work_fn work,
                   void* object);
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    /// How many threads may run at once, the caller among them. 1: call nobody.
    unsigned most() const { return most_; }
    /// Stable; with it items are told apart. 0: nobody asks for stable ids.
    std::uint64_t identity() const { return identity_; }
    /// On a thread of the crew. False: refused (shut down, or out of memory).
    BRAID_API bool call();
    /// By the caller, which runs no more: returns when all have ended, running them meanwhile.
    BRAID_API void wait();

    /// From the scheduler's functions; null: no memory, or no scheduler.
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
    atomic<std::uint64_t> calls_{0};  // with an identity
    draft draft_;                     // of the root,
    task_id root_;                    // a child of the caller's task; the others are its children
};

}  // namespace detail
BRAID_NAMESPACE_END
