// join(): every part runs once, on whichever thread; values and exceptions come back; any thread.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>
#include <braid/fork_join.hpp>

#include <array>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

using braid::fork_context;
using braid::fork_join;
using braid::join;

BRAID_SCHEDULER_TEST(Join);

long fib(fork_context c, int n) {
    if (n < 2) return n;
    const auto [a, b] = join(
        c, [n](fork_context inner) { return fib(inner, n - 1); },
        [n](fork_context inner) { return fib(inner, n - 2); });
    return a + b;
}

/// Without a context: the thread is looked up at each join.
long plain_fib(int n) {
    if (n < 2) return n;
    const auto [a, b] = join([n] { return plain_fib(n - 1); }, [n] { return plain_fib(n - 2); });
    return a + b;
}

TEST_P(Join, GivesTheSameResultHoweverManyThreadsRunItsParts) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(50); ++round) {
        EXPECT_EQ(fork_join(s, "fib", [](fork_context c) { return fib(c, 18); }), 2584);
        EXPECT_EQ(fork_join(s, "fib", [] { return plain_fib(14); }), 377);
    }
    expect_all_ended(s);
}

TEST_P(Join, RunsEveryPartOnceInTasksAndOnForeignThreads) {
    braid::scheduler s(options());
    std::atomic<int> leaves{0};
    const auto tree = [&leaves](auto& self, fork_context c, int depth) -> void {
        if (depth == 0) {
            ++leaves;
            return;
        }
        join(
            c, [&](fork_context inner) { self(self, inner, depth - 1); },
            [&](fork_context inner) { self(self, inner, depth - 1); });
    };
    std::thread foreign(
        [&] { fork_join(s, "foreign", [&](fork_context c) { tree(tree, c, 8); }); });
    braid::scope all(s);
    for (int i = 0; i < 8; ++i) {
        all.spawn({}, [&](braid::task_context& task) { tree(tree, task, 8); });
    }
    all.wait();
    foreign.join();
    EXPECT_EQ(leaves, 9 * 256);
    expect_all_ended(s);
}

TEST_P(Join, ReturnsWhatItsPartsReturn) {
    braid::scheduler s(options());
    fork_join(s, "values", [](fork_context c) {
        static_assert(std::is_void_v<decltype(join(c, [] {}, [] {}))>);
        const auto two = join(c, [] { return 1; }, [] { return std::string("b"); });
        EXPECT_EQ(two.first, 1);
        EXPECT_EQ(two.second, "b");
        // Large and movable only, as parts and as results.
        auto big = std::make_unique<std::array<int, 100>>();
        (*big)[99] = 7;
        auto [nothing, moved, third] = join(
            c, [] {}, [big = std::move(big)]() mutable { return std::move(big); },
            [](fork_context inner) {
                return join(inner, [] { return 2.5; }, [] { return 'c'; }).second;
            });
        static_assert(std::is_same_v<decltype(nothing), std::monostate>);
        EXPECT_EQ((*moved)[99], 7);
        EXPECT_EQ(third, 'c');
    });
}

TEST_P(Join, OfManyPartsRunsEachOnceAndAllThatThrewAreHeardOf) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(300); ++round) {
        std::atomic<int> began{0}, threw{0};
        const auto part = [&](int n) {
            return [&began, &threw, n, round](fork_context c) {
                const auto [a, b] = join(c, [n] { return n; }, [] { return 0; });
                ++began;
                if ((round >> n) % 4 == 3) {
                    ++threw;
                    throw std::runtime_error(std::to_string(n));
                }
                return a + b;
            };
        };
        const std::size_t lost = notes_.count(&braid_test::recorder::lost);
        int leftmost = -1;
        try {
            const auto values = fork_join(s, "many", [&](fork_context c) {
                return join(c, part(0), part(1), part(2), part(3), part(4), part(5), part(6));
            });
            EXPECT_EQ(values, std::tuple(0, 1, 2, 3, 4, 5, 6));
            EXPECT_EQ(began, 7);
        } catch (const std::runtime_error& e) {
            leftmost = std::stoi(e.what());
        }
        EXPECT_EQ(leftmost >= 0, threw > 0) << "round " << round;
        for (int n = 0; n < 7; ++n) {
            if ((round >> n) % 4 != 3) continue;
            EXPECT_EQ(leftmost, n) << "round " << round;
            break;
        }
        // One came out, the handler has the others.
        const auto reported = notes_.count(&braid_test::recorder::lost) - lost;
        EXPECT_EQ(static_cast<int>(reported), std::max(0, threw - 1)) << "round " << round;
    }
}

