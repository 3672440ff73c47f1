#pragma once
// A per_worker is reusable scratch memory for loops. Each thread that takes part in a loop has its
// own T, which is constructed when the thread first borrows one.
//
//   braid::per_worker<std::vector<float>> rows(scheduler);  // kept from frame to frame
//   braid::parallel_for(scheduler, n, rows, [&](std::size_t i, std::vector<float>& row) { … });
//
// The thread that runs a body may differ from run to run, so the final content of each T may also
// differ. Use gather.hpp or reduce.hpp for results in the order of the range.

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

    /// Borrows an object of the calling thread. If all objects of the thread are borrowed, `make`
    /// constructs a new object. Returns null if there is no memory, or if fork_join() found no seat
    /// for the thread. If the thread is in no task of the scheduler, calls the assertion handler
    /// and returns null.
    BRAID_API void* take(void (*make)(void* where));
    /// Makes a borrowed object available again. give_back() must be called on the thread that
    /// called take().
    BRAID_API static void give_back(void* object) noexcept;
    BRAID_API void visit(void (*f)(void* object, void* data), void* data) const;

private:
    struct seat;
    struct header;
    static constexpr unsigned seat_limit = 256;

    runtime& rt_;
    std::size_t before_, bytes_, alignment_;  // of an object: header bytes, total bytes
    seat* seats_[seat_limit] = {};            // each entry is used only by the thread on that seat
};

[[noreturn]] inline void no_memory() {
#if BRAID_HAS_EXCEPTIONS
    throw std::bad_alloc();
#else
    std::terminate();
#endif
}

}  // namespace detail

/// Provides a separate T for each body that runs at the same time on the threads of one scheduler.
/// You may keep a per_worker as long as you like, but it must not outlive the scheduler. It
/// allocates with the memory functions of the scheduler. Each T has its own cache lines. A thread
/// allocates a new T only when it needs more objects at once than ever before. So usually nothing
/// is allocated from the second frame on.
template <std::default_initializable T>
class per_worker {
public:
    explicit per_worker(scheduler& s) : store_(s, sizeof(T), alignof(T)) {}
    /// No T may be borrowed when the per_worker is destroyed.
    ~per_worker() {
        store_.visit([](void* object, void*) { get(object).~T(); }, nullptr);
    }

    /// Holds a T until the loan is destroyed. The thread that borrowed the T must destroy the loan.
    /// The T has the content that the previous borrower on this thread left in it.
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

    /// Borrows a T. Call borrow() in a task of the scheduler or within fork_join(). If a body waits
    /// or runs a loop of its own, its thread may run other bodies before the first body resumes.
    /// Each of these bodies gets a T that no other body has. borrow() uses no lock and no atomic
    /// operation, and takes about 15 ns. Throws std::bad_alloc if there is no memory, or if
    /// fork_join() found no seat for the thread. If the thread is in no task of the scheduler,
    /// calls the assertion handler and throws std::bad_alloc. If the constructor of T throws,
    /// borrow() passes that exception to the caller.
    loan borrow() { return loan(*this); }

    /// Calls f(T&) for each T that was ever constructed. The order is by seat, and by time of
    /// construction within a seat. No T may be borrowed during the call. The schedule decides which
    /// body uses which T, so merge only results that do not depend on this assignment.
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

/// The body of a loop with scratch memory. The body takes an index or an index_range, then a T&,
/// and optionally a fork_context.
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

/// Runs a parallel_for() that passes a T& to each call of `body`. No other body uses the same T at
/// the same time. The loop borrows one T for each range of elements that a thread takes. The T has
/// the content that its previous borrower left in it.
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
