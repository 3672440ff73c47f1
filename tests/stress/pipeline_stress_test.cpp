// Pipelines of random shape on all threads at once: order, tokens, exceptions and cancellation.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>

#include <memory>
#include <optional>
#include <random>
#include <stdexcept>

namespace {

using braid::fork_context;
using braid::parallel;
using braid::serial;

BRAID_SCHEDULER_TEST(PipelineStress);

/// An item on the heap, so that one that is lost or destroyed twice is found by AddressSanitizer.
using item = std::unique_ptr<std::size_t>;

/// One pipeline that a seed describes. Returns how many items came out.
std::size_t run(fork_context c, std::uint32_t seed) {
    std::minstd_rand random(seed + 1);
    const std::size_t n = random() % 300, tokens = 1 + random() % 12;
    const std::size_t bad = random() % 3 == 0 ? random() % 300 : n;
    const std::size_t uneven = 1 + random() % 200;
    const auto work = [uneven](std::size_t i) {
        for (std::size_t k = i * 2'654'435'761U % uneven; k != 0; --k) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
    };
    std::size_t made = 0, middle = 0, out = 0;  // plain: serial stages are ordered
    std::atomic<int> flying{0};
    try {
        braid::pipeline(c, {.tokens = tokens}, serial([&]() -> std::optional<item> {
                            if (made == n) return std::nullopt;
                            EXPECT_LE(flying.fetch_add(1) + 1, static_cast<int>(tokens));
                            return std::make_unique<std::size_t>(made++);
                        }),
                        parallel([&](item i, fork_context inner) {
                            work(*i);
                            if (*i % 64 == 7)
                                braid::join(inner, [&] { work(7); }, [&] { work(9); });
                            if (*i >= bad) throw std::runtime_error("planned");
                            return i;
                        }),
                        serial([&](item i) {
                            EXPECT_EQ(*i, middle++);
                            return i;
                        }),
                        parallel([&](item i) {
                            work(*i + 3);
                            return i;
                        }),
                        serial([&](const item& i) {
                            EXPECT_EQ(*i, out++);
                            --flying;
                        }));
        EXPECT_GE(bad, n);
    } catch (const std::runtime_error&) {
        EXPECT_LT(bad, n);
    }
    EXPECT_EQ(out, std::min(bad, n));
    return out;
}

TEST_P(PipelineStress, RandomPipelinesKeepOrderAndTokensWhateverRunsBesideThem) {
    const std::size_t rounds = braid_test::stress_scaled(60);
    for (std::size_t round = 0; round < rounds; ++round) {
        braid::scheduler_options o = options();
        o.idle = round % 2 == 0 ? braid::parking::power : braid::parking::balanced;
        o.max_reserves = round % 3 == 0 ? 2 : 64;
        braid::scheduler s(o);
        const auto seed = static_cast<std::uint32_t>(round * 100);
        std::thread foreign(
            [&] { braid::fork_join(s, "foreign", [&](fork_context c) { run(c, seed); }); });
        braid::scope all(s);
        for (std::uint32_t i = 1; i < 5; ++i) {
            all.post([&, i](braid::task_context& task) { run(task, seed + i); });
        }
        braid::parallel_for(s, 10, [&](std::size_t i, fork_context c) {
            run(c, seed + 10 + static_cast<std::uint32_t>(i));
        });
        all.wait();
        foreign.join();
        s.shut_down();
        expect_all_ended(s);
    }
}

TEST_P(PipelineStress, ACancellationAtAnyMomentLeavesNothingBehind) {
    const std::size_t rounds = braid_test::stress_scaled(300);
    braid::scheduler s(options());
    for (std::size_t round = 0; round < rounds; ++round) {
        braid::scope all(s);
        std::size_t made = 0;
        std::atomic<std::size_t> out{0};
        all.post([&](braid::task_context& task) {
            EXPECT_THROW(braid::pipeline(task, {.tokens = 1 + round % 7},
                                         serial([&]() -> std::optional<item> {
                                             return std::make_unique<std::size_t>(made++);
                                         }),
                                         parallel([](item i) { return i; }),
                                         serial([&](const item& i) { EXPECT_EQ(*i, out++); })),
                         braid::task_cancelled);
        });
        braid_test::until([&] {
            if (GetParam() == 0) return true;
            return out >= round % 100;
        });
        all.cancel();
        all.wait();
    }
}

}  // namespace
