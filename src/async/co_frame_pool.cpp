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

constexpr std::size_t bytes_of(std::size_t size) { return (size + 1) * frame_step; }

}  // namespace

co_frame_pool& co_frame_pool::of(std::size_t size) {
    // Never destroyed.
    alignas(co_frame_pool) static std::byte pool_storage[sizeof(co_frame_pool) * frame_sizes];
    static co_frame_pool* const pools = [] {
        auto* const first = reinterpret_cast<co_frame_pool*>(pool_storage);
        for (std::size_t i = 0; i < frame_sizes; ++i) {
            ::new (static_cast<void*>(first + i)) co_frame_pool;
            first[i].init(i);
        }
        return first;
    }();
    return pools[size];
}

void co_frame_pool::init(std::size_t size) {
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

void co_frame_pool::give(free_frame* batch) {
    const locked lock(mutex_);
    batch->next_batch = first_;
    first_ = batch;
}

/// A new slab; all but one batch of it goes to the pool.
frame_batch co_frame_pool::cut() {
    auto* const slab = static_cast<std::byte*>(::operator new(slab_bytes, std::nothrow));
    if (slab == nullptr) return {};
    const std::size_t head = frame_step;  // frames stay aligned
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

#if defined(_WIN32)
namespace {
thread_local frame_lists frames_of_thread;
}
#else
constinit thread_local __attribute__((tls_model("initial-exec"))) frame_lists frames_of_thread;
#endif

namespace {

constinit thread_local bool thread_ended = false;

/// Poisoned frames lie where the inline paths do not see them, which do not know of poison.
frame_list& own_list(std::size_t size) {
    if constexpr (!platform::poisons) return frames_of_thread.of[size];
    static constinit thread_local frame_lists poisoned;
    return poisoned.of[size];
}

void give_all(frame_list& own, co_frame_pool& pool) {
    const frame_list all = std::exchange(own, {.room = own.room});
    if (all.first != nullptr) pool.give(all.first);
}

struct at_thread_end {
    ~at_thread_end() {
        thread_ended = true;
        for (std::size_t size = 0; size < frame_sizes; ++size) {
            frame_list& own = own_list(size);
            own.room = 0;
            give_all(own, co_frame_pool::of(size));
        }
    }
    void mark() {}
};

/// Room for two batches: the older one, which is the tail, would have to be found.
void make_room(frame_list& own, const co_frame_pool& pool) {
    if (thread_ended || own.room != 0) return;
    own.room = 2 * pool.batch();
    thread_local at_thread_end gives_back;
    gives_back.mark();
}

}  // namespace

void* take_pooled_frame(std::size_t bytes) {
    const std::size_t size = frame_size_of(bytes);
    frame_list& own = own_list(size);
    co_frame_pool& pool = co_frame_pool::of(size);
    if (own.first == nullptr) {
        const frame_batch some = pool.take();
        if (some.first == nullptr) return nullptr;
        own.first = some.first;
        own.count = some.count;
        make_room(own, pool);
    }
    free_frame* const frame = std::exchange(own.first, own.first->next);
    --own.count;
    if (thread_ended) give_all(own, pool);
    platform::unpoison(frame, bytes_of(size));
    return frame;
}

void give_pooled_frame(void* frame, std::size_t bytes) {
    const std::size_t size = frame_size_of(bytes);
    frame_list& own = own_list(size);
    co_frame_pool& pool = co_frame_pool::of(size);
    make_room(own, pool);
    if (own.count >= own.room) give_all(own, pool);
    own.first = ::new (frame) free_frame{own.first};
    poison(own.first, bytes_of(size));
    ++own.count;
    if (thread_ended) give_all(own, pool);
}

}  // namespace detail
BRAID_NAMESPACE_END
