// The algorithms do what the serial ones do, with any number of workers; floats to the last bit.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>
#include <random>
#include <string>

namespace {

using braid::fork_context;
using braid::index_range;

BRAID_SCHEDULER_TEST(Algorithms);

std::vector<std::uint32_t> random_numbers(std::size_t n, std::uint32_t below = UINT32_MAX) {
    std::mt19937 random(static_cast<std::uint32_t>(n));
    std::vector<std::uint32_t> all(n);
    for (auto& x : all) x = static_cast<std::uint32_t>(random()) % below;
    return all;
}

const std::size_t sizes[] = {0, 1, 2, 3, 31, 64, 1000, 65'537};

TEST_P(Algorithms, ParallelForCallsEachIndexOnce) {
    braid::scheduler s(options());
    for (const std::size_t n : sizes) {
        for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{7}, n + 1}) {
            std::vector<std::atomic<std::uint8_t>> calls(n);
            braid::parallel_for(s, n, [&](std::size_t i) { ++calls[i]; }, {.grain = grain});
            EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](auto& c) { return c == 1; }));
        }
    }
    expect_all_ended(s);
}

TEST_P(Algorithms, ABodyTakesAnIndexARangeAndAContext) {
    braid::scheduler s(options());
    std::atomic<std::size_t> sum{0};
    braid::parallel_for(s, 100, [&](std::size_t i, fork_context c) {
        sum += i;
        EXPECT_EQ(c.seat(), s.this_thread().seat);
    });
    braid::parallel_for(s, 100, [&](index_range r) {
        EXPECT_LT(r.begin, r.end);
        sum += r.size();
    });
    braid::parallel_for(s, 100, [&](index_range r, fork_context) { sum += r.size(); });
    EXPECT_EQ(sum, 4950U + 200U);
}

TEST_P(Algorithms, NoPieceIsSmallerThanTheGrainButTheLast) {
    braid::scheduler s(options());
    std::atomic<int> small{0};
    braid::parallel_for(s, 10'000, [&](index_range r) { small += r.size() < 100; }, {.grain = 100});
    EXPECT_EQ(small, 0);
    braid::parallel_for(s, 9'999, [&](index_range r) { small += r.size() % 100 != 0; },
                        {.grain = 100});
    EXPECT_EQ(small, 1);
    std::atomic<int> pieces{0};
    braid::parallel_for(s, 100, [&](index_range) { ++pieces; }, {.grain = 100});
    EXPECT_EQ(pieces, 1);
}

TEST_P(Algorithms, WhatLiesBehindALongElementIsDoneByOthers) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    braid::scheduler s(options());
    // The first element, which its owner takes, ends when all that no piece holds it back have
    // ended.
    const std::size_t n = 10'000;
    std::atomic<std::size_t> over{0};
    braid::parallel_for(s, n, [&](std::size_t i) {
        if (i == 0) braid_test::until([&] { return over >= n - n / 16; });
        ++over;
    });
    EXPECT_EQ(over, n);
}

/// All threads but one stand in the first element that they have taken, wherever that lies.
TEST_P(Algorithms, WhatLiesBehindSeveralLongElementsIsDoneByOneThread) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 8);
    braid::scheduler s(o);
    const std::size_t n = 10'000;
    std::atomic<std::size_t> over{0};
    std::atomic<int> long_ones{o.workers};
    std::vector<std::atomic<bool>> has_come(s.seat_count());
    braid::parallel_for(s, n, [&](std::size_t, fork_context c) {
        const bool is_long = !has_come[c.seat()].exchange(true) && long_ones-- > 0;
        if (is_long) braid_test::until([&] { return over >= n - n / 8; });
        ++over;
    });
    EXPECT_EQ(over, n);
}

/// Each piece ends when all have begun.
TEST_P(Algorithms, AReductionOfAFewLongPiecesIsForAllThreads) {
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 8);
    braid::scheduler s(o);
    const auto n = static_cast<std::size_t>(o.workers) + 1;
    std::atomic<std::size_t> begun{0};
    const auto piece = [&](std::size_t i) {
        ++begun;
        braid_test::until([&] { return begun == n; });
        return i;
    };
    const std::size_t sum =
        braid::reduce_indices(s, n, std::size_t{0}, piece, std::plus<>(), {.grain = 1});
    EXPECT_EQ(sum, n * (n - 1) / 2);
}