TEST_P(Join, ItsSecondPartIsTakenByAThreadThatIsFree) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody is free";
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(100); ++round) {
        fork_join(s, "both", [](fork_context c) {
            std::atomic<bool> other{false};
            std::thread::id first, second;
            join(
                c,
                [&] {
                    first = std::this_thread::get_id();
                    braid_test::until([&] { return other.load(); });
                },
                [&] {
                    second = std::this_thread::get_id();
                    other = true;
                });
            EXPECT_NE(first, second);
        });
    }
    EXPECT_EQ(s.statistics().jobs_stolen, braid_test::scaled(100));
}

TEST_P(Join, ThatIsNestedBecomesPublicWhenSomebodyAsks) {
    // The thread that took the outer part has ended it; from then on it can only get inner ones.
    if (GetParam() == 0) GTEST_SKIP() << "nobody asks";
    braid::scheduler s(options());
    fork_join(s, "nested", [](fork_context c) {
        const auto here = std::this_thread::get_id();
        std::atomic<bool> outer{false};
        std::atomic<int> elsewhere{0};
        join(
            c,
            [&](fork_context inner) {
                braid_test::until([&] { return outer.load(); });
                while (elsewhere < 10) {
                    join(
                        inner,
                        [&](fork_context in) {
                            join(in, [] {}, [] {});
                            join(in, [] {}, [] {});
                        },
                        [&] { elsewhere += std::this_thread::get_id() != here; });
                }
            },
            [&] { outer = true; });
    });
}

TEST_P(Join, APartThatChangesWhenCalledIsCalledWhereItLies) {
    struct counter {
        std::atomic<bool>* begun;
        int calls = 0;
        void operator()() {
            ++calls;
            *begun = true;
        }
    };
    braid::scheduler s(options());
    std::atomic<bool> here{false}, there{false};
    counter first{&here}, second{&there};
    fork_join(s, "counted", [&](fork_context c) {
        join(c, first, second);
        there = false;
        join(
            c, [&] { braid_test::until([&] { return GetParam() == 0 || there.load(); }); }, second);
        join(c, first, second);
    });
    EXPECT_EQ(first.calls, 2);
    EXPECT_EQ(second.calls, 3);
}

TEST_P(Join, RethrowsTheLeftmostExceptionAndReportsTheOther) {
    braid::scheduler s(options());
    const auto thrown_by = [&](auto&& body) {
        try {
            fork_join(s, "throws", body);
        } catch (const std::runtime_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const auto raise = [](const char* text) { throw std::runtime_error(text); };
    for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(thrown_by([&](fork_context c) { join(c, [&] { raise("a"); }, [] {}); }), "a");
        EXPECT_EQ(thrown_by([&](fork_context c) { join(c, [] {}, [&] { raise("b"); }); }), "b");
        EXPECT_EQ(thrown_by([&](fork_context c) {
                      join(c, [] {}, [&] { raise("b"); }, [&] { raise("c"); });
                  }),
                  "b");
    }
    EXPECT_LE(notes_.count(&braid_test::recorder::lost), 20U);  // c, where it had begun
    if (GetParam() == 0) return;
    // Both have begun: the second one is for the handler, and the first comes after it.
    const std::size_t before = notes_.count(&braid_test::recorder::lost, "throws");
    std::atomic<bool> began{false}, ended{false};
    struct mark {
        std::atomic<bool>& flag;
        ~mark() { flag = true; }
    };
    EXPECT_EQ(thrown_by([&](fork_context c) {
                  join(
                      c,
                      [&] {
                          braid_test::until([&] { return began.load(); });
                          raise("a");
                      },
                      [&] {
                          const mark m{ended};
                          began = true;
                          raise("b");
                      });
              }),
              "a");
    EXPECT_TRUE(ended);
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost, "throws"), before + 1);
    expect_all_ended(s);
}

TEST_P(Join, DestroysEachClosureAndEachValueOnceWhateverThrows) {
    static std::atomic<int> alive{0};
    struct counted {
        counted() { ++alive; }
        counted(const counted&) { ++alive; }
        counted(counted&&) noexcept { ++alive; }
        ~counted() { --alive; }
    };
    alive = 0;
    {
        braid::scheduler s(options());
        for (int round = 0; round < 200; ++round) {
            try {
                fork_join(s, "counted", [round](fork_context c) {
                    const counted a, b;
                    join(
                        c,
                        [a, round] {
                            if (round % 3 == 1) throw std::runtime_error("a");
                            return a;
                        },
                        [b, round] {
                            if (round % 3 == 2) throw std::runtime_error("b");
                            return b;
                        });
                });
            } catch (const std::runtime_error&) {
            }
        }
    }
    EXPECT_EQ(alive, 0);
}

