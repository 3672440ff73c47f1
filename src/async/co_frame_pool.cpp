#include "async/co_frame_pool.hpp"

#include "base/platform/poison.hpp"
#include "base/platform/thread_end.hpp"

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

#if !defined(_WIN32)
constinit thread_local __attribute__((tls_model("initial-exec"))) frame_lists* frames_of_thread =
    &no_lists;
#endif

namespace {

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
struct kept_lists {
    frame_lists lists;
    platform::thread_end_step end;

    void give_back() noexcept;
};
using lists_of_thread = platform::thread_owned<kept_lists>;
constexpr std::size_t size_of_lists = frame_size_of(sizeof(kept_lists));
static_assert(sizeof(kept_lists) <= pooled_frame_bytes);

/// Lets the inline paths take from `lists`. They do not know of poison, so where frames are
/// poisoned they find no lists.
void show_inline_paths([[maybe_unused]] frame_lists& lists) {
#if !defined(_WIN32)
    if constexpr (!platform::poisons) frames_of_thread = &lists;
#endif
}

void kept_lists::give_back() noexcept {
    show_inline_paths(no_lists);
    for (std::size_t size = 0; size < frame_sizes; ++size) give_all(lists.of[size], size);
    give_one(this, size_of_lists);
}

/// Null: the thread is at its end, or there is no memory for them.
frame_lists* make_lists() {
    void* const bytes = take_one(size_of_lists);
    if (bytes == nullptr) return nullptr;
    auto* const made = ::new (bytes) kept_lists;
    if (!lists_of_thread::set(*made)) {
        give_one(made, size_of_lists);
        return nullptr;
    }
    // Room for two batches: the older one, which is the tail, would have to be found.
    for (std::size_t size = 0; size < frame_sizes; ++size) {
        made->lists.of[size].room = 2 * co_frame_pool::of(size).batch();
    }
    show_inline_paths(made->lists);
    return &made->lists;
}

frame_lists* own_lists() {
    kept_lists* const own = lists_of_thread::get();
    return own != nullptr ? &own->lists : make_lists();
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