TEST_P(Algorithms, LoopsNestThreeDeep) {
    braid::scheduler s(options());
    std::atomic<int> calls{0};
    braid::parallel_for(s, 8, [&](std::size_t, fork_context c) {
        braid::parallel_for(c, 8, [&](std::size_t, fork_context inner) {
            braid::parallel_for(inner, 8, [&](std::size_t) { ++calls; });
        });
    });
    EXPECT_EQ(calls, 512);
    // Without contexts, and from tasks.
    braid::scope all(s);
    for (int i = 0; i < 8; ++i) {
        all.spawn({}, [&](braid::task_context& task) {
            braid::parallel_for(task, 8, [&](std::size_t) {
                braid::parallel_for(fork_context::current(), 8, [&](std::size_t) { ++calls; });
            });
        });
    }
    all.wait();
    EXPECT_EQ(calls, 1024);
}

TEST_P(Algorithms, AnExceptionEndsTheLoopEarly) {
    braid::scheduler s(options());
    std::atomic<int> running{0}, calls{0};
    EXPECT_THROW(braid::parallel_for(s, 1'000'000,
                                     [&](std::size_t i) {
                                         ++running;
                                         ++calls;
                                         --running;
                                         if (i == 3) throw std::runtime_error("three");
                                     }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
    // Other threads may be done with theirs before the one that throws gets its core again.
    if (GetParam() == 0) {
        EXPECT_EQ(calls, 4);
    }
    expect_all_ended(s);
}

TEST_P(Algorithms, ACancelledScopeEndsTheLoopEarly) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> calls{0};
    std::atomic<bool> threw{false};
    braid_test::door cancelled;
    all.spawn({}, [&](braid::task_context& task) {
        try {
            braid::parallel_for(task, 1'000'000, [&](std::size_t) {
                const int call = ++calls;
                // The loop gets no further while this thread is off its core within cancel().
                if (call > 100) cancelled.pass();
                if (call != 100) return;
                all.cancel();
                cancelled.open();
            });
        } catch (const braid::task_cancelled&) {
            threw = true;
        }
    });
    all.wait();
    EXPECT_TRUE(threw);
    EXPECT_LT(calls, 1'000'000);
}

TEST_P(Algorithms, BlocksCoverTheirExtentOnce) {
    braid::scheduler s(options());
    const auto covers = [&](const braid::block_extent& e) {
        std::vector<std::atomic<std::uint8_t>> calls(e.x * e.y * e.z);
        std::atomic<std::size_t> blocks{0};
        braid::parallel_for(s, e, [&](const braid::block_range& b) {
            ++blocks;
            for (std::size_t z = b.z.begin; z != b.z.end; ++z) {
                for (std::size_t y = b.y.begin; y != b.y.end; ++y) {
                    for (std::size_t x = b.x.begin; x != b.x.end; ++x) {
                        ++calls[(z * e.y + y) * e.x + x];
                    }
                }
            }
        });
        EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](auto& c) { return c == 1; }));
        return blocks.load();
    };
    EXPECT_EQ(covers({.x = 640, .y = 360}), 256U);
    EXPECT_EQ(covers({.x = 17, .y = 5, .z = 3}), 255U);
    EXPECT_EQ(covers({.x = 100, .y = 100, .block_x = 100, .block_y = 10}), 10U);
    EXPECT_EQ(covers({.x = 1000, .y = 1, .block_x = 64}), 16U);
    EXPECT_EQ(covers({.x = 0, .y = 10}), 0U);
}

