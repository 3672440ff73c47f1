// Loops over as many elements as there are numbers, and grains of any size.
#include <braid/fork_join/gather.hpp>
#include <braid/fork_join/pipeline.hpp>
#include <braid/fork_join/reduce.hpp>
#include <braid/fork_join/sort.hpp>

#include "scheduler_test.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace {

using braid::block_range;
using braid::index_range;

BRAID_SCHEDULER_TEST(LoopLimits);

std::vector<std::size_t> edges_around(std::size_t n) {
    return {0, 1, n - 1, n, n + 1, SIZE_MAX / 2, SIZE_MAX - n + 1, SIZE_MAX - 1, SIZE_MAX};
}

/// The ranges that a loop was given, which must be disjoint.
class pieces {
public:
    void add(index_range r) {
        const std::lock_guard lock(mutex_);
        all_.push_back(r);
    }
    /// They cover [0, count), each once.
    void expect_cover(std::size_t count) {
        std::sort(all_.begin(), all_.end(),
                  [](index_range a, index_range b) { return a.begin < b.begin; });
        std::size_t at = 0;
        for (const index_range r : all_) {
            ASSERT_EQ(r.begin, at);
            ASSERT_GT(r.end, r.begin);
            at = r.end;
        }
        EXPECT_EQ(at, count);
    }
    std::size_t size() const { return all_.size(); }

private:
    std::mutex mutex_;
    std::vector<index_range> all_;
};

TEST_P(LoopLimits, ALoopCoversAnyCountWithAnyGrain) {
    braid::scheduler s(options());
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1'000},
                                    std::size_t{UINT32_MAX}, SIZE_MAX - 1, SIZE_MAX}) {
        for (const std::size_t grain : edges_around(1'000)) {
            pieces all;
            braid::parallel_for(s, count, [&](index_range r) { all.add(r); }, {.grain = grain});
            all.expect_cover(count);
        }
    }
}

TEST_P(LoopLimits, BlocksCoverAnyExtent) {
    braid::scheduler s(options());
    for (const std::size_t n : {std::size_t{1}, std::size_t{1'000}, SIZE_MAX - 1, SIZE_MAX}) {
        for (const std::size_t block : {std::size_t{0}, n / 2 + 1, n, SIZE_MAX}) {
            // Volumes modulo 2^64.
            std::atomic<std::size_t> blocks{0}, volume{0};
            const braid::block_extent extent{
                .x = n, .y = 3, .z = n, .block_x = block, .block_z = block};
            braid::parallel_for(s, extent, [&](const block_range& b) {
                for (const index_range r : {b.x, b.y, b.z}) ASSERT_LT(r.begin, r.end);
                ASSERT_LE(b.x.end, n);
                ASSERT_LE(b.y.end, 3U);
                ASSERT_LE(b.z.end, n);
                ++blocks;
                volume += b.x.size() * b.y.size() * b.z.size();
            });
            EXPECT_EQ(volume, n * 3 * n);
            EXPECT_GE(blocks, 1U);
            EXPECT_LE(blocks, 1'024U);
        }
    }
}

TEST(BlockLimits, ThereAreNeverMoreBlocksThanNumbers) {
    for (const std::size_t n : {std::size_t{1} << 22, std::size_t{1} << 40, SIZE_MAX}) {
        const braid::block_extent e = braid::detail::with_blocks(
            {.x = n, .y = n, .z = n, .block_x = 1, .block_y = 1, .block_z = 1});
        const auto count = [n](std::size_t block) {
            return static_cast<long double>(braid::detail::even_pieces(n, block).count());
        };
        EXPECT_LT(count(e.block_x) * count(e.block_y) * count(e.block_z), 0x1p64L);
        EXPECT_GE(count(e.block_x) * count(e.block_y) * count(e.block_z), 0x1p58L);
    }
}

TEST_P(LoopLimits, ReductionsAndScansAreRightWithAnyGrain) {
    braid::scheduler s(options());
    for (const std::size_t n : {0U, 1U, 2U, 1'000U}) {
        std::vector<std::uint64_t> in(n), expected(n), out(n);
        std::iota(in.begin(), in.end(), 7);
        std::inclusive_scan(in.begin(), in.end(), expected.begin());
        const std::uint64_t sum = std::accumulate(in.begin(), in.end(), std::uint64_t{0});
        for (const std::size_t grain : edges_around(std::max<std::size_t>(n, 1))) {
            const braid::reduce_options with{.grain = grain};
            EXPECT_EQ(braid::reduce_indices(
                          s, n, std::uint64_t{0}, [&](std::size_t i) { return in[i]; },
                          std::plus<>(), with),
                      sum);
            std::fill(out.begin(), out.end(), 0);
            braid::inclusive_scan(s, in, out.begin(), std::uint64_t{0}, std::plus<>(), with);
            ASSERT_EQ(out, expected) << "grain " << grain;
            braid::exclusive_scan(s, in, out.begin(), std::uint64_t{0}, std::plus<>(), with);
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], expected[i] - in[i]);
        }
    }
}

TEST_P(LoopLimits, SortAndGatherTakeAnyGrain) {
    braid::scheduler s(options());
    braid::gathered<std::size_t> list(s);
    for (const std::size_t grain : edges_around(1'000)) {
        std::vector<std::size_t> values(1'000);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 7'919 % 1'009;
        braid::sort(s, values, std::less<>(), {.grain = grain});
        EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));

        braid::gather(s, 1'000, list, [](std::size_t i, auto& out) { out.push_back(i); },
                      {.grain = grain});
        ASSERT_EQ(list.size(), 1'000U);
        std::size_t next = 0;
        for (const std::size_t i : list) ASSERT_EQ(i, next++);

        pieces all;
        braid::gather(s, SIZE_MAX, list,
                      [&](index_range r, auto& out) {
                          out.push_back(r.begin);
                          all.add(r);
                      },
                      {.grain = grain});
        EXPECT_LE(all.size(), 1'024U);
        EXPECT_EQ(list.size(), all.size());
        all.expect_cover(SIZE_MAX);
    }
}

TEST_P(LoopLimits, APipelineTakesAnyNumberOfTokens) {
    braid::scheduler s(options());
    for (const std::size_t tokens :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, (std::size_t{1} << 20) - 1, SIZE_MAX}) {
        int made = 0, sum = 0;
        braid::pipeline(s, {.tokens = tokens}, braid::serial([&]() -> std::optional<int> {
                            return made < 100 ? std::optional<int>(made++) : std::nullopt;
                        }),
                        braid::parallel([](int i) { return 2 * i; }),
                        braid::serial([&](int i) { sum += i; }));
        EXPECT_EQ(sum, 9'900);
    }
}

}  // namespace
