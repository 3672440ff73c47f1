// Bump allocation in blocks that all threads share, by chunks that each has for itself.
//
//   block   [ chunk of seat 0 | chunk of seat 3 | 2 KB for a large one | chunk of seat 0 | ...   ]
//                                                                                        ▲ used
// A1  `used` only grows between two resets, and never beyond the end of its block: what does not
//     fit adds nothing, so that no two allocations get the same bytes, and a large one that is
//     refused leaves the room to smaller ones.
// A2  A seat's chunk is touched by the thread that has the seat alone. It is of one round: reset()
//     begins the next one, in which each seat takes a new chunk.
// A3  Blocks are added under the lock and never leave the list.
#include "braid/frame/frame_arena.hpp"

#include "core/extension.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <mutex>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

namespace {

constexpr std::size_t line = 64;
constexpr std::size_t chunk_bytes = 4096;
constexpr std::size_t large = 1024;  // from here on a chunk would mostly go to waste

struct alignas(line) chunk {
    std::uint64_t round = 0;
    std::uintptr_t at = 0, end = 0;
};

constexpr std::size_t most_bytes = SIZE_MAX / 4;  // of one allocation; sums of a few still fit

constexpr std::uintptr_t up(std::uintptr_t at, std::size_t alignment) {
    return (at + alignment - 1) & ~std::uintptr_t{alignment - 1};
}

frame_arena_options within_limits(frame_arena_options o, const detail::runtime& rt) {
    using range = frame_arena_options;
    if (o.name == nullptr) o.name = "frame arena";
    const detail::limiter limits = core::limits(rt, "frame_arena_options");
    limits.clamp(o.block_bytes, range::least_block_bytes, range::most_block_bytes, "block_bytes");
    o.block_bytes = static_cast<std::size_t>(up(o.block_bytes, line));
    return o;
}

}  // namespace

struct alignas(line) frame_arena::block {
    block* next;
    std::size_t bytes;  // behind this
    atomic<std::size_t> used{0};

    std::uintptr_t data() { return reinterpret_cast<std::uintptr_t>(this + 1); }
    std::size_t in_use() const { return used.load(relaxed); }
    /// The offset of `whole` bytes. False: they do not fit any more.
    bool add(std::size_t whole, std::size_t& offset) {
        // relaxed: shares out ranges (A1); what is written there is ordered by the tasks.
        offset = used.load(relaxed);
        do {
            if (whole > bytes - offset) return false;
        } while (!used.compare_exchange_weak(offset, offset + whole, relaxed, relaxed));
        return true;
    }
};

struct frame_arena::state {
    frame_arena_options options;
    // relaxed, both: a frame begins before its tasks do, and ends after them.
    atomic<std::uint64_t> frame{0};
    atomic<std::uint64_t> round{1};
    atomic<block*> current{nullptr};  // the one that chunks come from
    mutable std::mutex mutex;
    block* first = nullptr;                    // guarded by mutex, also the links
    std::size_t reserved = 0, high_water = 0;  // guarded by mutex
    std::uint64_t growths = 0;                 // guarded by mutex
    atomic<std::uint64_t> refused{0}, reported_round{0};
    chunk chunks[core::seat_limit];  // by seat

    std::size_t used() const {
        std::size_t sum = 0;
        for (const block* b = first; b != nullptr; b = b->next) sum += b->in_use();
        return sum;
    }
};

frame_arena::frame_arena(scheduler& s, const frame_arena_options& options)
    : rt_(s.internals()), state_(nullptr) {
    void* bytes = core::memory(rt_).allocate(sizeof(state), alignof(state), memory_tag::frame);
    if (bytes == nullptr) return;
    state_ = ::new (bytes) state;
    state_->options = within_limits(options, rt_);
}

frame_arena::~frame_arena() {
    if (state_ == nullptr) return;
    for (block* b = state_->first; b != nullptr;) {
        block* const next = b->next;
        core::memory(rt_).release(b, sizeof(block) + b->bytes, alignof(block), memory_tag::frame);
        b = next;
    }
    state_->~state();
    core::memory(rt_).release(state_, sizeof(state), alignof(state), memory_tag::frame);
}

void* frame_arena::allocate(std::size_t bytes, std::size_t alignment) {
    if (!BRAID_EXPECT(core::misuse(rt_), std::has_single_bit(alignment),
                      "an alignment is a power of two") ||
        state_ == nullptr) {
        return nullptr;
    }
    bytes = std::max<std::size_t>(bytes, 1);  // different objects have different addresses
    const core::seat* w = core::own_seat(rt_);
    if (w == nullptr || bytes >= large || alignment > line) {
        void* const alone = take(bytes, alignment);
        return alone != nullptr ? alone : refuse(bytes);
    }
    chunk& mine = state_->chunks[core::number_of(*w)];
    const std::uint64_t round = state_->round.load(relaxed);
    std::uintptr_t at = up(mine.at, alignment);
    if (mine.round != round || at + bytes > mine.end) {
        void* const fresh = take(chunk_bytes, line);
        if (fresh == nullptr) {
            // The last bytes before the limit are fewer than a chunk.
            void* const alone = take(bytes, alignment);
            return alone != nullptr ? alone : refuse(bytes);
        }
        at = reinterpret_cast<std::uintptr_t>(fresh);
        mine = {round, at, at + chunk_bytes};
    }
    mine.at = at + bytes;
    return reinterpret_cast<void*>(at);
}

