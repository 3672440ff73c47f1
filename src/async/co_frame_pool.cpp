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

namespace {

/// The lists of a thread that has none: nothing can be taken from them, and nothing has room.
constinit frame_lists no_lists;

}  // namespace

#if defined(_WIN32)
namespace {
constinit thread_local frame_lists* frames_of_thread = &no_lists;
}
#else
constinit thread_local __attribute__((tls_model("initial-exec"))) frame_lists* frames_of_thread =
    &no_lists;
#endif

namespace {

/// Where frames are poisoned the lists lie elsewhere: the inline paths do not know of poison.
frame_lists*& lists_of_thread() {
    if constexpr (!platform::poisons) return frames_of_thread;
    static constinit thread_local frame_lists* poisoned = &no_lists;
    return poisoned;
}

/// A frame that goes past the lists of the thread. Null: there is no memory.
void* take_one(std::size_t size) {
    co_frame_pool& pool = co_frame_pool::of(size);
    free_frame* const first = pool.take().first;
    if (first == nullptr) return nullptr;
    if (first->next != nullptr) pool.give(first->next);
    platform::unpoison(first, bytes_of(size));
    return first;
}

void give_one(void* frame, std::size_t size) {
    auto* const one = ::new (frame) free_frame;
    poison(one, bytes_of(size));
    co_frame_pool::of(size).give(one);
}

void give_all(frame_list& own, std::size_t size) {
    const frame_list all = std::exchange(own, {.room = own.room});
    if (all.first != nullptr) co_frame_pool::of(size).give(all.first);
}

// The lists lie in a frame of the pool themselves: a segment of thread-local storage that is larger
// keeps a program from loading the library with dlopen().
constexpr std::size_t size_of_lists = frame_size_of(sizeof(frame_lists));
static_assert(sizeof(frame_lists) <= pooled_frame_bytes);

constinit thread_local bool thread_ended = false;

struct at_thread_end {
    ~at_thread_end() {
        thread_ended = true;
        frame_lists* const own = std::exchange(lists_of_thread(), &no_lists);
        if (own == &no_lists) return;
        for (std::size_t size = 0; size < frame_sizes; ++size) give_all(own->of[size], size);
        give_one(own, size_of_lists);
    }
    void mark() {}
};

/// Null: the thread is at its end, or there is no memory for them.
frame_lists* make_lists() {
    if (thread_ended) return nullptr;
    void* const bytes = take_one(size_of_lists);
    if (bytes == nullptr) return nullptr;
    auto* const made = ::new (bytes) frame_lists;
    // Room for two batches: the older one, which is the tail, would have to be found.
    for (std::size_t size = 0; size < frame_sizes; ++size) {
        made->of[size].room = 2 * co_frame_pool::of(size).batch();
    }
    thread_local at_thread_end gives_back;
    gives_back.mark();
    return lists_of_thread() = made;
}

frame_lists* own_lists() {
    frame_lists* const own = lists_of_thread();
    return own != &no_lists ? own : make_lists();
}

}  // namespace

void* take_pooled_frame(std::size_t bytes) {
    const std::size_t size = frame_size_of(bytes);
    frame_lists* const lists = own_lists();
    if (lists == nullptr) return take_one(size);
    frame_list& own = lists->of[size];
    if (own.first == nullptr) {
        const frame_batch some = co_frame_pool::of(size).take();
        if (some.first == nullptr) return nullptr;
        own.first = some.first;
        own.count = some.count;
    }
    free_frame* const frame = std::exchange(own.first, own.first->next);
    --own.count;
    platform::unpoison(frame, bytes_of(size));
    return frame;
}

void give_pooled_frame(void* frame, std::size_t bytes) {
    const std::size_t size = frame_size_of(bytes);
    frame_lists* const lists = own_lists();
    if (lists == nullptr) return give_one(frame, size);
    frame_list& own = lists->of[size];
    if (own.count >= own.room) give_all(own, size);
    own.first = ::new (frame) free_frame{own.first};
    poison(own.first, bytes_of(size));
    ++own.count;
}

}  // namespace detail
BRAID_NAMESPACE_END
