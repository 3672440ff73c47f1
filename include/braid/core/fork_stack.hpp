#pragma once
// Each thread has a stack that holds the second branches of its running joins. This stack is
// separate from the thread's tasks. Only braid/fork_join uses it; programs do not.
// docs/design/fork-join.md describes the protocol and its roles, and lists the papers on which the
// protocol is based.
//
//   base          tail          split            top              end
//    │  stolen     │  public     │  private       │   free          │
//
// The branches in [tail, split) are public. Thieves claim a branch at `tail`, and the owner makes a
// branch private again at `split`. Both use a compare-exchange on one word. Everything above
// `split` belongs to the owner alone, which uses plain stores there.

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

/// Represents one part of a thread's running task as the creator of tasks. A part is a branch, a
/// piece of a loop or an item of a list. In a part, the running task itself is not the creator,
/// because the order in which the parts create tasks depends on the schedule. Each part has a count
/// of its own, which starts at 0. Creators are used only with stable ids; see docs/design/seams.md.
/// A thread has a stack of creators. The topmost creator is in effect while `within` is the
/// innermost task of the thread.
struct creator {
    std::uint64_t id;  // stable
    std::uint64_t creations;
    const running_task* within;
    creator* below;
};

/// Holds one word {tail, split, version}, which determines the public slots of a stack. Each
/// publication changes the version. Therefore a thief that reads a branch and then claims it with
/// the word that it saw claims the same branch that it has read.
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

    /// seq_cst: pairs with the seq_cst in publish(), so that either a thread that has announced its
    /// sleep sees the branches, or the owner sees the announcement. For all other callers of
    /// look(), acquire would be enough.
    word look() const { return word_.load(seq_cst); }

    /// The owner calls this to make `count` more branches public. release: pairs with look(), so
    /// that a thief sees the contents of the branches. seq_cst: orders the publication before the
    /// owner's check for sleeping threads, which follows.
    void publish(std::uint32_t count) {
        word_.fetch_add(word{count} << bits | version_one, seq_cst);
    }

    /// A thief calls this to claim the branch at tail(seen). Returns false if the word is not
    /// `seen` anymore. relaxed: look() has already acquired the contents of the branches that are
    /// public in `seen`.
    bool claim(word seen) {
        return word_.compare_exchange_strong(seen, seen + 1, relaxed, relaxed);
    }

    /// The owner calls this to make the topmost public branch, at `index`, private again. Returns
    /// false if the branch was stolen.
    bool take_back(std::uint32_t index) {
        // relaxed: the owner wrote the branch itself, and the word alone decides whether the owner
        // or a thief gets the branch.
        word seen = word_.load(relaxed);
        while (tail(seen) <= index) {
            if (word_.compare_exchange_weak(seen, seen - (word{1} << bits), relaxed, relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// The owner calls this to remove the stolen branch at `index` from the window. The branch must
    /// be complete and must have been the topmost public branch.
    void forget(std::uint32_t index) {
        // relaxed: no branch is public now, so no thief uses the word before the next publish().
        const word seen = word_.load(relaxed);
        word_.store((seen & ~word{(1U << 2 * bits) - 1}) | word{index} << bits | index, relaxed);
    }

private:
    static constexpr word version_one = word{1} << 2 * bits;
    atomic<word> word_{0};
};
using fork_window = basic_fork_window<active_policy>;

/// A thief calls this to ask a stack's owner for work. The owner notices the request at its next
/// join, because each join compares its slot with `limit`. This comparison is the whole cost if no
/// thief asks. `asked` is on a cache line that thieves read anyway, and `limit` is on the owner's
/// cache line.
template <class Limit, class Flag>
void ask_for_branches(Limit& limit, Flag& asked) {
    // acq_rel: pairs with the release in answer_request(), so that the null stored below replaces
    // the limit that the owner stored there.
    if (asked.load(relaxed) || asked.exchange(true, acq_rel)) return;
    limit.store(nullptr, relaxed);
}
/// The owner calls this to clear the request before it publishes branches. `normal` becomes the
/// limit.
template <class Limit, class Flag, class Slot>
void answer_request(Limit& limit, Flag& asked, Slot* normal) {
    limit.store(normal, relaxed);
    // release: pairs with the acq_rel in ask_for_branches(). A thief that sees the cleared flag
    // also sees the limit stored above, and overwrites it.
    asked.store(false, release);
}

struct fork_stack;

struct alignas(64) fork_slot {
    static constexpr std::size_t payload_bytes = 40;
    enum : std::uint32_t {
        finished = 1,
        failed = 2,
        awaited = 4,  // the owner sleeps, or is about to sleep
        // A thief has stolen the branch. The bits from seat_shift on are its seat, and those from
        // height_shift on are the number of branches that were on its stack.
        taken = 8,
        seat_shift = 4,
        seat_mask = 0xfff,
        height_shift = 16,
        height_mask = 0xfff,
        unstolen = 1U << 28,  // no thief stole it; for fork_run_unstolen() or fork_drop_unstolen()
    };

    /// A thief or fork_run_unstolen() calls this. It moves the closure out of the payload, runs it,
    /// and stores its result or exception in the payload. It returns true if the closure threw.
    bool (*run)(fork_slot& self, fork_context context) = nullptr;
    fork_stack* stack = nullptr;     // the slot's stack; a context stores only a slot
    atomic<std::uint32_t> state{0};  // reset when the slot becomes public
    atomic<std::uint32_t> task{0};   // index of the join's task; set when `state` is reset
    alignas(8) std::byte payload[payload_bytes];
};
static_assert(sizeof(fork_slot) == 64, "a branch is one cache line");

struct alignas(64) fork_stack {
    static constexpr std::uint32_t depth = 1024;
    static constexpr std::uint32_t spare = 16;  // the maximum number of slots of one join

    /// `first` must point to `count` slots, followed by `spare` more slots for a join that does not
    /// fit.
    fork_stack(whole_seat* w, fork_slot* first, std::uint32_t count)
        : top(first), pop_limit(first), base(first), end(first + count), owner(w) {
        for (std::uint32_t i = 0; i != count + spare; ++i) first[i].stack = this;
    }

    // ---- on the owner's cache line ----
    fork_slot* top;        // the slots below `top` are in use
    fork_slot* pop_limit;  // the slots below `pop_limit` are, or were, public
    /// The owner reads this limit at each join. It calls fork_pushed() if the join's topmost slot
    /// is at or above the limit. The limit is null in these cases: a thief asks for work, the next
    /// join is the outermost join or follows fork_access::publish_next(), an observer listens, or
    /// tasks have stable ids (as they do with a chooser).
    atomic<fork_slot*> push_limit{nullptr};
    fork_slot* const base;
    fork_slot* const end;
    whole_seat* const owner;  // null if the thread is in no scheduler; no join fits then
    /// Set if tasks have stable ids. Each join is then public, and its parts have ids, too.
    bool identified = false;
    // ---- read and written by all threads ----
    alignas(64) fork_window window;
    atomic<bool> asked{false};  // a thief has asked, and the owner has not answered yet
};
static_assert(fork_stack::depth <= fork_window::capacity);

/// The owner calls this after it has written branches to `count` slots. The last of these slots is
/// at or above push_limit. Clears a thief's request, and makes branches public if other threads may
/// help. Returns false if the stack has no room for the branches.
BRAID_API bool fork_pushed(fork_stack& stack, fork_slot* first, std::uint32_t count);
/// The owner calls this when it returns to a public branch. If a thief has the branch, the call
/// waits for the thief. Returns true if the branch belongs to the owner again. Returns false if a
/// thief has run the branch, so that the result is in the slot, or if the slot is marked as
/// `unstolen`.
BRAID_API bool fork_popped(fork_stack& stack, fork_slot* slot);
/// Runs a branch that no thief stole, on the owner's thread, and reports the end of its join. If
/// tasks have stable ids, the branch runs as a part with an id of its own. The result or exception
/// is stored in `result`, as a thief would store it in the slot.
BRAID_API void fork_run_unstolen(fork_slot& slot, fork_slot& result);
/// Reports the end of a join to the observer. Call this if no thief stole the join's branch and the
/// owner ends the join without running the branch.
BRAID_API void fork_drop_unstolen(fork_slot& slot);
/// Returns the stable id for the next creation. The creator is the running task, or the part of the
/// task that the thread runs.
BRAID_API std::uint64_t fork_next_identity(const fork_stack& stack);
BRAID_API bool fork_splits(const fork_stack& stack);
BRAID_API void enter_creator(const fork_stack& stack, creator& as, std::uint64_t of,
                             std::uint64_t part);
BRAID_API void leave_creator(const fork_stack& stack, const creator& as);
/// Passes an exception to the handler for unobserved exceptions. Call this if another part of the
/// join threw, too, because the caller of the join receives only one exception.
BRAID_API void fork_lost(fork_stack& stack, std::exception_ptr error);
#if defined(_WIN32)
BRAID_API fork_stack* thread_joins();
#else
/// Points to the joins of the task that the thread runs. The pointer is null outside tasks, and
/// before the first join on the thread's seat. It is a variable and not a function because each
/// join without a context reads it.
extern BRAID_API constinit thread_local __attribute__((tls_model("initial-exec")))
fork_stack* joins_of_thread;
inline fork_stack* thread_joins() { return joins_of_thread; }
#endif

/// Returns a context for joins that no other thread can help. Each of these joins runs its parts
/// one after the other.
fork_context serial_context();
/// Calls `body` in a task named `name`, which the calling thread runs at once. If the thread
/// already runs a task of this scheduler, `body` is called in that task. If the thread finds no
/// seat, `body` is called without a task, and its joins are serial. If the scheduler is shut down
/// or has no memory for a task, `body` is also called without a task. An exception of `body` passes
/// to the caller.
BRAID_API void enter_fork_join(scheduler& s, const char* name,
                               void (*body)(void* data, fork_context context), void* data);

}  // namespace detail

/// Refers to the place of a join on its thread's stack of joins. Each join passes a context to its
/// parts as an argument, so that an inner join need not look up its thread. A context is valid only
/// on its thread, and only until the call that received it returns.
class fork_context {
public:
    /// Makes the context of a running task.
    BRAID_API fork_context(task_context& task);
    /// Returns the context of the task that the calling thread runs. Outside tasks, returns a
    /// context whose joins run their branches one after the other. A call outside tasks is reported
    /// to standard error, unless it is within a fork_join() that found no seat.
    static fork_context current() {
        const detail::fork_stack* joins = detail::thread_joins();
        return joins != nullptr ? fork_context(joins->top) : find_current();
    }

    /// Returns the seat of the running thread, which is below scheduler::seat_count(). Use it as an
    /// index for per-thread scratch. The seat never changes during the call that received this
    /// context. However, other parts of the same work may run on this thread between the parts of a
    /// join and in a wait. Returns 0 if a foreign thread found no seat.
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
    /// Returns a stable id for work that is divided into pieces, if the schedule decides when each
    /// piece runs and on which thread. Returns 0 if tasks have no stable ids.
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
    /// Makes the next join call fork_pushed(), so that the next join or an older one becomes
    /// public.
    static void publish_next(fork_context c) { c.top_->stack->push_limit.store(nullptr, relaxed); }
};

/// While this object lives, the piece `piece` is the creator of the tasks that the thread creates.
/// The object does nothing if `all` is 0, which means that the pieces have no stable ids.
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
    creator as_;  // used only if `stack_` is not null
};

}  // namespace detail

BRAID_NAMESPACE_END
