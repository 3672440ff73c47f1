#pragma once
// Reusable scratch memory for loops. Each thread that takes part has a T of its own, which is
// constructed when the thread first asks for a T.
//
//   braid::per_worker<std::vector<float>> rows(scheduler);  // kept from frame to frame
//   braid::parallel_for(scheduler, n, rows, [&](std::size_t i, std::vector<float>& row) { … });
//
// The thread that runs a body differs from run to run, and so does the content of each T afterward.
// For results in the order of the range, see gather.hpp and reduce.hpp.

#include "braid/fork_join/parallel_for.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Stores the objects of a per_worker without knowing their type.
class scratch_store {
public:
    BRAID_API scratch_store(scheduler& s, std::size_t bytes, std::size_t alignment);
    /// Frees the memory. The objects must be destroyed before the store.
    BRAID_API ~scratch_store();
    scratch_store(const scratch_store&) = delete;
    scratch_store& operator=(const scratch_store&) = delete;

    /// Returns an object of the calling thread that is not borrowed. If there is none, `make`
    /// constructs one. Returns null if there is no memory or if the thread has no seat. Also
    /// returns null, and reports it, if the thread is in no task of the scheduler.
    BRAID_API void* take(void (*make)(void* where));
    /// Must be called on the thread that took the object.
    BRAID_API static void give_back(void* object) noexcept;
    BRAID_API void visit(void (*f)(void* object, void* data), void* data) const;

private:
    struct seat;
    struct header;
    static constexpr unsigned seat_limit = 256;

    runtime& rt_;
    std::size_t before_, bytes_, alignment_;  // per object: header bytes, total bytes
    seat* seats_[seat_limit] = {};            // each entry is used by its own thread only
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
/// keep a per_worker as long as you like, but it must not outlive the scheduler. The memory
/// functions of the scheduler provide the memory. A T, with cache lines of its own, is allocated
/// only when a thread needs more objects at once than ever before. So usually nothing is allocated
/// from the second frame on.
template <std::default_initializable T>
class per_worker {
public:
    explicit per_worker(scheduler& s) : store_(s, sizeof(T), alignof(T)) {}
    /// No T may be borrowed when the per_worker is destroyed.
    ~per_worker() {
        store_.visit([](void* object, void*) { get(object).~T(); }, nullptr);
    }

    /// Holds a T until the loan is destroyed. The thread that borrowed the T must destroy the loan.
    /// The T has the content that its last borrower on this thread left in it.
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

    /// Borrows a T. Call it in a task of the scheduler, or within fork_join(). When a body waits or
    /// runs a loop of its own, the same thread may run other bodies meanwhile. Each of these bodies
    /// gets a T that no other body has. The call uses no lock and no atomic operation, and takes
    /// about 15 ns. Throws std::bad_alloc if there is no memory, if fork_join() found no seat for
    /// the thread, or (reported) if the thread is in no task of the scheduler. Rethrows the
    /// exception if T's constructor throws.
    loan borrow() { return loan(*this); }

    /// Calls f(T&) for each T that was ever constructed, seat by seat, and in the order of
    /// construction within a seat. No T may be borrowed during the call. The thread that ran a body
    /// is arbitrary, so merge only results that do not depend on it.
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

/// The body of a loop with scratch memory: it takes an index or an index_range, then a T&, and
/// optionally a fork_context.
template <class Body, class T>
concept scratch_body = std::is_invocable_v<Body&, index_range, T&, fork_context> ||
                       std::is_invocable_v<Body&, index_range, T&> ||
                       std::is_invocable_v<Body&, std::size_t, T&, fork_context> ||
                       std::is_invocable_v<Body&, std::size_t, T&>;

namespace detail {

/// Calls a scratch_body of any form for the indices of a range.
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

/// Runs a parallel_for() that passes a T& to each body. No other body uses that T at the same time.
/// One T is borrowed for each piece of the loop. The T has the content that its last borrower left
/// in it.
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
