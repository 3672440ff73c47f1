#pragma once
// A pool of objects that are addressed by a 32-bit index. Objects never move, and the pool frees no
// memory before its own end. So a thread with a stale index reads an object of the same type, and
// finds out by a generation that it is not the expected one. Each thread takes objects from a cache
// of its own. Caches exchange batches with the pool under a lock. Free indices are stored in
// arrays: a list through the objects would fetch an object from another core's cache only to find
// the next one.
//
// Segment k holds 256 << k objects, so 24 pointers cover 2^32 objects and growing copies nothing.
// No thread waits until a whole large segment is made. Instead, when the last quarter of a segment
// is in use, each batch that is taken for the first time also makes a part of the next segment.

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

/// One thread's free objects. The last one in is the first one out. Only that thread uses the
/// cache.
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
        // acquire: pairs with the release in make(). An index that was read from a cell or an id is
        // ordered by that read already, but an index that the caller computed is not.
        // `| 1` does not change the number of leading zeros, and shows the compiler that one bit is
        // set.
        const std::uintptr_t origin = origin_[std::countl_zero((index + first) | 1)].load(acquire);
        return *reinterpret_cast<Object*>(origin + std::uintptr_t{index} * sizeof(Object));
    }

    /// Returns true if `index` was ever given to a cache. operator[] may then be called with it.
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

    /// Returns how many objects were ever given to caches. A caller that walks the pool needs to
    /// visit only the indices below it.
    /// seq_cst: if a thread changes the scheduler's phase and then walks the pool, it sees each
    /// object that was taken before its user read the old phase.
    std::uint32_t size() const { return end_.load(seq_cst); }

private:
    static constexpr std::uint32_t batch = 32;
    static constexpr std::uint32_t first = 256;
    static_assert(first % batch == 0);
    static constexpr unsigned first_bits = 9;  // bit_width(first)
    static constexpr unsigned segments = 24;
    static constexpr unsigned first_large = 3;  // smaller segments are made in one step
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
            // These objects are used for the first time. The lowest index is taken first.
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
            // The oldest objects go back, because they are the first to have left this core's
            // cache.
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

    /// Makes a part of segment k + 1 during the last quarter of segment k. If there is no memory
    /// for it, that is no failure yet. If memory has a budget, no memory is taken early, because it
    /// may never be needed.
    void make_next(std::uint32_t end) BRAID_REQUIRES(mutex_) {
        const unsigned k = segment_of(end - 1);
        if (k + 1 < first_large || k + 1 >= segments) return;
        const bool is_time = offset_in(k, end - 1) + 1 == length(k) / 4 * 3;
        if (is_time && segment_[k + 1].load(relaxed) == nullptr && !memory_.has_budget()) {
            next_ = static_cast<Object*>(memory_.try_allocate(bytes(k + 1), alignof(Object), tag_));
        }
        // One quarter of segment k is left, and segment k + 1 is twice as long as segment k. So
        // each batch that is taken makes eight batches.
        if (next_ != nullptr) make(k + 1, 8 * batch);
    }

    /// Constructs up to `count` more objects in `next_`, which becomes segment k. Publishes the
    /// segment when its last object is constructed.
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

    /// Returns the batch at `position` of the stack of free indices. The lock guards the stack. The
    /// memory of each segment has room for as many free indices as objects, behind the objects, so
    /// the stack has room for every object. The stack changes by whole batches, and a segment holds
    /// a whole number of batches.
    std::uint32_t* free_batch(std::uint32_t position) const {
        const unsigned k = segment_of(position);
        Object* const objects = segment_[k].load(relaxed);
        return reinterpret_cast<std::uint32_t*>(objects + length(k)) + offset_in(k, position);
    }

    accounted_memory& memory_;
    memory_tag tag_;
    mutex mutex_;
    std::uint32_t free_count_ = 0;
    Object* next_ = nullptr;  // the segment that is being made and is not published yet
    std::uint32_t made_ = 0;  // number of objects in next_ that are constructed
    atomic<std::uint32_t> end_{0};
    atomic<Object*> segment_[segments]{};
    // The address that index 0 would have, for each segment, if the segment reached down to it.
    // With this table an object is found by one shift and one addition, and each step of a task's
    // life has to find one. The position in the table is the number of leading zeros of `index +
    // first`.
    atomic<std::uintptr_t> origin_[segments]{};
};

}  // namespace detail
BRAID_NAMESPACE_END
