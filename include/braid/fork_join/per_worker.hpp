#pragma once
// Scratch memory that is used again: a T for each thread that takes part, made when that thread
// first asks.
//
//   braid::per_worker<std::vector<float>> rows(scheduler);  // kept from frame to frame
//   braid::parallel_for(scheduler, n, rows, [&](std::size_t i, std::vector<float>& row) { … });
//
// Which thread runs what differs from run to run, and so does what each T holds afterward. For
// results in the order of the range see gather.hpp and reduce.hpp.

#include "braid/fork_join/parallel_for.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Holds the objects of a per_worker, without their type.
class scratch_store {
public:
    BRAID_API scratch_store(scheduler& s, std::size_t bytes, std::size_t alignment);
    /// Frees the memory. The objects must have been destroyed before.
    BRAID_API ~scratch_store();
    scratch_store(const scratch_store&) = delete;
    scratch_store& operator=(const scratch_store&) = delete;

    /// Returns an object of the calling thread that is not borrowed; if there is none, `make`
    /// constructs one. Returns null if there is no memory, if the thread has no seat, or (reported)
    /// if the thread is in no task of the scheduler.
    BRAID_API void* take(void (*make)(void* where));
    /// Called on the thread that has taken the object.
    BRAID_API static void give_back(void* object) noexcept;
    BRAID_API void visit(void (*f)(void* object, void* data), void* data) const;

private:
    struct seat;
    struct header;
    static constexpr unsigned seat_limit = 256;

    runtime& rt_;
    std::size_t before_, bytes_, alignment_;  // of an object: header room, bytes in all
    seat* seats_[seat_limit] = {};            // each is used by its own thread only
};

[[noreturn]] inline void no_memory() {
#if BRAID_HAS_EXCEPTIONS
    throw std::bad_alloc();
#else
    std::terminate();
#endif
}

}  // namespace detail

/// Provides a T for each body that runs at the same time on the threads of one scheduler. You may
/// keep it as long as you like, but it must not outlive the scheduler. The memory comes from the
/// scheduler's functions: when a thread needs more objects at once than ever before, one T with its
/// own cache lines. So from the second frame on, as a rule, nothing is allocated.
template <std::default_initializable T>
class per_worker {
public:
    explicit per_worker(scheduler& s) : store_(s, sizeof(T), alignof(T)) {}
    /// No T may be borrowed at this time.
    ~per_worker() {
        store_.visit([](void* object, void*) { get(object).~T(); }, nullptr);
    }

    /// Holds a T until the loan is destroyed, which must happen on the same thread. The T is as its
    /// last borrower on this thread left it.
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

    /// Borrows a T. Call it in a task of the scheduler, or within fork_join(). A body that waits,
    /// or runs a loop of its own, may have other bodies on top of it on the same thread: each gets
    /// a T that nobody else has. Takes no lock and no atomic operation; about 15 ns. Throws
    /// std::bad_alloc if there is no memory, and on a thread outside for which fork_join() found no
    /// seat. Rethrows what T's constructor throws.
    loan borrow() { return loan(*this); }

    /// Calls f(T&) for each T that was ever made, seat by seat, and within a seat in the order in
    /// which they were made. No T may be borrowed meanwhile. Which thread ran what is chance, so
    /// merge only what does not depend on it.
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

/// What the body of a loop with scratch memory may be: it takes an index or an index_range, then a
/// T&, then a fork_context if it wants one.
template <class Body, class T>
concept scratch_body = std::is_invocable_v<Body&, index_range, T&, fork_context> ||
                       std::is_invocable_v<Body&, index_range, T&> ||
                       std::is_invocable_v<Body&, std::size_t, T&, fork_context> ||
                       std::is_invocable_v<Body&, std::size_t, T&>;

namespace detail {

/// Calls a body of any form of scratch_body for the indices of a range.
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

/// Runs a parallel_for() whose bodies get a T that no other body has meanwhile. One T is borrowed
/// for each piece of the loop. The T is as its last borrower left it.
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
