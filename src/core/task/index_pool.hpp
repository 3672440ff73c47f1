#pragma once
// A pool of objects that are addressed by a 32-bit index. Objects are never moved, and their memory
// is not released before the pool ends, so a reader with a stale index reads an object of the same
// type (the reader checks a generation). Each thread takes objects from its own cache; caches trade
// batches with the pool under a lock. Free indices lie in arrays, not in a list through the
// objects: an object that comes from another core is fetched when it is used, not earlier to find
// the next.
//
// Segment k holds 256 << k objects, so 24 pointers cover 2^32 objects and growing copies nothing.
// No thread waits until a large segment is made: in the last quarter of a segment, each batch that
// was never used before makes a part of the next segment.

#include "base/accounted_memory.hpp"
#include "braid/base/mutex.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t no_index = UINT32_MAX;

/// Holds one thread's free objects. The last one in is the first one out. Only that thread touches
/// the cache.
struct pool_cache {
    static constexpr std::uint32_t capacity = 64;
    std::uint32_t count = 0;
    std::uint32_t free[capacity];
};

template <class Object>
class index_pool {
public:
    index_pool(accounted_memory& memory, memory_tag tag) : memory_(memory), tag_(tag) {}
    index_pool(const index_pool&) = delete;
    index_pool& operator=(const index_pool&) = delete;
    ~index_pool() {
        unsigned k = 0;
        for (; k < segments && segment_[k].load(relaxed) != nullptr; ++k) {
            destroy(segment_[k].load(relaxed), k, length(k));
        }
        if (next_ != nullptr) destroy(next_, k, made_);
    }

    Object& operator[](std::uint32_t index) const {
        // acquire: pairs with the release in make(). An index from a cell or an id arrives with its
        // own ordering, but an index that a caller has made up does not.
        // `| 1` does not change the number of zeros, and shows the compiler that one bit is set.
        const std::uintptr_t origin = origin_[std::countl_zero((index + first) | 1)].load(acquire);
        return *reinterpret_cast<Object*>(origin + std::uintptr_t{index} * sizeof(Object));
    }

    /// Returns true if `index` was ever given out to a cache, so that operator[] may be used with
    /// it.
    bool contains(std::uint32_t index) const { return index < end_.load(acquire); }

    /// Takes an object. Returns no_index if there is no memory, after the out-of-memory handler was
    /// called. If `may_block` is false, take() neither allocates nor waits for the lock, and
    /// returns no_index where it would have to.
    std::uint32_t take(pool_cache& cache, bool may_block = true) {
        if (cache.count != 0) return cache.free[--cache.count];
        return take_slowly(cache, may_block);
    }

    void give(pool_cache& cache, std::uint32_t index) {
        if (cache.count == pool_cache::capacity) give_back(cache);
        cache.free[cache.count++] = index;
    }

    /// Allocates room for `count` objects in all. Returns false if there is no memory.
    bool reserve(std::uint32_t count) {
        const locked lock(mutex_);
        for (std::uint32_t i = 0; i < count; i += first) {
            if (!grow(i, true)) return false;
        }
        return true;
    }

    /// Returns how many objects were ever given out to caches. This is an upper bound for a caller
    /// that walks the pool.
    /// seq_cst: a walk that follows a change of the scheduler's phase sees each object that was
    /// taken before its user read the phase.
    std::uint32_t size() const { return end_.load(seq_cst); }

private:
    static constexpr std::uint32_t batch = 32;
    static constexpr std::uint32_t first = 256;
    static_assert(first % batch == 0);
    static constexpr unsigned first_bits = 9;  // bit_width(first)
    static constexpr unsigned segments = 24;
    static constexpr unsigned first_large = 3;  // smaller segments are made at once
    static_assert(std::countl_zero(first) + 1 == int{segments}, "origin_ has a place a segment");
    static unsigned segment_of(std::uint32_t index) {
        return static_cast<unsigned>(std::bit_width(index + first)) - first_bits;
    }
    static std::uint32_t offset_in(unsigned k, std::uint32_t index) {
        return index + first - (first << k);
    }
    static std::uint32_t length(unsigned k) { return first << k; }
    static std::size_t bytes(unsigned k) {
        return length(k) * (sizeof(Object) + sizeof(std::uint32_t));
    }

