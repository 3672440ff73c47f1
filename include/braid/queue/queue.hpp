#pragma once
// This header defines a named queue with its own threads. Use a queue to keep two kinds of work
// from delaying each other when work of one kind is slow or blocks. Work starts in the order in
// which it was pushed.

#include "braid/core/closure.hpp"
#include "braid/core/scheduler_options.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

class code_search;
class scheduler;

/// Specifies what push() does when the queue already holds `capacity` pieces of work. With `block`,
/// a pusher runs pieces instead of sleeping if the queue has no threads, or if the pusher itself
/// runs in a piece of this queue. If it slept, it could wait for itself.
enum class when_full : std::uint8_t {
    help,   // the pusher runs the oldest piece itself, then pushes its own
    block,  // the pusher sleeps until there is room
    grow,   // the piece goes to an unbounded list behind the ring, in order
    fail,   // push() returns false
};

/// The options of a queue. A number outside its range is clamped to the range, and the scheduler's
/// log gets a warning.
struct queue_options {
    static constexpr unsigned most_threads = 256;
    static constexpr std::uint32_t least_capacity = 2, most_capacity = std::uint32_t{1} << 20;

    const char* name = "queue";
    unsigned threads = 1;  // 0..most_threads; with 0, only drain() and helping pushers run work
    /// The capacity in pieces of work: least_capacity..most_capacity, rounded up to a power of two.
    /// Each piece takes 64 bytes.
    std::uint32_t capacity = 256;
    when_full full = when_full::help;
    int nice = 0;                 // see thread_options::nice
    std::size_t stack_bytes = 0;  // see thread_options::stack_bytes
};

struct queue_statistics {
    std::uint64_t pushed = 0, executed = 0, refused = 0;
    std::uint64_t helped = 0;  // pieces that ran in drain() or in a push() that found no room
    std::uint64_t grown = 0, blocked = 0;  // pieces put behind the ring; sleeps of pushers
};

class queue {
public:
    /// Starts the threads. The queue uses the memory, the log and the handlers of the scheduler,
    /// which must outlive the queue.
    BRAID_API explicit queue(scheduler& s, const queue_options& options = {});
    /// Runs all work that was pushed, then joins the threads. Do not destroy a queue on one of its
    /// own threads.
    BRAID_API ~queue();
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;

    /// Pushes a piece of work. Any thread may call it, including a thread of the queue. `f` is
    /// called as f() or f(queue&). If `f` throws, the exception goes to the unobserved-exception
    /// handler. The queue allocates memory for a callable that is larger than 40 bytes, is aligned
    /// more strictly than a pointer, or has a move constructor that may throw.
    /// Returns false if the queue is full under when_full::fail, if there is no memory, or if the
    /// queue is being destroyed.
    template <class F>
        requires(std::is_invocable_v<std::decay_t<F>&> ||
                 std::is_invocable_v<std::decay_t<F>&, queue&>)
    bool push(F&& f) {
        item work;
        return work.template emplace<std::decay_t<F>>(rt_, std::forward<F>(f)) && push_item(work);
    }
    /// Pushes a plain function, which is called as function(queue, data).
    bool push(void (*function)(queue& q, void* data), void* data) {
        return push([function, data](queue& q) { function(q, data); });
    }

    /// Runs work together with the queue's threads until all work that was pushed has run,
    /// including work that is pushed during the call. The queue can be used afterwards. Do not call
    /// drain() from a piece of work of this queue, because the piece would wait for itself. Such a
    /// call runs nothing and is reported to the assertion handler.
    BRAID_API void drain();
    /// Drops the pieces of work that have not started, and destroys their captures. Returns how
    /// many pieces were dropped.
    BRAID_API std::size_t discard();

    BRAID_API std::size_t size() const;
    BRAID_API const char* name() const;
    BRAID_API queue_statistics statistics() const;

private:
    /// A callable that can be moved into the ring, into the list behind the ring, and onto the
    /// stack of the thread that runs it.
    class item {
    public:
        item() = default;
        item(item&& other) noexcept { take(other); }
        item& operator=(item&& other) noexcept {
            reset();
            take(other);
            return *this;
        }
        ~item() { reset(); }

        template <class F, class... Arguments>
        bool emplace(detail::runtime& rt, Arguments&&... arguments) {
            // A callable whose move may throw is stored in allocated memory, and only a pointer to
            // it moves.
            constexpr std::size_t room = std::is_nothrow_move_constructible_v<F> ? inline_bytes : 0;
            using place = detail::stored<F, room, alignof(void*)>;
            if (!place::put(rt, bytes_, std::forward<Arguments>(arguments)...)) return false;
            manage_ = &manage<F, place>;
            return true;
        }
        void call(queue& q) { manage_(action::call, *this, nullptr, &q); }
        void show_code(code_search& to, const char* name) const;
        void reset() {
            if (manage_ != nullptr) manage_(action::destroy, *this, nullptr, nullptr);
            manage_ = nullptr;
        }

    private:
        enum class action { call, move, destroy };
        static constexpr std::size_t inline_bytes = 40;

        template <class F, class Place>
        static void manage(action what, item& self, item* to, queue* q) {
            if (what == action::move) return Place::move(to->bytes_, self.bytes_);
            if (what == action::destroy) return Place::destroy(self.bytes_);
            if constexpr (std::is_invocable_v<F&, queue&>) {
                Place::get(self.bytes_)(*q);
            } else {
                Place::get(self.bytes_)();
            }
        }
        void take(item& other) {
            manage_ = std::exchange(other.manage_, nullptr);
            if (manage_ != nullptr) manage_(action::move, other, this, nullptr);
        }

        alignas(void*) std::byte bytes_[inline_bytes];
        void (*manage_)(action what, item& self, item* to, queue* q) = nullptr;
    };
    struct state;

    static state* make_state(queue& q, const queue_options& options);
    BRAID_API bool push_item(item& work);

    detail::runtime& rt_;
    state* state_;  // null if there was no memory for it; all calls are then refused
};

BRAID_NAMESPACE_END