TEST_P(Join, AWaitInAPartLetsOthersTakeTheSecondPart) {
    // Without that the second part, which ends the wait, would lie where nobody can see it.
    braid::scheduler s(options());
    for (int round = 0; round < 20; ++round) {
        braid::event set(s);
        fork_join(s, "waits", [&](fork_context c) {
            join(
                c,
                [&](fork_context inner) {
                    join(
                        inner, [&] { EXPECT_TRUE(s.do_work_while_waiting_for(set)); },
                        [&] { set.set(); });
                },
                [] {});
        });
    }
}

TEST_P(Join, WhoWaitsForATaskTakesPartsOfIt) {
    if (GetParam() == 0) GTEST_SKIP() << "the waiting thread runs all of it";
    braid::scheduler_options o = options();
    o.workers = 1;
    braid::scheduler s(o);
    const auto here = std::this_thread::get_id();
    std::atomic<bool> began{false}, helped{false};
    const auto task = s.spawn([&](braid::task_context& t) {
        join(
            t,
            [&] {
                began = true;
                braid_test::until([&] { return helped.load(); });
            },
            [&] { helped = std::this_thread::get_id() == here; });
    });
    braid_test::until([&] { return began.load(); });
    s.wait(task);
    EXPECT_TRUE(helped);
}

TEST_P(Join, DeeperThanItsStackRunsInOrder) {
    braid::scheduler s(options());
    const auto dive = [](auto& self, fork_context c, int depth) -> int {
        if (depth == 0) return 0;
        // Where there is no room the joins of one part lie where the other parts lay.
        const auto [below, more, less] = join(
            c, [&](fork_context inner) { return self(self, inner, depth - 1); },
            [depth](fork_context inner) {
                const auto [a, b] =
                    join(inner, [depth] { return depth; }, [depth] { return depth + 1; });
                return a + b;
            },
            [depth] { return 2 * depth; });
        return below + (more == 2 * depth + 1 && less == 2 * depth);
    };
    const int depth = static_cast<int>(braid_test::scaled(5000));
    EXPECT_EQ(fork_join(s, "deep", [&](fork_context c) { return dive(dive, c, depth); }), depth);
}

TEST_P(Join, AllocatesNothingOnceAThreadHasJoined) {
    braid::scheduler_options o = options();
    o.workers = std::min(o.workers, 1);
    o.max_reserves = 0;  // the first join of a thread that stands in is one, too
    braid::scheduler s(o);
    auto gate = s.begin({}, braid::empty);
    EXPECT_FALSE(s.wait_for(gate.id(), braid::nanoseconds{1}));  // the first wait
    gate.finish();
    // Until every thread has had its first join.
    for (std::size_t before = 0;
         s.statistics().jobs_stolen < 5 * static_cast<unsigned>(o.workers) ||
         before != s.allocations();) {
        before = s.allocations();
        fork_join(s, "warm", [](fork_context c) { return fib(c, 18); });
    }
    const std::uint64_t before = s.allocations();
    for (int i = 0; i < 100; ++i) fork_join(s, "fib", [](fork_context c) { return fib(c, 12); });
    EXPECT_EQ(s.allocations(), before);
}

TEST(JoinOutsideTasks, RunsItsPartsInOrderAndIsAMistakeInCheckedBuilds) {
    int order = 0;
    const auto joined = [&order] { return join([&] { return ++order; }, [&] { return ++order; }); };
#if defined(BRAID_CHECKED)
    EXPECT_DEATH(joined(), "");
#else
    EXPECT_EQ(joined(), std::pair(1, 2));
#endif
}

TEST_P(Join, AfterTheEndOfTheSchedulersTasksStillGivesItsResult) {
    braid::scheduler s(options());
    s.shut_down();
    EXPECT_EQ(fork_join(s, "late", [](fork_context c) { return fib(c, 10); }), 55);
    int calls = 0;  // nobody helps
    braid::parallel_for(s, 100, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 100);
}

