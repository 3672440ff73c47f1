#pragma once
// A named queue with threads of its own: the way to keep two kinds of work from delaying each
// other, where one is slow or blocks. Work starts in the order in which it was pushed.

#include "braid/core/closure.hpp"
#include "braid/core/scheduler_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

BRAID_NAMESPACE_BEGIN

class scheduler;

/// What push() does when the queue holds `capacity` pieces of work.
enum class when_full : std::uint8_t {
    help,   // the pusher runs the oldest piece itself, then pushes
    block,  // the pusher sleeps until there is room
    grow,   // the piece goes to an unbounded list behind the ring, in order
    fail,   // push() returns false
};

struct queue_options {
    const char* name = "queue";
    unsigned threads = 1;         // 0: work runs in drain() only
    std::uint32_t capacity = 256;  // rounded up to a power of two, at least 2
    when_full full = when_full::help;
    int nice = 0;
    std::size_t stack_bytes = 0;
};

struct queue_statistics {
    std::uint64_t pushed = 0, executed = 0, refused = 0;
    std::uint64_t helped = 0;  // run by a pusher that found it full, or in drain()
    std::uint64_t grown = 0, blocked = 0;
};

class queue {
public:
    /// Memory, log and handlers are those of the scheduler, which must outlive the queue.
    BRAID_API explicit queue(scheduler& s, const queue_options& options = {});
    /// Runs everything that was pushed, then joins its threads. Not from its own threads.
    BRAID_API ~queue();
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;

    /// Any thread, also the queue's own. `f` is called as f() or f(queue&); a callable above 40
    /// bytes is allocated. What it throws goes to the unobserved-exception handler.
    /// False: full under when_full::fail, or the queue is being destroyed.
    template <class F>
        requires(std::is_invocable_v<std::decay_t<F>&> ||
                 std::is_invocable_v<std::decay_t<F>&, queue&>)
    bool push(F&& f) {
        using callable = std::decay_t<F>;
        item work;
        if (!detail::stored<callable, item_bytes, alignof(void*)>::put(
                runtime_(), work.bytes, std::forward<F>(f))) {
            return false;
        }
        work.run = &run_item<callable>;
        return push_item(work);
    }
    /// The raw form.
    BRAID_API bool push(void (*function)(queue& q, void* data), void* data);

    /// Helps until everything pushed so far has run. The queue goes on afterwards.
    BRAID_API void drain();
    /// Drops what has not started; returns how many. Their captures are destroyed.
    BRAID_API std::size_t discard();

    BRAID_API std::size_t size() const;
    BRAID_API const char* name() const;
    BRAID_API queue_statistics statistics() const;

private:
    static constexpr std::size_t item_bytes = 40;
    struct item {
        alignas(8) std::byte bytes[item_bytes];
        void (*run)(queue& q, void* storage, bool call) = nullptr;
    };
    struct state;

    template <class F>
    static void run_item(queue& q, void* storage, bool call) {
        using place = detail::stored<F, item_bytes, alignof(void*)>;
        struct cleanup {
            void* storage;
            ~cleanup() { place::destroy(storage); }
        } c{storage};
        if (!call) return;
        if constexpr (std::is_invocable_v<F&, queue&>) {
            place::get(storage)(q);
        } else {
            place::get(storage)();
        }
    }

    BRAID_API detail::runtime& runtime_() const;
    BRAID_API bool push_item(const item& work);

    std::unique_ptr<state> state_;
};

BRAID_NAMESPACE_END
