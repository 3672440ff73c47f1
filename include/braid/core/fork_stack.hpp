#pragma once
// The second branches of running joins. Each thread has one stack of them, apart from its tasks.
// braid/fork_join uses it, programs do not. docs/design/fork-join.md describes the protocol and its
// roles, and names the papers that it comes from.
//
//   base          tail          split            top              end
//    │  stolen     │  public     │  private       │   free          │
//
// The branches in [tail, split) are public. Thieves claim a branch at `tail`, and the owner takes a
// branch back at `split`, both by a compare-exchange on one word. Everything above `split` belongs
// to the owner alone and takes plain stores.

#include "braid/base/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN

class fork_context;
class scheduler;
class task_context;

namespace detail {

class runtime;
struct running_task;
struct whole_seat;
struct fork_access;

/// The creator of what a thread creates in one part of its running task: in a branch, a piece of a
/// loop or an item of a list. It stands in for the task there, because the order in which the parts
/// create depends on the schedule. Each part has a count of its own that starts at 0. Creators are
/// used only with stable ids; see docs/design/seams.md. They lie on a stack of the thread. The
/// topmost one counts while `within` is the innermost task of the thread.
struct creator {
    std::uint64_t id;  // stable
    std::uint64_t creations;
    const running_task* within;
    creator* below;
};

/// One word {tail, split, version} that says which slots of a stack are public. The version makes
/// the word different after each publication. So a thief that looks at a branch and then claims it
/// has claimed the branch that it looked at.
template <class Policy>
class basic_fork_window {
    template <class T>
    using atomic = typename Policy::template atomic<T>;

public:
    static constexpr unsigned bits = 12, capacity = (1U << bits) - 1;
    using word = std::uint64_t;
    static constexpr std::uint32_t tail(word w) { return w & capacity; }
    static constexpr std::uint32_t split(word w) { return w >> bits & capacity; }
    static constexpr bool empty(word w) { return tail(w) >= split(w); }

    /// seq_cst: pairs with publish(), also for a thread that has announced its sleep. For other
    /// threads acquire would be enough.
    word look() const { return word_.load(seq_cst); }

    /// The owner makes `count` more branches public. seq_cst: comes before the owner's look at the
    /// sleepers, which follows. release: pairs with look(), after the branches were written.
    void publish(std::uint32_t count) {
        word_.fetch_add(word{count} << bits | version_one, seq_cst);
    }

    /// A thief claims the branch at tail(seen). Returns false if the word is not `seen` anymore.
    /// relaxed: look() has acquired what the publication of that version wrote.
    bool claim(word seen) {
        return word_.compare_exchange_strong(seen, seen + 1, relaxed, relaxed);
    }