TEST_P(Algorithms, ForEachAndTransformVisitEachElementOnce) {
    braid::scheduler s(options());
    for (const std::size_t n : sizes) {
        std::deque<int> numbers(n, 1);
        braid::for_each(s, numbers, [](int& x) { ++x; });
        braid::for_each(s, numbers.begin(), numbers.end(), [](int& x) { ++x; });
        std::vector<long> doubled(n);
        const auto end =
            braid::transform(s, numbers, doubled.begin(), [](int x) { return 2L * x; });
        EXPECT_EQ(end, doubled.end());
        EXPECT_EQ(doubled, std::vector<long>(n, 6));
    }
}

TEST_P(Algorithms, SumsOfFloatsAreTheSameToTheLastBit) {
    braid::scheduler s(options());
    const auto numbers = random_numbers(100'003);
    const auto f = [&](std::size_t i) { return 1.0F / static_cast<float>(numbers[i] % 999 + 1); };
    for (const std::size_t grain : {std::size_t{0}, std::size_t{1000}}) {
        const braid::reduce_options o{.grain = grain};
        // The same brackets, by one thread: pieces from the left, then halves.
        const std::size_t piece = grain != 0 ? grain : (numbers.size() + 1023) / 1024;
        std::vector<float> sums;
        for (std::size_t b = 0; b < numbers.size(); b += piece) {
            float sum = f(b);
            for (std::size_t i = b + 1; i < std::min(b + piece, numbers.size()); ++i) sum += f(i);
            sums.push_back(sum);
        }
        const auto halves = [&](auto& self, std::size_t first, std::size_t last) -> float {
            if (last - first == 1) return sums[first];
            const std::size_t middle = first + (last - first) / 2;
            const float left = self(self, first, middle);
            return left + self(self, middle, last);
        };
        const float expected = halves(halves, 0, sums.size());
        for (int round = 0; round < 20; ++round) {
            const float sum = braid::reduce_indices(s, numbers.size(), 0.0F, f, std::plus<>(), o);
            EXPECT_EQ(std::memcmp(&sum, &expected, sizeof sum), 0) << sum << ' ' << expected;
        }
    }
}

TEST_P(Algorithms, ReduceKeepsTheOrderAndMovesItsValues) {
    braid::scheduler s(options());
    std::vector<std::string> words;
    std::string expected;
    for (int i = 0; i < 500; ++i) expected += words.emplace_back(std::to_string(i));
    EXPECT_EQ(braid::reduce(s, words, std::string(), std::plus<>(), {.grain = 3}), expected);
    EXPECT_EQ(braid::reduce(s, std::vector<int>{}, 42), 42);
    EXPECT_EQ(braid::reduce(s, std::vector<int>{5}, 0), 5);
    const auto numbers = random_numbers(10'000);
    EXPECT_EQ(braid::reduce(s, numbers, std::uint32_t{0},
                            [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }),
              *std::max_element(numbers.begin(), numbers.end()));
}

TEST_P(Algorithms, ScansEqualTheSerialOnes) {
    braid::scheduler s(options());
    for (const std::size_t n : sizes) {
        const auto in = random_numbers(n);
        std::vector<std::uint32_t> expected(n), got(n);
        std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>(), 7U);
        EXPECT_EQ(braid::inclusive_scan(s, in, got.begin(), 7U), got.end());
        EXPECT_EQ(got, expected);
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7U);
        got = in;
        braid::exclusive_scan(s, got, got.begin(), 7U, std::plus<>(), {.grain = 5});  // in place
        EXPECT_EQ(got, expected);
    }
    // Not commutative, and larger than the scan keeps many of on its stack.
    struct wide {
        std::array<char, 2000> text{};
        std::size_t length = 0;
    };
    const auto append = [](wide a, const wide& b) {
        std::copy_n(b.text.begin(), b.length, a.text.begin() + static_cast<long>(a.length));
        a.length += b.length;
        return a;
    };
    std::vector<wide> in(200), out(200), expected(200);
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i].text[0] = static_cast<char>('a' + i % 26);
        in[i].length = 1;
    }
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), append);
    braid::inclusive_scan(s, in, out.begin(), wide{}, append);
    for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i].text, expected[i].text);
}

