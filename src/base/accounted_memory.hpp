#pragma once
// The user's allocator with bookkeeping: bytes by tag, a byte budget, one place that fails.

#include "braid/base/handlers.hpp"
#include "braid/base/memory.hpp"
#include "braid/base/policy.hpp"

#include <cstddef>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

class accounted_memory {
public:
    accounted_memory(const memory_hooks& hooks, std::size_t budget,
                     const out_of_memory_handler& handler);

    /// Null when the hook has no memory or the budget is spent, after telling the handler.
    void* allocate(std::size_t bytes, std::size_t alignment, memory_tag tag);
    /// The same without telling the handler: for what is not needed yet.
    void* try_allocate(std::size_t bytes, std::size_t alignment, memory_tag tag);
    bool has_budget() const { return budget_ != 0; }
    /// For a part without which there is no scheduler: there is nothing to return without it, so
    /// once the handler has heard of it the program ends (std::terminate).
    template <class Part>
    void* room_for(memory_tag tag) {
        return allocate_or_terminate(sizeof(Part), alignof(Part), tag);
    }
    void release(void* pointer, std::size_t bytes, std::size_t alignment, memory_tag tag);
    /// Makes a part without which there is no scheduler. Ends the program if there is no memory, as
    /// room_for() does. unmake() destroys the part and frees its memory; it does nothing if `part`
    /// is null.
    template <class Part, class... Arguments>
    Part* make(Arguments&&... arguments) {
        return ::new (room_for<Part>(memory_tag::runtime))
            Part(std::forward<Arguments>(arguments)...);
    }
    template <class Part>
    void unmake(Part* part) {
        if (part == nullptr) return;
        part->~Part();
        release(part, sizeof(Part), alignof(Part), memory_tag::runtime);
    }

    /// What `other` has handed out is counted, and may be released, here from now on. At rest.
    void take_over(accounted_memory& other);

    std::size_t bytes(memory_tag tag) const {
        return static_cast<std::size_t>(used_[static_cast<std::size_t>(tag)].load(relaxed));
    }
    /// Calls of allocate() so far: what a test of "no allocation in steady state" compares.
    std::uint64_t allocations() const { return allocations_.load(relaxed); }

private:
    bool reserve(std::size_t bytes);
    void* allocate_or_terminate(std::size_t bytes, std::size_t alignment, memory_tag tag);

    memory_hooks hooks_;
    out_of_memory_handler handler_;
    std::size_t budget_;
    // relaxed throughout: these are counts, nothing is published by them.
    atomic<std::size_t> total_{0};
    atomic<std::uint64_t> allocations_{0};
    atomic<std::size_t> used_[static_cast<std::size_t>(memory_tag::count)]{};
};

}  // namespace detail
BRAID_NAMESPACE_END
