#pragma once
// The second branches of running joins, one stack per thread, apart from its tasks. Used by
// braid/fork_join; not for programs. The protocol, its roles and its papers:
// docs/design/fork-join.md
//
//   base          tail          split            top              end
//    │  stolen     │  public     │  private       │   free          │
//
// [tail, split) is public: thieves claim at `tail`, the owner takes back at `split`, both by a
// compare-exchange on one word. Everything above `split` is the owner's alone: plain stores.

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

/// Stands for the running task as the creator of what the thread creates, where the order in which
/// the task creates depends on the schedule: in a branch, a piece of a loop, an item of a list.
/// It counts by itself, from 0 on. Used with stable ids only; see docs/design/seams.md. It lies on
/// the thread's stack of creators, and counts while `within` is the innermost task of the thread.
struct creator {
    std::uint64_t id;  // stable
    std::uint64_t creations;
    const running_task* within;
    creator* below;
};

/// {tail, split, version}: which slots of a stack are public. The version makes each publication
/// another word, so that a thief that looked at a branch before its claim has claimed that branch.
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

    /// seq_cst: pairs with publish(), also for a thread that has announced its sleep; acquire would
    /// do for the others.
    word look() const { return word_.load(seq_cst); }

    /// The owner's: `count` more. seq_cst: before the look at the sleepers that follows; release:
    /// pairs with look(), the branches are written.
    void publish(std::uint32_t count) {
        word_.fetch_add(word{count} << bits | version_one, seq_cst);
    }

    /// A thief's: the branch at tail(seen) is its own now. relaxed: look() has acquired what the
    /// publication of that version wrote.
    bool claim(word seen) {
        return word_.compare_exchange_strong(seen, seen + 1, relaxed, relaxed);
    }

    /// The owner's: the topmost public branch, at `index`, is private again. False: it was stolen.
    bool take_back(std::uint32_t index) {
        // relaxed: the owner wrote the branch itself; the word alone decides which thread gets it.
        word seen = word_.load(relaxed);
        while (tail(seen) <= index) {
            if (word_.compare_exchange_weak(seen, seen - (word{1} << bits), relaxed, relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// The owner's: the stolen branch at `index` is complete, and was the topmost.
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

/// How a thief asks for work: the owner looks up at its next join, whose one compare with `limit`
/// is all that this costs when nobody asks. `asked` lies on a line that thieves read anyway, the
/// limit on the owner's.
template <class Limit, class Flag>
void ask_for_branches(Limit& limit, Flag& asked) {
    // acq_rel: pairs with answer_request(); the limit below comes after the one that was stored
    // there.
    if (asked.load(relaxed) || asked.exchange(true, acq_rel)) return;
    limit.store(nullptr, relaxed);
}
/// The owner's, before it publishes. `normal`: the limit from here on.
template <class Limit, class Flag, class Slot>
void answer_request(Limit& limit, Flag& asked, Slot* normal) {
    limit.store(normal, relaxed);
    // release: a thief that finds the flag down again finds the limit above, and overwrites it.
    asked.store(false, release);
}

struct fork_stack;

struct alignas(64) fork_slot {
    static constexpr std::size_t payload_bytes = 40;
    enum : std::uint32_t {
        finished = 1,
        failed = 2,
        awaited = 4,  // its owner sleeps, or is about to
        taken = 8,    // by a seat (the next 12 bits), from a height of its stack on (12 more)
        seat_shift = 4,
        seat_mask = 0xfff,
        height_shift = 16,
        height_mask = 0xfff,
        unstolen = 1U << 28,  // nobody took it, and it runs by fork_run_unstolen()
    };

    /// By a thief: moves the closure out of the payload, runs it, leaves its result or exception
    /// there. True: it threw.
    bool (*run)(fork_slot& self, fork_context context) = nullptr;
    fork_stack* stack = nullptr;     // that it is part of; one pointer is all that is handed down
    atomic<std::uint32_t> state{0};  // set when the slot becomes public, as is `task`:
    atomic<std::uint32_t> task{0};   // index of the task that the join is part of
    alignas(8) std::byte payload[payload_bytes];
};
static_assert(sizeof(fork_slot) == 64, "a branch is one cache line");

struct alignas(64) fork_stack {
    static constexpr std::uint32_t depth = 1024;
    static constexpr std::uint32_t spare = 16;  // the most slots of one join

    /// `count` slots, and `spare` more after them, for a join that does not fit.
    fork_stack(whole_seat* w, fork_slot* first, std::uint32_t count)
        : top(first), pop_limit(first), base(first), end(first + count), owner(w) {
        for (std::uint32_t i = 0; i != count + spare; ++i) first[i].stack = this;
    }

    // ---- the owner's line ----
    fork_slot* top;        // what lies below is in use
    fork_slot* pop_limit;  // what lies below is, or was, public
    /// The owner reads it at each join: at or above, it looks up. Null: a thief asks for work, or
    /// the next join is the outermost one, or an observer listens, or a chooser is installed.
    atomic<fork_slot*> push_limit{nullptr};
    fork_slot* const base;
    fork_slot* const end;
    whole_seat* const owner;  // null: of a thread in no scheduler, no join fits
    bool identified =
        false;  // tasks have stable ids, so each join is public and its parts get some
    // ---- everybody's ----
    alignas(64) fork_window window;
    atomic<bool> asked{false};  // a thief's request is on its way
};
static_assert(fork_stack::depth <= fork_window::capacity);

/// Branches were put into `count` slots, the last at or above push_limit. False: they have no room.
BRAID_API bool fork_pushed(fork_stack& stack, fork_slot* first, std::uint32_t count);
/// The branch is public. True: it is the caller's again. False: a thief has run it and the result
/// lies in the slot, or the slot is marked as `unstolen`.
BRAID_API bool fork_popped(fork_stack& stack, fork_slot* slot);
/// Runs a branch that nobody stole on the owner's thread, as a part with a stable id if there are
/// any, and reports the end of its join; `result` receives what the slot of a stolen one would.
BRAID_API void fork_run_unstolen(fork_slot& slot, fork_slot& result);
/// A branch that nobody stole will not run: the join ends without it.
BRAID_API void fork_drop_unstolen(fork_slot& slot);
/// Counts as one creation of the running task, or of the part of it that the thread runs; stable.
BRAID_API std::uint64_t fork_next_identity(const fork_stack& stack);
BRAID_API bool fork_splits(const fork_stack& stack);
BRAID_API void enter_creator(const fork_stack& stack, creator& as, std::uint64_t of,
                             std::uint64_t part);
BRAID_API void leave_creator(const fork_stack& stack, const creator& as);
/// Both parts of a join threw: nobody waits for the second exception, the handler gets it.
BRAID_API void fork_lost(fork_stack& stack, std::exception_ptr error);
#if defined(_WIN32)
BRAID_API fork_stack* thread_joins();
#else
/// The joins of the task that the thread runs; null outside tasks, and before the first join. Each
/// join without a context reads it, so it takes no call.
extern BRAID_API constinit thread_local __attribute__((tls_model("initial-exec")))
fork_stack* joins_of_thread;
inline fork_stack* thread_joins() { return joins_of_thread; }
#endif

/// For joins that nobody can help: each runs its parts one after the other.
fork_context serial_context();
/// Calls `body` in a task of this name that the calling thread runs at once, unless it runs one of
/// this scheduler's already. Where it finds no seat there is no task, and its joins are serial
/// ones. What `body` throws comes out.
BRAID_API void enter_fork_join(scheduler& s, const char* name,
                               void (*body)(void* data, fork_context context), void* data);

}  // namespace detail

/// Where a join stands: handed down from one to the next as an argument, so that the innermost need
/// not look for its thread. Valid until the call that it was passed to returns, on its thread.
class fork_context {
public:
    /// The context of a running task.
    BRAID_API fork_context(task_context& task);
    /// The context of the task that the calling thread runs. A call outside tasks is reported, and
    /// joins of its context run their branches one after the other.
    static fork_context current() {
        const detail::fork_stack* joins = detail::thread_joins();
        return joins != nullptr ? fork_context(joins->top) : find_current();
    }

    /// The seat of the running thread, below scheduler::seat_count(): an index for per-thread
    /// scratch. Stays the same; but between the parts of a join, and in a wait, other parts of the
    /// same work may run on this thread. 0 where a thread outside found none.
    BRAID_API unsigned seat() const;
    /// The scope of the task was cancelled, or a discarding shutdown began: return soon.
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
    /// For what runs in pieces of which the schedule decides who runs which, when. 0: nobody asks
    /// for stable ids.
    static std::uint64_t identity_of_pieces(fork_context c) {
        const fork_stack& stack = *c.top_->stack;
        return stack.identified ? fork_next_identity(stack) : 0;
    }
    /// Whether others may take half of a loop: where a chooser is installed it says so.
    static bool splits(fork_context c) {
        const fork_stack& stack = *c.top_->stack;
        return !stack.identified || fork_splits(stack);
    }
    /// The next join looks up: it, or an older one, becomes public.
    static void publish_next(fork_context c) { c.top_->stack->push_limit.store(nullptr, relaxed); }
};

/// While it lives what the thread creates is created by that piece. Nothing is done where the
/// pieces have no identity.
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
    creator as_;  // with a stack only
};

}  // namespace detail

BRAID_NAMESPACE_END
