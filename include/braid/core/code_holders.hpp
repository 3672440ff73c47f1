#pragma once
// A code search finds the holders of code that is about to be replaced. A holder is anything in a
// scheduler, or in an object that uses the scheduler, that points into the code. The search runs
// while everything is at rest; see safepoint.hpp.

#include "braid/base/export.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace detail {
class runtime;
class holder_list;
}  // namespace detail

/// The addresses [begin, end) of a module's image, both code and data.
struct code_range {
    std::uintptr_t begin = 0, end = 0;
    /// A task whose task_options::module equals `tag` holds the code, whatever the task points to.
    /// 0 means that the search ignores module numbers.
    std::uint8_t tag = 0;

    bool has(std::uintptr_t address) const { return address >= begin && address < end; }
    bool has(const void* address) const { return has(reinterpret_cast<std::uintptr_t>(address)); }
};

enum class code_use : std::uint8_t {
    task,      // a task that has not run, or that keeps a value that the code destroys
    stack,     // the stack of a thread at rest with a frame in the code
    node,      // a node of a graph
    job,       // a job in a job list, or a function registered for job lists
    queued,    // a piece of work in a queue
    thread,    // the body of a rate_thread, which has a thread of its own
    handler,   // a handler in scheduler_options
    observer,  // an observer or a chooser
    callback,  // anything else that will be called
};

/// Returns a phrase for messages, such as "task" or "stack of thread".
BRAID_API const char* text_of(code_use use);

struct held_code {
    code_use use = code_use::task;
    const char* name = "";    // the name of the task, graph, queue or handler
    const char* thread = "";  // for a stack, the name of its thread
    /// The address that was found in the range. If the task was found only by its tag, the address
    /// is not in the range. For a stack, this is the address in the code at which the thread will
    /// continue.
    std::uintptr_t address = 0;
    task_id task = {};  // for a task, the id to pass to safepoint::cancel()
};

/// A search for everything that holds one piece of code. Each holder reports to the search what it
/// keeps.
class code_search {
public:
    using found_fn = void (*)(void* user, const held_code& what);

    code_search(const code_range& where, found_fn found, void* user)
        : where_(where), found_(found), user_(user) {}

    const code_range& where() const { return where_; }
    /// Reports `what` if its address is in the range.
    void look_at(const held_code& what) {
        if (where_.has(what.address)) report(what);
    }
    void look_at(code_use use, const char* name, const void* address) {
        look_at({.use = use,
                 .name = name != nullptr ? name : "",
                 .address = reinterpret_cast<std::uintptr_t>(address)});
    }
    template <class R, class... Args>
    void look_at(code_use use, const char* name, R (*function)(Args...)) {
        look_at(use, name, reinterpret_cast<const void*>(function));
    }
    /// Checks each pointer-sized word of the `size` bytes at `bytes`, which must be aligned for a
    /// pointer. Reports the first word that is an address in the range. Returns true if it has
    /// reported a word.
    BRAID_API bool look_into(const held_code& what, const void* bytes, std::size_t size);
    /// Reports a callable if its code is in the range, or else if one of its captures is an address
    /// in the range. The captures are the `size` bytes at `object`, which may be null. Reports a
    /// callable at most once.
    BRAID_API void look_at_callable(code_use use, const char* name, const void* code,
                                    const void* object, std::size_t size);
    void report(const held_code& what) { found_(user_, what); }

private:
    const code_range where_;
    const found_fn found_;
    void* const user_;
};

/// The base class of everything that keeps callables beyond the run of one task. Graphs, queues and
/// similar classes derive from it. A program's own tables of callbacks should derive from it, too.
/// The scheduler knows a holder from its construction to its destruction.
class BRAID_API code_holder {
public:
    explicit code_holder(scheduler& s);
    explicit code_holder(detail::runtime& rt);
    virtual ~code_holder();
    code_holder(const code_holder&) = delete;
    code_holder& operator=(const code_holder&) = delete;

    /// Returns true if the holder has threads and one of them runs a callable of the program. While
    /// the scheduler comes to rest, any thread may call this function repeatedly until it returns
    /// false. After it has returned false, no thread of the holder may start a callable before
    /// scheduler::resume().
    virtual bool runs_code() const { return false; }
    /// Reports all callables that the holder keeps to the search `to`. This function is called
    /// while everything is at rest. It must not create or destroy a holder.
    virtual void show_code(code_search& to) const = 0;
    /// This function is called while everything is at rest, when nothing holds the code in the
    /// range anymore. The holder may forget all data that it keeps by addresses in the range. It
    /// must forget such data if the data would otherwise accumulate.
    virtual void forget_code(const code_range&) {}

private:
    friend class detail::holder_list;  // only holder_list links holders, under its lock
    detail::runtime& rt_;
    code_holder *next_ = nullptr, *before_ = nullptr;
};

BRAID_NAMESPACE_END