TEST_P(Algorithms, ScansOfFloatsAreEqualWhicheverThreadScansWhat) {
    std::vector<float> in(100'000);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1.0F / static_cast<float>(i + 1);
    const auto scanned_by = [&](braid::scheduler& s) {
        std::vector<float> out(in.size());
        braid::inclusive_scan(s, in, out.begin(), 0.5F);
        return out;
    };
    braid::scheduler_options alone = options();
    alone.workers = 0;
    braid::scheduler one(alone), s(options());
    const std::vector<float> expected = scanned_by(one);
    for (std::size_t round = 0; round < braid_test::scaled(50); ++round) {
        ASSERT_EQ(scanned_by(s), expected) << "round " << round;
    }
}

TEST_P(Algorithms, WhatAScanThrowsComesOutAndNobodyWorksOn) {
    braid::scheduler s(options());
    const auto in = random_numbers(100'000);
    std::vector<std::uint32_t> out(in.size());
    std::atomic<int> calls{0};
    const auto throwing = [&](std::uint32_t a, std::uint32_t b) {
        if (++calls == 20'000) throw std::runtime_error("enough");
        return a + b;
    };
    EXPECT_THROW(braid::inclusive_scan(s, in, out.begin(), 0U, throwing), std::runtime_error);
    const int when = calls;
    EXPECT_LT(when, 200'000);
    expect_all_ended(s);
    EXPECT_EQ(calls, when);
}

TEST_P(Algorithms, SortSortsWhateverTheOrder) {
    braid::scheduler s(options());
    const auto sorts = [&](std::vector<std::uint32_t> numbers) {
        auto expected = numbers;
        std::sort(expected.begin(), expected.end());
        braid::sort(s, numbers, std::less<>(), {.grain = 20});
        EXPECT_EQ(numbers, expected);
        std::reverse(expected.begin(), expected.end());
        braid::sort(s, numbers.begin(), numbers.end(), std::greater<>());
        EXPECT_EQ(numbers, expected);
    };
    for (const std::size_t n : sizes) {
        sorts(random_numbers(n));
        sorts(random_numbers(n, 3));
        sorts(std::vector<std::uint32_t>(n, 5));
        std::vector<std::uint32_t> rising(n);
        std::iota(rising.begin(), rising.end(), 0U);
        sorts(rising);
        // Up and down again: what defeats a pivot from the middle.
        for (std::size_t i = n / 2; i < n; ++i) rising[i] = static_cast<std::uint32_t>(n - i);
        sorts(rising);
    }
}

TEST_P(Algorithms, SortOfAnAdversaryStaysNLogN) {
    // McIlroy 1999, "A killer adversary for quicksort": the order of elements is decided while they
    // are compared, so that every pivot is as bad as can be.
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    const std::size_t n = 1 << 14, gas = n;
    std::vector<std::size_t> value(n, gas), order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::size_t solid = 0, candidate = 0, compares = 0;
    braid::sort(s, order,
                [&](std::size_t x, std::size_t y) {
                    ++compares;
                    if (value[x] == gas && value[y] == gas) value[x == candidate ? x : y] = solid++;
                    if (value[x] == gas) candidate = x;
                    if (value[y] == gas) candidate = y;
                    return value[x] < value[y];
                },
                {.grain = 16});
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(),
                               [&](auto x, auto y) { return value[x] < value[y]; }));
    EXPECT_LT(compares, 10 * n * 14);  // the square of n is a thousand times that
}

TEST_P(Algorithms, SortSplitsWhatIsSortedAlreadyInHalves) {
    braid::scheduler s(options());
    std::vector<int> numbers(braid_test::scaled(20'000));
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto comparisons = [&](std::size_t grain) {
        std::atomic<std::size_t> n{0};
        braid::sort(s, numbers.begin(), numbers.end(),
                    [&n](int a, int b) {
                        n.fetch_add(1, std::memory_order_relaxed);
                        return a < b;
                    },
                    {.grain = grain});
        return n.load();
    };
    // Halves down to n / 64 are six levels of one comparison an element and a few more; a pivot at
    // the end would make as many levels as it is allowed.
    const std::size_t n = numbers.size();
    EXPECT_LE(comparisons(n / 64), comparisons(n) + 8 * n);
}

}  // namespace
