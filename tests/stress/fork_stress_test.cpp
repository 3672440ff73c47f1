// Joins, loops, tasks, waits and exceptions at random, at any depth, on all threads at once.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>

namespace {

using braid::fork_context;

BRAID_SCHEDULER_TEST(ForkStress);

/// A program made of a number: the same number does the same, whichever thread runs it.
class program {
public:
    explicit program(braid::scheduler& s) : s_(s) {}

    /// How many leaves ran, by whatever way.
    std::size_t run(fork_context c, std::uint64_t seed, int depth) const {
        const std::uint64_t x = mix(seed);
        if (depth == 0) return 1;
        const auto below = [this, x, depth](std::uint64_t part) {
            return [=, this](fork_context inner) { return run(inner, x + part, depth - 1); };
        };
        switch (x % 8) {
            case 0: {  // a task, and a wait in the middle of everything
                std::atomic<std::size_t> leaves{0};
                const auto task = s_.spawn([&](braid::task_context& t) { leaves = below(1)(t); });
                const auto [a, b] = braid::join(
                    c, [&](fork_context inner) { return below(2)(inner); },
                    [&] {
                        s_.wait(task);
                        return std::size_t{0};
                    });
                return a + b + leaves;
            }
            case 1: {  // a loop
                std::atomic<std::size_t> leaves{0};
                braid::parallel_for(c, x / 8 % 5, [&](std::size_t i, fork_context inner) {
                    leaves += below(i)(inner);
                });
                return leaves;
            }
            case 2: {  // a part that throws beside one that does not
                std::size_t leaves = 0;
                try {
                    braid::join(
                        c, [&](fork_context inner) { leaves = below(1)(inner); },
                        [] { throw std::runtime_error("planned"); });
                } catch (const std::runtime_error&) {
                }
                return leaves;
            }
            case 3: {  // three parts
                const auto [a, b, d] = braid::join(c, below(1), below(2), below(3));
                return a + b + d;
            }
            default: {
                const auto [a, b] = braid::join(c, below(1), below(2));
                return a + b;
            }
        }
    }

private:
    /// splitmix64 (Steele, Lea, Flood 2014)
    static std::uint64_t mix(std::uint64_t z) {
        z += 0x9e37'79b9'7f4a'7c15U;
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
        z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
        return z ^ z >> 31;
    }

    braid::scheduler& s_;
};

TEST_P(ForkStress, RandomProgramsDoTheSameOnAllThreads) {
    const std::size_t rounds = braid_test::stress_scaled(40);
    for (std::size_t round = 0; round < rounds; ++round) {
        braid::scheduler_options o = options();
        o.idle = round % 2 == 0 ? braid::parking::power : braid::parking::balanced;
        o.max_reserves = round % 3 == 0 ? 2 : 64;
        braid::scheduler s(o);
        const program p(s);
        const int depth = 4 + static_cast<int>(round % 8);
        const auto run = [&] {
            return braid::fork_join(s, "root",
                                    [&](fork_context c) { return p.run(c, round, depth); });
        };
        std::size_t foreign = 0;
        std::thread other([&] { foreign = run(); });
        const std::size_t here = run();
        other.join();
        ASSERT_EQ(here, foreign) << "round " << round;
        braid::scheduler_options alone = options();
        alone.workers = 0;
        braid::scheduler serial(alone);
        const program q(serial);
        ASSERT_EQ(here, braid::fork_join(serial, "root",
                                         [&](fork_context c) { return q.run(c, round, depth); }))
            << "round " << round;
        s.shut_down();
        expect_all_ended(s);
    }
}

TEST_P(ForkStress, OutermostJoinsOneAfterTheOtherAreTakenOrTakenBack) {
    braid::scheduler s(options());
    const std::size_t rounds = braid_test::stress_scaled(200'000);
    std::size_t sum = 0;
    braid::fork_join(s, "many", [&](fork_context c) {
        for (std::size_t i = 0; i < rounds; ++i) {
            const auto [a, b] = braid::join(c, [i] { return i; }, [i] { return i + 1; });
            sum += b - a;
        }
    });
    EXPECT_EQ(sum, rounds);
}

}  // namespace