    [[gnu::noinline]] std::uint32_t take_slowly(pool_cache& cache, bool may_block) {
        if (may_block) {
            const locked lock(mutex_);
            return take_batch(cache, true);
        }
        if (!mutex_.try_lock()) return no_index;
        const std::uint32_t index = take_batch(cache, false);
        mutex_.unlock();
        return index;
    }
    std::uint32_t take_batch(pool_cache& cache, bool may_allocate) BRAID_REQUIRES(mutex_) {
        if (free_count_ != 0) {
            free_count_ -= batch;
            std::copy_n(free_batch(free_count_), batch, cache.free);
        } else {
            // These objects were never used before. The lowest index is given out first.
            const std::uint32_t end = end_.load(relaxed) + batch;
            if (end > UINT32_MAX - first || !grow(end - 1, may_allocate)) return no_index;
            for (std::uint32_t i = 0; i < batch; ++i) cache.free[i] = end - 1 - i;
            end_.store(end, seq_cst);  // pairs with contains() and size()
            if (may_allocate) make_next(end);
        }
        cache.count = batch - 1;
        return cache.free[cache.count];
    }

    [[gnu::noinline]] void give_back(pool_cache& cache) {
        cache.count -= batch;
        {
            const locked lock(mutex_);
            // The oldest ones go back, since they have left this core's cache first.
            std::copy_n(cache.free, batch, free_batch(free_count_));
            free_count_ += batch;
        }
        std::copy_n(cache.free + batch, cache.count, cache.free);
    }

    bool grow(std::uint32_t index, bool may_allocate) BRAID_REQUIRES(mutex_) {
        const unsigned k = segment_of(index);
        if (segment_[k].load(relaxed) != nullptr) return true;
        if (!may_allocate) return false;
        if (next_ == nullptr) {
            next_ = static_cast<Object*>(memory_.allocate(bytes(k), alignof(Object), tag_));
        }
        if (next_ == nullptr) return false;
        make(k, length(k));
        return true;
    }

    /// Makes segment k + 1 before segment k is used up. A lack of memory for it is no failure yet.
    /// If memory has a budget, no memory is taken early, because it may never be needed.
    void make_next(std::uint32_t end) BRAID_REQUIRES(mutex_) {
        const unsigned k = segment_of(end - 1);
        if (k + 1 < first_large || k + 1 >= segments) return;
        const bool is_time = offset_in(k, end - 1) + 1 == length(k) / 4 * 3;
        if (is_time && segment_[k + 1].load(relaxed) == nullptr && !memory_.has_budget()) {
            next_ = static_cast<Object*>(memory_.try_allocate(bytes(k + 1), alignof(Object), tag_));
        }
        // A quarter of segment k is left, and segment k + 1 is twice as long as segment k.
        if (next_ != nullptr) make(k + 1, 8 * batch);
    }

    /// Makes `count` more objects of the next segment, which is segment k. The segment is published
    /// when its last object is made.
    void make(unsigned k, std::uint32_t count) BRAID_REQUIRES(mutex_) {
        auto* const indices = reinterpret_cast<std::uint32_t*>(next_ + length(k));
        for (; count != 0 && made_ != length(k); --count, ++made_) {
            ::new (static_cast<void*>(next_ + made_)) Object;
            ::new (static_cast<void*>(indices + made_)) std::uint32_t{no_index};
        }
        if (made_ != length(k)) return;
        const std::uintptr_t before = std::uintptr_t{length(k) - first} * sizeof(Object);
        // release: pairs with operator[].
        origin_[segments - 1 - k].store(reinterpret_cast<std::uintptr_t>(next_) - before, release);
        segment_[k].store(next_, relaxed);  // read under the lock, and by the destructor
        next_ = nullptr;
        made_ = 0;
    }

    void destroy(Object* objects, unsigned k, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) objects[i].~Object();
        memory_.release(objects, bytes(k), alignof(Object), tag_);
    }

    /// Returns the batch at `position` of the stack of free indices, which the lock guards. The
    /// stack's segments lie behind the segments of the objects, so the stack has room for every
    /// object. It changes by whole batches, and a segment holds a whole number of batches.
    std::uint32_t* free_batch(std::uint32_t position) const {
        const unsigned k = segment_of(position);
        Object* const objects = segment_[k].load(relaxed);
        return reinterpret_cast<std::uint32_t*>(objects + length(k)) + offset_in(k, position);
    }

    accounted_memory& memory_;
    memory_tag tag_;
    mutex mutex_;
    std::uint32_t free_count_ = 0;
    Object* next_ = nullptr;  // the segment that is being made, the first that is not published
    std::uint32_t made_ = 0;  // number of its objects that are made
    atomic<std::uint32_t> end_{0};
    atomic<Object*> segment_[segments]{};
    // Holds, for each segment, the address at which index 0 would lie if the segment reached down
    // to it. Each step of a task's life finds an address, and this table makes that a shift and an
    // addition. The table's index is the number of leading zeros of `index + first`.
    atomic<std::uintptr_t> origin_[segments]{};
};

}  // namespace detail
BRAID_NAMESPACE_END
