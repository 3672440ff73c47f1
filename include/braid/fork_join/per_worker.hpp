#pragma once
// Scratch memory that is used again: one T for each thread that takes part, made when it first
// asks.
//
//   braid::per_worker<std::vector<float>> rows(scheduler);  // kept from frame to frame
//   braid::parallel_for(scheduler, n, rows, [&](std::size_t i, std::vector<float>& row) { … });
//
// Which thread runs what differs from run to run, and so does what a T is left with. For results
// in the order of the range see gather.hpp and reduce.hpp.

#include "braid/fork_join/parallel_for.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The objects of a per_worker, without their type.
class scratch_store {
public:
    BRAID_API scratch_store(scheduler& s, std::size_t bytes, std::size_t alignment);
    /// Frees the memory; the objects have been destroyed.
    BRAID_API ~scratch_store();
    scratch_store(const scratch_store&) = delete;
    scratch_store& operator=(const scratch_store&) = delete;

    /// An object of the calling thread that is not lent; `make` constructs one where there is none.
    /// Null: no memory, no seat, or (reported) the thread is in no task of the scheduler.
    BRAID_API void* take(void (*make)(void* where));
    /// On the thread that has taken it.
    BRAID_API static void give_back(void* object) noexcept;
    BRAID_API void visit(void (*f)(void* object, void* data), void* data) const;

private:
    struct seat;
    struct header;
    static constexpr unsigned seat_limit = 256;

    runtime& rt_;
    std::size_t before_, bytes_, alignment_;  // of an object: the room for its header, and in all
    seat* seats_[seat_limit] = {};            // each is its own thread's
};

[[noreturn]] inline void no_memory() {
#if BRAID_HAS_EXCEPTIONS
    throw std::bad_alloc();
#else
    std::terminate();
#endif
}

}  // namespace detail

/// A T for each body that runs at the same time on the threads of one scheduler. Keep it as long as
/// you like, but not longer than the scheduler. Memory comes from the scheduler's functions, a T
/// with its own cache lines at a time, when a thread asks for more than it ever did: in the second
/// frame, as a rule, nothing is allocated.
template <std::default_initializable T>
class per_worker {
public:
    explicit per_worker(scheduler& s) : store_(s, sizeof(T), alignof(T)) {}
    /// Nothing is lent.
    ~per_worker() {
        store_.visit([](void* object, void*) { get(object).~T(); }, nullptr);
    }

    /// A T as its last borrower on this thread left it, until the end of this object's life, which
    /// is on the same thread.
    class loan {
    public:
        explicit loan(per_worker& from) : object_(from.store_.take(&make)) {
            if (object_ == nullptr) detail::no_memory();
        }
        ~loan() { detail::scratch_store::give_back(object_); }
        loan(const loan&) = delete;
        loan& operator=(const loan&) = delete;

        T& operator*() const { return get(object_); }
        T* operator->() const { return &get(object_); }

    private:
        void* object_;
    };

    /// In a task of the scheduler, or within fork_join(). A body that waits, or runs a loop of its
    /// own, may have others on top of it on the same thread: each gets a T that nobody else has.
    /// No lock and no atomic operation, about 15 ns. Without memory, and on a thread outside for
    /// which fork_join() found no seat: std::bad_alloc. What T's constructor throws comes out.
    loan borrow() { return loan(*this); }

    /// f(T&) for each that was ever made, by seat, on one seat in the order of their making.
    /// Nothing is lent meanwhile. Who has run what is chance: merge only what does not depend on
    /// it.
    template <std::invocable<T&> F>
    void for_each(F&& f) {
        store_.visit(
            [](void* object, void* data) {
                (*static_cast<std::remove_reference_t<F>*>(data))(get(object));
            },
            const_cast<void*>(static_cast<const void*>(std::addressof(f))));
    }

private:
    static void make(void* where) { ::new (where) T(); }
    static T& get(void* object) { return *std::launder(static_cast<T*>(object)); }

    detail::scratch_store store_;
};

/// What a body of a loop with scratch may be: it takes an index or an index_range, then a T&, then
/// a fork_context if it wants one.
template <class Body, class T>
concept scratch_body = std::is_invocable_v<Body&, index_range, T&, fork_context> ||
                       std::is_invocable_v<Body&, index_range, T&> ||
                       std::is_invocable_v<Body&, std::size_t, T&, fork_context> ||
                       std::is_invocable_v<Body&, std::size_t, T&>;

namespace detail {

/// Any of those forms, for the indices of a range.
template <class T, class Body>
void call_with_scratch(Body& body, index_range r, T& scratch, fork_context c) {
    if constexpr (std::is_invocable_v<Body&, index_range, T&, fork_context>) {
        body(r, scratch, c);
    } else if constexpr (std::is_invocable_v<Body&, index_range, T&>) {
        body(r, scratch);
    } else if constexpr (std::is_invocable_v<Body&, std::size_t, T&, fork_context>) {
        for (std::size_t i = r.begin; i != r.end; ++i) body(i, scratch, c);
    } else {
        for (std::size_t i = r.begin; i != r.end; ++i) body(i, scratch);
    }
}

}  // namespace detail

/// A parallel_for() whose bodies get a T that no other body has meanwhile; one is borrowed for each
/// piece of the loop. It is as its last borrower left it.
template <fork_place Place, class T, scratch_body<T> Body>
void parallel_for(Place&& place, std::size_t count, per_worker<T>& scratch, Body&& body,
                  const loop_options& options = {}) {
    parallel_for(
        place, count,
        [&](index_range r, fork_context c) {
            const auto mine = scratch.borrow();
            detail::call_with_scratch(body, r, *mine, c);
        },
        options);
}

BRAID_NAMESPACE_END