TEST_P(Join, APartKnowsItsTaskAndWhetherItIsCancelled) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> right{0};
    std::atomic<bool> began{false};
    all.spawn({.name = "named"}, [&](braid::task_context& task) {
        const auto id = task.id();
        const auto look = [&, id](fork_context c) {
            EXPECT_EQ(c.seat(), s.this_thread().seat);
            right +=
                braid::this_task::id() == id && std::string(braid::this_task::name()) == "named";
            began = true;
            braid_test::until([&] { return c.cancelled(); });
        };
        join(task, look, look);
    });
    std::thread cancels([&] {
        braid_test::until([&] { return began.load(); });
        all.cancel();
    });
    all.wait();
    cancels.join();
    EXPECT_EQ(right, 2);
}

TEST_P(Join, AnObserverHearsOfEachPartThatMoves) {
    struct counts final : braid::observer {
        std::atomic<int> forked{0}, joined{0}, started{0}, ended{0};
        void on_event(const braid::task_event& e) override {
            forked += e.kind == braid::event_kind::forked;
            joined += e.kind == braid::event_kind::joined;
            started += e.kind == braid::event_kind::job_started;
            ended += e.kind == braid::event_kind::job_ended;
        }
    } seen;
    {
        braid::scheduler_options o = options();
        o.observer = &seen;
        braid::scheduler s(o);
        EXPECT_EQ(fork_join(s, "fib", [](fork_context c) { return fib(c, 10); }), 55);
        EXPECT_EQ(seen.forked, 88);  // each join of fib(10)
        EXPECT_EQ(seen.joined, 88);
        const int before = seen.started;
        fork_join(s, "moves", [&](fork_context c) {
            std::atomic<bool> taken{false};
            const auto first = [&] {  // returns when somebody else runs the second part
                braid_test::until([&] { return GetParam() == 0 || taken.load(); });
            };
            join(c, first, [&] { taken = true; });
        });
        EXPECT_EQ(seen.started, before + (GetParam() == 0 ? 0 : 1));
        EXPECT_EQ(s.statistics().jobs_stolen, static_cast<std::uint64_t>(seen.started));
    }
    EXPECT_EQ(seen.forked, 89);
    EXPECT_EQ(seen.joined, 89);
    EXPECT_EQ(seen.started, seen.ended);
}

TEST_P(Join, APartThatMovesIsTimeOfTheThreadThatRunsIt) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody takes it";
    braid::scheduler_options o = options();
    o.statistics = true;
    braid::scheduler s(o);
    constexpr std::uint64_t least_ns = 2'000'000;
    unsigned seat = 0;
    const auto began = std::chrono::steady_clock::now();
    fork_join(s, "moves", [&](fork_context c) {
        std::atomic<bool> taken{false};
        join(
            c, [&] { braid_test::until([&] { return taken.load(); }); },
            [&](fork_context there) {
                seat = there.seat();
                const auto end =
                    std::chrono::steady_clock::now() + std::chrono::nanoseconds(least_ns);
                braid_test::until([&] { return std::chrono::steady_clock::now() >= end; });
                taken = true;
            });
    });
    const auto most = std::chrono::steady_clock::now() - began;
    const std::uint64_t busy = s.statistics(seat).busy_ns;
    EXPECT_GE(busy, least_ns);
    EXPECT_LE(busy, static_cast<std::uint64_t>(std::chrono::nanoseconds(most).count()));
}

TEST_P(Join, AfterAJoinThatAnotherSchedulerRefusedIsTheOwnTasksAgain) {
    braid::scheduler s(options());
    int parts = 0;
    s.wait(s.spawn([&] {
        for (int round = 0; round != 3; ++round) {
            {
                braid::scheduler over;
                over.shut_down();
                fork_join(over, "refused", [&](fork_context) { ++parts; });
            }
            join([&] { ++parts; }, [] {});
        }
    }));
    EXPECT_EQ(parts, 6);
}

TEST_P(Join, APartThatAThreadTakesHidesNoEndOfTheTasksBefore) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody takes it";
    braid::scheduler s(options());
    for (int round = 0; round != 3; ++round) {
        braid::scope all(s);
        std::atomic<bool> began{false};
        braid_test::door end, waited;
        all.post([&] {
            began = true;
            end.pass();
        });
        braid_test::until([&] { return began.load(); });
        fork_join(s, "taken", [&](fork_context c) {
            std::atomic<bool> taken{false};
            join(
                c,
                [&](fork_context) {
                    end.open();
                    braid_test::until([&] { return taken.load(); });
                    all.wait();
                    waited.open();
                },
                [&](fork_context) {
                    taken = true;
                    waited.pass();  // perhaps on the thread that ended the task
                });
        });
    }
}

}  // namespace