/// Null: nothing to be had.
void* frame_arena::take(std::size_t bytes, std::size_t alignment) {
    if (bytes > most_bytes || alignment > most_bytes) return nullptr;
    const std::size_t slack = alignment > line ? alignment - line : 0;
    const std::size_t whole = static_cast<std::size_t>(up(bytes + slack, line));
    while (true) {
        // acquire: pairs with the release in grow(); the block is ready.
        block* const b = state_->current.load(acquire);
        std::size_t offset = 0;
        if (b != nullptr && b->add(whole, offset)) {
            return reinterpret_cast<void*>(up(b->data() + offset, alignment));
        }
        if (!grow(b, whole)) return nullptr;
    }
}

/// False: nothing to be had. True: look again.
bool frame_arena::grow(const block* seen, std::size_t bytes) {
    state& s = *state_;
    const std::unique_lock lock(s.mutex);
    block* const last = s.current.load(relaxed);
    if (last != seen) return true;  // somebody else has been here
    // A block that an earlier frame has needed is used again.
    block* const kept = last == nullptr ? s.first : last->next;
    if (kept != nullptr && kept->bytes >= bytes) {
        s.current.store(kept, release);  // pairs with take()
        return true;
    }
    std::size_t room = std::max(s.options.block_bytes, bytes);
    if (s.options.limit_bytes != 0) {
        const std::size_t taken = s.reserved + sizeof(block);
        const std::size_t left = s.options.limit_bytes - std::min(s.options.limit_bytes, taken);
        if (left < bytes) return false;
        room = std::min(room, left / line * line);  // `bytes` are whole lines, too
    }
    const std::size_t whole = sizeof(block) + room;
    void* const place = core::memory(rt_).allocate(whole, alignof(block), memory_tag::frame);
    if (place == nullptr) return false;
    block* const fresh = ::new (place) block{kept, room};
    (last == nullptr ? s.first : last->next) = fresh;
    s.reserved += whole;
    if (last != nullptr) {
        ++s.growths;
        core::log(rt_, log_level::info,
                  "'%s' grew to %zu bytes in frame %llu; with block_bytes = %zu one block would "
                  "hold the frame",
                  s.options.name, s.reserved,
                  static_cast<unsigned long long>(s.frame.load(relaxed)), s.reserved);
    }
    s.current.store(fresh, release);  // pairs with take()
    return true;
}

void* frame_arena::refuse(std::size_t bytes) {
    if (state_ == nullptr) return nullptr;
    state& s = *state_;
    s.refused.fetch_add(1, relaxed);
    const std::uint64_t round = s.round.load(relaxed);
    // relaxed: once a frame is enough, and nothing is published.
    if (s.reported_round.exchange(round, relaxed) == round) return nullptr;
    core::log(rt_, log_level::error,
              "'%s' has no room for %zu bytes in frame %llu; raise "
              "frame_arena_options::limit_bytes (%zu; 0 is none) or the scheduler's memory budget",
              s.options.name, bytes, static_cast<unsigned long long>(s.frame.load(relaxed)),
              s.options.limit_bytes);
    return nullptr;
}

void* frame_arena::reject(std::uint64_t frame) const {
    const auto own = static_cast<unsigned long long>(this->frame());
    char text[160];
    std::snprintf(text, sizeof text,
                  "a handle of frame %llu is used in frame %llu; copy what it names if it is to "
                  "outlast its frame",
                  static_cast<unsigned long long>(frame), own);
    detail::report_misuse(core::misuse(rt_), "the handle is of this frame", text, __FILE__,
                          __LINE__);
    return nullptr;
}

void frame_arena::reset(std::uint64_t frame) {
    if (state_ == nullptr) return;
    state& s = *state_;
    const std::lock_guard lock(s.mutex);
    s.high_water = std::max(s.high_water, s.used());
    for (block* b = s.first; b != nullptr; b = b->next) b->used.store(0, relaxed);
    s.current.store(s.first, release);  // pairs with take()
    s.round.store(s.round.load(relaxed) + 1, relaxed);
    s.frame.store(frame, relaxed);
}

std::uint64_t frame_arena::frame() const {
    return state_ != nullptr ? state_->frame.load(relaxed) : 0;
}

frame_arena_statistics frame_arena::statistics() const {
    if (state_ == nullptr) return {};
    const state& s = *state_;
    const std::lock_guard lock(s.mutex);
    const std::size_t used = s.used();
    return {.used = used,
            .high_water = std::max(s.high_water, used),
            .reserved = s.reserved,
            .growths = s.growths,
            .refused = s.refused.load(relaxed)};
}

BRAID_NAMESPACE_END
