#pragma once
// Objects addressed by a 32-bit index, never moved and never given back before the pool ends, so
// that a reader with a stale index reads an object of the same type (it checks a generation).
// Each thread takes from a cache of its own; caches trade batches with the pool under a lock. Free
// indices lie in arrays, not in a list through the objects: an object that comes from another core
// is fetched when it is used, and not before to find the next one.
//
// Segment k holds 256 << k objects, so 24 pointers cover 2^32 objects and growing copies nothing.
// Nobody waits for the making of a large one: in the last quarter of a segment each batch that was
// never used before makes a part of the next.

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

/// One thread's free objects, the last one in is the first one out. Only its thread touches it.
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
        // acquire: pairs with the release in make(); an index from a cell or id arrives with its
        // own ordering, an index made up by a caller does not.
        // `| 1` changes no number of zeros, and says that there is a one.
        const std::uintptr_t origin = origin_[std::countl_zero((index + first) | 1)].load(acquire);
        return *reinterpret_cast<Object*>(origin + std::uintptr_t{index} * sizeof(Object));
    }

    /// True when `index` was ever handed out, so that operator[] may be used with it.
    bool contains(std::uint32_t index) const { return index < end_.load(acquire); }

    /// no_index: out of memory (the handler knows). With `may_block` off it neither allocates
    /// nor waits for the lock, and fails where it would have to.
    std::uint32_t take(pool_cache& cache, bool may_block = true) {
        if (cache.count != 0) return cache.free[--cache.count];
        return take_slowly(cache, may_block);
    }

    void give(pool_cache& cache, std::uint32_t index) {
        if (cache.count == pool_cache::capacity) give_back(cache);
        cache.free[cache.count++] = index;
    }

    /// Allocates room for `count` objects in all.
    bool reserve(std::uint32_t count) {
        const locked lock(mutex_);
        for (std::uint32_t i = 0; i < count; i += first) {
            if (!grow(i, true)) return false;
        }
        return true;
    }

    /// Objects ever handed out; an upper bound for a caller that walks the pool.
    /// seq_cst: a walk that follows a change of the scheduler's phase sees what was taken before
    /// its user looked at the phase.
    std::uint32_t size() const { return end_.load(seq_cst); }

private:
    static constexpr std::uint32_t batch = 32;
    static constexpr std::uint32_t first = 256;
    static_assert(first % batch == 0);
    static constexpr unsigned first_bits = 9;  // bit_width(first)
    static constexpr unsigned segments = 24;
    static constexpr unsigned first_large = 3;  // smaller ones are made at once
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
            // Never used before; the lowest comes first.
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
            // The oldest ones: they have left this core's cache first.
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

    /// Segment k + 1 is made before k is used up. No memory for it is no failure yet; and
    /// where memory is counted none is taken that may never be needed.
    void make_next(std::uint32_t end) BRAID_REQUIRES(mutex_) {
        const unsigned k = segment_of(end - 1);
        if (k + 1 < first_large || k + 1 >= segments) return;
        const bool is_time = offset_in(k, end - 1) + 1 == length(k) / 4 * 3;
        if (is_time && segment_[k + 1].load(relaxed) == nullptr && !memory_.has_budget()) {
            next_ = static_cast<Object*>(memory_.try_allocate(bytes(k + 1), alignof(Object), tag_));
        }
        // A quarter of a segment is left, and the next is twice as long as a whole one.
        if (next_ != nullptr) make(k + 1, 8 * batch);
    }

    /// `count` more objects of the next segment, k; published with the last.
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
        segment_[k].store(next_, relaxed);  // read under the lock, and at the end
        next_ = nullptr;
        made_ = 0;
    }

    void destroy(Object* objects, unsigned k, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) objects[i].~Object();
        memory_.release(objects, bytes(k), alignof(Object), tag_);
    }

    /// The stack of free indices, under the lock: its segments lie behind those of the objects, so
    /// there is room for every object that there is. It changes by whole batches, and a segment
    /// holds a whole number of them.
    std::uint32_t* free_batch(std::uint32_t position) const {
        const unsigned k = segment_of(position);
        Object* const objects = segment_[k].load(relaxed);
        return reinterpret_cast<std::uint32_t*>(objects + length(k)) + offset_in(k, position);
    }

    accounted_memory& memory_;
    memory_tag tag_;
    mutex mutex_;
    std::uint32_t free_count_ = 0;
    Object* next_ = nullptr;  // of the segment that is being made, which is the first that is none
    std::uint32_t made_ = 0;
    atomic<std::uint32_t> end_{0};
    atomic<Object*> segment_[segments]{};
    // Where index 0 would lie, if the segment reached down to it: each step of a task's life finds
    // an address, and this leaves a shift and an addition. Counted by the zeros of `index + first`.
    atomic<std::uintptr_t> origin_[segments]{};
};

}  // namespace detail
BRAID_NAMESPACE_END
