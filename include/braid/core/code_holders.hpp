#pragma once
// Who holds code: what of a scheduler, and of what stands on it, points into a piece of code that
// is to be replaced. Asked while everything rests; see safepoint.hpp.

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

/// Addresses of a module's image, code and data: [begin, end).
struct code_range {
    std::uintptr_t begin = 0, end = 0;
    /// Tasks with this task_options::module hold the code, whatever they point to. 0: none do.
    std::uint8_t tag = 0;

    bool has(std::uintptr_t address) const { return address >= begin && address < end; }
    bool has(const void* address) const { return has(reinterpret_cast<std::uintptr_t>(address)); }
};

enum class code_use : std::uint8_t {
    task,      // has not run, or keeps a value that the code destroys
    stack,     // a thread rests within the code
    node,      // of a graph
    job,       // of a job list, or registered for them
    queued,    // a piece of work of a queue
    thread,    // the body of a thread of a module's own: a rate_thread
    handler,   // of scheduler_options
    observer,  // or chooser
    callback,  // anything else that will be called
};

/// "a task", "a thread's stack", …; for messages.
BRAID_API const char* text_of(code_use use);

struct held_code {
    code_use use = code_use::task;
    const char* name = "";       // of the task, graph, queue or handler
    const char* thread = "";     // stack: whose
    std::uintptr_t address = 0;  // within the range; stack: where the thread goes on
    task_id task = {};           // task: for safepoint::cancel()
};

/// Asks holders about one piece of code.
class code_search {
public:
    using found_fn = void (*)(void* user, const held_code& what);

    code_search(const code_range& where, found_fn found, void* user)
        : where_(where), found_(found), user_(user) {}

    const code_range& where() const { return where_; }
    /// Reports an address that is in the range.
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
    /// Each pointer-sized word at `bytes`, which is aligned for one. True: one of them is.
    BRAID_API bool look_into(const held_code& what, const void* bytes, std::size_t size);
    /// A callable, once: its code, or else what it has captured.
    BRAID_API void look_at_callable(code_use use, const char* name, const void* code,
                                    const void* object, std::size_t size);
    void report(const held_code& what) { found_(user_, what); }

private:
    const code_range where_;
    const found_fn found_;
    void* const user_;
};

/// Something that keeps callables for longer than a task: graphs, queues and the like are, and a
/// program's own tables of callbacks should be. Known to the scheduler from here to the end.
class BRAID_API code_holder {
public:
    explicit code_holder(scheduler& s);
    explicit code_holder(detail::runtime& rt);
    virtual ~code_holder();
    code_holder(const code_holder&) = delete;
    code_holder& operator=(const code_holder&) = delete;

    /// The holder has threads, and one of them runs a callable of the program's. Any thread; asked
    /// again and again while the scheduler comes to rest, until it says no; from then to resume()
    /// none begins.
    virtual bool runs_code() const { return false; }
    /// While everything rests: all that is kept. Makes and destroys no holder.
    virtual void show_code(code_search& to) const = 0;
    /// While everything rests: nobody holds that code any more, and nobody will. What is known by
    /// its addresses may go, and must where it would pile up.
    virtual void forget_code(const code_range&) {}

private:
    friend class detail::holder_list;  // links them under its lock, which derived classes must not
    detail::runtime& rt_;
    code_holder *next_ = nullptr, *before_ = nullptr;
};

BRAID_NAMESPACE_END