    /// The owner makes the topmost public branch, at `index`, private again. Returns false if the
    /// branch was stolen.
    bool take_back(std::uint32_t index) {
        // relaxed: the owner wrote the branch itself, and the word alone decides which thread gets
        // it.
        word seen = word_.load(relaxed);
        while (tail(seen) <= index) {
            if (word_.compare_exchange_weak(seen, seen - (word{1} << bits), relaxed, relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// The owner removes the stolen branch at `index`, which is complete and was the topmost one.
    void forget(std::uint32_t index) {
        // relaxed: nothing is public, so no thief has a use for the word until the next publish().
        const word seen = word_.load(relaxed);
        word_.store((seen & ~word{(1U << 2 * bits) - 1}) | word{index} << bits | index, relaxed);
    }

private:
    static constexpr word version_one = word{1} << 2 * bits;
    atomic<word> word_{0};
};
using fork_window = basic_fork_window<active_policy>;

/// A thief asks a stack's owner for work. The owner notices at its next join, because each join
/// compares its slot with `limit`. That one comparison is the whole cost when nobody asks. `asked`
/// lies on a cache line that thieves read anyway, and `limit` on the owner's line.
template <class Limit, class Flag>
void ask_for_branches(Limit& limit, Flag& asked) {
    // acq_rel: pairs with answer_request(). So the limit stored below comes after the limit that
    // was stored there.
    if (asked.load(relaxed) || asked.exchange(true, acq_rel)) return;
    limit.store(nullptr, relaxed);
}
/// The owner clears the request before it publishes branches. `normal` is the limit from here on.
template <class Limit, class Flag, class Slot>
void answer_request(Limit& limit, Flag& asked, Slot* normal) {
    limit.store(normal, relaxed);
    // release: pairs with ask_for_branches(). A thief that finds the flag cleared also finds the
    // limit stored above, and overwrites it.
    asked.store(false, release);
}

struct fork_stack;

struct alignas(64) fork_slot {
    static constexpr std::size_t payload_bytes = 40;
    enum : std::uint32_t {
        finished = 1,
        failed = 2,
        awaited = 4,  // the owner sleeps, or is about to
        taken = 8,    // by a thief: its seat in the next 12 bits, its stack's height in 12 more
        seat_shift = 4,
        seat_mask = 0xfff,
        height_shift = 16,
        height_mask = 0xfff,
        unstolen = 1U << 28,  // nobody stole it, and fork_run_unstolen() runs it
    };

    /// Called by a thief or by fork_run_unstolen(). Moves the closure out of the payload, runs it,
    /// and leaves its result or exception in the payload. Returns true if the closure threw.
    bool (*run)(fork_slot& self, fork_context context) = nullptr;
    fork_stack* stack = nullptr;     // the slot's stack; so one pointer is enough for a context
    atomic<std::uint32_t> state{0};  // reset when the slot becomes public
    atomic<std::uint32_t> task{0};   // index of the join's task, set together with `state`
    alignas(8) std::byte payload[payload_bytes];
};
static_assert(sizeof(fork_slot) == 64, "a branch is one cache line");

struct alignas(64) fork_stack {
    static constexpr std::uint32_t depth = 1024;
    static constexpr std::uint32_t spare = 16;  // the maximum number of slots of one join

    /// `first` points to `count` slots and to `spare` more slots after them, for a join that does
    /// not fit.
    fork_stack(whole_seat* w, fork_slot* first, std::uint32_t count)
        : top(first), pop_limit(first), base(first), end(first + count), owner(w) {
        for (std::uint32_t i = 0; i != count + spare; ++i) first[i].stack = this;
    }

    // ---- on the owner's cache line ----
    fork_slot* top;        // the slots below it are in use
    fork_slot* pop_limit;  // the slots below it are, or were, public
    /// The owner reads this limit at each join, and calls fork_pushed() if the join's topmost slot
    /// is at or above it. The limit is null if a thief asks for work, if the next join is the
    /// outermost one or comes after fork_access::publish_next(), if an observer listens, or if
    /// tasks have stable ids, as they do with a chooser.
    atomic<fork_slot*> push_limit{nullptr};
    fork_slot* const base;
    fork_slot* const end;
    whole_seat* const owner;  // null for a thread in no scheduler; then no join fits
    bool identified =
        false;  // tasks have stable ids, so each join is public and its parts get ids, too
    // ---- read and written by all threads ----
    alignas(64) fork_window window;
    atomic<bool> asked{false};  // a thief has asked, and the owner has not answered yet
};
static_assert(fork_stack::depth <= fork_window::capacity);

/// Called when branches were put into `count` slots and the last of them is at or above push_limit.
/// Clears a thief's request, and makes branches public if other threads may help. Returns false if
/// the stack has no room for the branches.
BRAID_API bool fork_pushed(fork_stack& stack, fork_slot* first, std::uint32_t count);
/// Called when the owner comes back to a public branch. Waits for the thief if there was one.
/// Returns true if the branch is the caller's again. Returns false if a thief has run it and its
/// result lies in the slot, or if the slot is marked as `unstolen`.
BRAID_API bool fork_popped(fork_stack& stack, fork_slot* slot);
/// Runs a branch that nobody stole, on the owner's thread, and reports the end of its join. If
/// tasks have stable ids, the branch runs as a part with an id of its own. `result` receives what
/// the slot of a stolen branch would receive.
BRAID_API void fork_run_unstolen(fork_slot& slot, fork_slot& result);
/// Reports the end of a join whose branch nobody stole and which ends without running the branch.
BRAID_API void fork_drop_unstolen(fork_slot& slot);
/// Returns the stable id of one more creation by the running task, or by the part of it that the
/// thread runs.
BRAID_API std::uint64_t fork_next_identity(const fork_stack& stack);
BRAID_API bool fork_splits(const fork_stack& stack);
BRAID_API void enter_creator(const fork_stack& stack, creator& as, std::uint64_t of,
                             std::uint64_t part);
BRAID_API void leave_creator(const fork_stack& stack, const creator& as);
/// Passes an exception to the handler for unobserved exceptions. Another part of the join threw,
/// too, and the caller of the join receives that exception only.
BRAID_API void fork_lost(fork_stack& stack, std::exception_ptr error);
#if defined(_WIN32)
BRAID_API fork_stack* thread_joins();
#else
/// The joins of the task that the thread runs. The pointer is null outside tasks, and before the
/// first join. It is read without a call, because each join without a context reads it.
extern BRAID_API constinit thread_local __attribute__((tls_model("initial-exec")))
fork_stack* joins_of_thread;
inline fork_stack* thread_joins() { return joins_of_thread; }
#endif

/// Returns a context for joins that no thread can help. Each of them runs its parts one after the
/// other.
fork_context serial_context();
/// Calls `body` in a task of this name, which the calling thread runs at once. If the thread
/// already runs a task of this scheduler, `body` is called in that task. If the thread finds no
/// seat, there is no task, and joins in `body` are serial. There is no task either if the scheduler
/// is shut down or has no memory for one. The caller gets what `body` throws.
BRAID_API void enter_fork_join(scheduler& s, const char* name,
                               void (*body)(void* data, fork_context context), void* data);

}  // namespace detail

/// The place of a join on its thread's stack. It is passed as an argument from one join to the
/// next, so that the innermost join need not look up its thread. A context is valid on its thread,
/// until the call that it was passed to returns.
class fork_context {
public:
    /// The context of a running task.
    BRAID_API fork_context(task_context& task);
    /// Returns the context of the task that the calling thread runs. Outside tasks, joins of the
    /// returned context run their branches one after the other. A call outside tasks is reported,
    /// unless it is within a fork_join() that found no seat.
    static fork_context current() {
        const detail::fork_stack* joins = detail::thread_joins();
        return joins != nullptr ? fork_context(joins->top) : find_current();
    }

    /// Returns the seat of the running thread, which is below scheduler::seat_count(): an index for
    /// per-thread scratch. The seat stays the same. But between the parts of a join, and in a wait,
    /// other parts of the same work may run on this thread. Returns 0 if a foreign thread found no
    /// seat.
    BRAID_API unsigned seat() const;
    /// Returns true if the scope of the task was cancelled or a discarding shutdown began. The task
    /// should then return soon.
    BRAID_API bool cancelled() const;

private:
    friend struct detail::fork_access;  // the inline code of braid/fork_join; programs see no slots
    explicit fork_context(detail::fork_slot* top) : top_(top) {}
    BRAID_API static fork_context find_current();
    detail::fork_slot* top_;
};

namespace detail {

struct fork_access {
    static fork_slot* top(fork_context c) { return c.top_; }
    static fork_context at(fork_slot* top) { return fork_context(top); }
    /// Returns a stable id for work in pieces, where the schedule decides which thread runs which
    /// piece, and when. Returns 0 if nobody asks for stable ids.
    static std::uint64_t identity_of_pieces(fork_context c) {
        const fork_stack& stack = *c.top_->stack;
        return stack.identified ? fork_next_identity(stack) : 0;
    }
    /// Returns true if other threads may take half of a loop. If a chooser is installed, the
    /// chooser decides.
    static bool splits(fork_context c) {
        const fork_stack& stack = *c.top_->stack;
        return !stack.identified || fork_splits(stack);
    }
    /// Makes the next join call fork_pushed(), so that this join or an older one becomes public.
    static void publish_next(fork_context c) { c.top_->stack->push_limit.store(nullptr, relaxed); }
};

/// While this object lives, the piece counts as the creator of what the thread creates. The object
/// does nothing if the pieces have no identity, that is, if `all` is 0.
class running_piece {
public:
    running_piece(fork_context c, std::uint64_t all, std::uint64_t piece)
        : stack_(all != 0 ? fork_access::top(c)->stack : nullptr) {
        if (stack_ != nullptr) enter_creator(*stack_, as_, all, piece);
    }
    ~running_piece() {
        if (stack_ != nullptr) leave_creator(*stack_, as_);
    }
    running_piece(const running_piece&) = delete;
    running_piece& operator=(const running_piece&) = delete;

private:
    const fork_stack* const stack_;
    creator as_;  // used only if there is a stack
};

}  // namespace detail

BRAID_NAMESPACE_END
