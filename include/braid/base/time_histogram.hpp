#pragma once
// A histogram of how long something took, or how late it was, over many times. The width of a step
// is at most an eighth of its value.

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// One thread at a time may add times, and any thread may read. An object takes 4 KB, and add()
/// takes 5 ns.
class time_histogram {
public:
    void add(nanoseconds time) {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time.value, 0));
        // relaxed, all: these are counts of one writer. A reader may see one of them a moment
        // before another.
        atomic<std::uint64_t>& bucket = buckets_[bucket_of(ns)];
        bucket.store(bucket.load(relaxed) + 1, relaxed);
        if (ns > longest_.load(relaxed)) longest_.store(ns, relaxed);
    }
    std::uint64_t count() const {
        std::uint64_t sum = 0;
        for (const auto& b : buckets_) sum += b.load(relaxed);
        return sum;
    }
    /// Returns the time that the given share of all times did not exceed. The result is at most an
    /// eighth too long. It is 0 if there are no times yet. `share` is 0 to 1. NaN and smaller
    /// values count as 0, greater ones as 1.
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
    // The times 0 … 15 have one bucket each. Above them, each power of two has eight.
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
