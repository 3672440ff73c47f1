#pragma once
// A histogram of durations or delays that were measured many times. The width of a bucket is at
// most an eighth of the shortest time in the bucket. Below 16 ns, each time has a bucket of its
// own.

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// One thread at a time may add times, and any thread may read. An object occupies 4 KB, and add()
/// costs 5 ns.
class time_histogram {
public:
    void add(nanoseconds time) {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time.value, 0));
        // relaxed, throughout: only one thread writes these counts. A reader may see the change of
        // one count before the change of another.
        atomic<std::uint64_t>& bucket = buckets_[bucket_of(ns)];
        bucket.store(bucket.load(relaxed) + 1, relaxed);
        if (ns > longest_.load(relaxed)) longest_.store(ns, relaxed);
    }
    std::uint64_t count() const {
        std::uint64_t sum = 0;
        for (const auto& b : buckets_) sum += b.load(relaxed);
        return sum;
    }
    /// Returns the time that the share `share` of all added times did not exceed. The result is too
    /// long by at most an eighth. The result is 0 if no times were added yet. `share` is a number
    /// from 0 to 1. NaN and values below 0 mean 0, and values above 1 mean 1.
    nanoseconds quantile(double share) const {
        share = share > 0 ? (std::min)(share, 1.0) : 0;
        const auto wanted = static_cast<std::uint64_t>(static_cast<double>(count()) * share);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < bucket_count; ++i) {
            const std::uint64_t n = buckets_[i].load(relaxed);
            sum += n;
            if (n != 0 && sum >= wanted) {
                return nanoseconds{
                    static_cast<std::int64_t>((std::min)(last_of(i), longest_.load(relaxed)))};
            }
        }
        return longest();
    }
    nanoseconds longest() const {
        return nanoseconds{static_cast<std::int64_t>(longest_.load(relaxed))};
    }

private:
    // Each of the times 0 … 15 ns has a bucket of its own. From 16 ns on, each power of two has
    // eight buckets.
    static constexpr std::size_t bucket_count = 16 + 60 * 8;
    static constexpr std::size_t bucket_of(std::uint64_t ns) {
        if (ns < 16) return static_cast<std::size_t>(ns);
        const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;  // 4 … 63
        return 16 + (power - 4) * 8 + static_cast<std::size_t>(ns >> (power - 3) & 7);
    }
    static constexpr std::uint64_t last_of(std::size_t bucket) {
        if (bucket < 16) return bucket;
        const auto power = static_cast<unsigned>((bucket - 16) / 8 + 4);
        const std::uint64_t step = std::uint64_t{1} << (power - 3);
        return (8 + (bucket - 16) % 8) * step + step - 1;
    }

    atomic<std::uint64_t> buckets_[bucket_count] = {};
    atomic<std::uint64_t> longest_{0};
};

BRAID_NAMESPACE_END
