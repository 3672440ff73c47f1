#include "braid/fork_join/per_worker.hpp"

#include "core/extension.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// What one thread has. Only the thread that has the seat touches it while bodies run; who has the
/// seat next (a guest's) gets it under the lock of those without a seat, and joins order the rest.
struct alignas(64) scratch_store::seat {
    header* free = nullptr;  // not lent; the one that came back last first
    header* made = nullptr;
    header** end = &made;
};

/// Lies before its object.
struct scratch_store::header {
    seat* of;
    header* next_free;
    header* next_made;
    void* object;
};

namespace {

/// Gives memory back unless its object was made.
struct block {
    runtime& rt;
    void* start;
    std::size_t bytes, alignment;
    ~block() {
        if (start != nullptr) core::memory(rt).release(start, bytes, alignment, memory_tag::worker);
    }
};

}  // namespace

scratch_store::scratch_store(scheduler& s, std::size_t bytes, std::size_t alignment)
    : rt_(s.internals()), alignment_(std::max<std::size_t>(alignment, 64)) {
    static_assert(seat_limit == core::seat_limit);
    // The header ends where the object begins; the whole takes whole cache lines.
    before_ = (sizeof(header) + alignment_ - 1) / alignment_ * alignment_;
    bytes_ = before_ + (bytes + 63) / 64 * 64;
}

scratch_store::~scratch_store() {
    for (seat* s : seats_) {
        if (s == nullptr) continue;
        for (header* h = s->made; h != nullptr;) {
            header* next = h->next_made;
            core::memory(rt_).release(static_cast<std::byte*>(h->object) - before_, bytes_,
                                      alignment_, memory_tag::worker);
            h = next;
        }
        core::memory(rt_).release(s, sizeof(seat), alignof(seat), memory_tag::worker);
    }
}

void* scratch_store::take(void (*make)(void* where)) {
    const core::seat* w = core::own_seat(rt_);
    BRAID_EXPECT(core::misuse(rt_), w != nullptr || core::runs_without_seat(),
                 "borrow scratch in a task of its scheduler, or within fork_join()");
    if (w == nullptr) return nullptr;
    seat*& mine = seats_[core::number_of(*w)];
    if (mine == nullptr) {
        void* bytes = core::memory(rt_).allocate(sizeof(seat), alignof(seat), memory_tag::worker);
        if (bytes == nullptr) return nullptr;
        mine = ::new (bytes) seat;
    }
    if (header* h = mine->free) {
        mine->free = h->next_free;
        return h->object;
    }
    block b{rt_, core::memory(rt_).allocate(bytes_, alignment_, memory_tag::worker), bytes_,
            alignment_};
    if (b.start == nullptr) return nullptr;
    void* object = static_cast<std::byte*>(b.start) + before_;
    make(object);
    b.start = nullptr;
    header* h = ::new (static_cast<header*>(object) - 1) header{mine, nullptr, nullptr, object};
    *mine->end = h;
    mine->end = &h->next_made;
    return object;
}

void scratch_store::give_back(void* object) noexcept {
    header* h = std::launder(static_cast<header*>(object) - 1);
    h->next_free = h->of->free;
    h->of->free = h;
}

void scratch_store::visit(void (*f)(void* object, void* data), void* data) const {
    for (const seat* s : seats_) {
        if (s == nullptr) continue;
        for (const header* h = s->made; h != nullptr; h = h->next_made) f(h->object, data);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
