#include "async/co_frame_pool.hpp"

#include "base/platform/poison.hpp"

#include <algorithm>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// A free frame is not to be touched, but for its links.
void poison(free_frame* frame, std::size_t bytes) {
    platform::poison(frame + 1, bytes - sizeof(free_frame));
}

constexpr std::size_t bytes_of(unsigned size) { return (size + 1) * co_frame_pool::step; }

}  // namespace

co_frame_pool& co_frame_pool::of(unsigned size) {
    // Never destroyed.
    alignas(co_frame_pool) static std::byte pool_storage[sizeof(co_frame_pool) * sizes];
    static co_frame_pool* const pools = [] {
        auto* const first = reinterpret_cast<co_frame_pool*>(pool_storage);
        for (unsigned i = 0; i < sizes; ++i) ::new (static_cast<void*>(first + i)) co_frame_pool;
        for (unsigned i = 0; i < sizes; ++i) first[i].init(i);
        return first;
    }();
    return pools[size];
}

void co_frame_pool::init(unsigned size) {
    constexpr std::size_t batch_bytes = std::size_t{8} << 10;
    bytes_ = bytes_of(size);
    batch_ = static_cast<std::uint32_t>(batch_bytes / bytes_);
}

frame_batch co_frame_pool::take() {
    {
        const locked lock(mutex_);
        if (free_frame* const first = first_) {
            first_ = first->next_batch;
            std::uint32_t count = 0;
            for (const free_frame* f = first; f != nullptr; f = f->next) ++count;
            return {first, count};
        }
    }
    return cut();
}

void co_frame_pool::give(frame_batch b) {
    const locked lock(mutex_);
    b.first->next_batch = first_;
    first_ = b.first;
}

/// A new slab; all but one batch of it goes to the pool.
frame_batch co_frame_pool::cut() {
    auto* const slab = static_cast<std::byte*>(::operator new(slab_bytes, std::nothrow));
    if (slab == nullptr) return {};
    const std::size_t head = step;  // frames stay aligned
    frame_batch now;
    const locked lock(mutex_);
    ::new (static_cast<void*>(slab)) void*(std::exchange(slabs_, slab));
    for (std::size_t at = head; at + bytes_ <= slab_bytes; at += bytes_) {
        auto* const frame = ::new (static_cast<void*>(slab + at)) free_frame{now.first};
        poison(frame, bytes_);
        now.first = frame;
        const bool more = at + 2 * bytes_ <= slab_bytes;
        if (++now.count != batch_ || !more) continue;
        now.first->next_batch = std::exchange(first_, now.first);
        now = {};
    }
    return now;
}

// ---- a thread's part ---------------------------------------------------------------------------

co_frame_cache& co_frame_cache::of_thread() {
    thread_local co_frame_cache cache;
    return cache;
}

co_frame_cache::~co_frame_cache() {
    ended_ = true;
    for (unsigned size = 0; size < co_frame_pool::sizes; ++size) {
        if (free_[size].first != nullptr) {
            co_frame_pool::of(size).give(std::exchange(free_[size], {}));
        }
    }
}

void* co_frame_cache::take(std::size_t bytes) {
    const unsigned size = co_frame_pool::size_of(bytes);
    frame_batch& free = free_[size];
    if (free.first == nullptr) {
        free = co_frame_pool::of(size).take();
        if (free.first == nullptr) return nullptr;
    }
    free_frame* const frame = free.first;
    free.first = frame->next;
    --free.count;
    platform::unpoison(frame, bytes_of(size));
    return frame;
}

void co_frame_cache::give(void* frame, std::size_t bytes) {
    const unsigned size = co_frame_pool::size_of(bytes);
    frame_batch& free = free_[size];
    co_frame_pool& pool = co_frame_pool::of(size);
    // Two batches at most: the older one, which is the tail, would have to be found.
    if (free.count == 2 * pool.batch()) pool.give(std::exchange(free, {}));
    auto* const f = ::new (frame) free_frame{free.first};
    poison(f, bytes_of(size));
    free.first = f;
    ++free.count;
    if (ended_) pool.give(std::exchange(free, {}));
}

}  // namespace detail
BRAID_NAMESPACE_END
