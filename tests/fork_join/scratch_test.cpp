// Scratch memory: no two bodies have the same object at once, also where they lie on top of each
// other on one thread; what is gathered is what the serial loop would have made, to the last bit.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using braid::fork_context;
using braid::index_range;

BRAID_SCHEDULER_TEST(Scratch);

/// Notices when two have it.
struct exclusive {
    std::atomic<int> users{0};
    std::size_t uses = 0;  // plain: a race is for ThreadSanitizer

    struct use {
        exclusive& e;
        explicit use(exclusive& mine) : e(mine) {
            EXPECT_EQ(e.users.fetch_add(1), 0) << "lent twice";
            ++e.uses;
        }
        ~use() { e.users.fetch_sub(1); }
    };
};

TEST_P(Scratch, ABodyTakesAnElementOrARangeThenScratchThenAContext) {
    braid::scheduler s(options());
    braid::per_worker<std::uint64_t> sums(s);
    const std::size_t n = 1000;
    braid::parallel_for(s, n, sums, [](std::size_t i, std::uint64_t& sum) { sum += i; });
    braid::parallel_for(s, n, sums, [&](std::size_t i, std::uint64_t& sum, fork_context c) {
        EXPECT_EQ(c.seat(), s.this_thread().seat);
        sum += i;
    });
    braid::parallel_for(s, n, sums, [](index_range r, std::uint64_t& sum) {
        for (std::size_t i = r.begin; i != r.end; ++i) sum += i;
    });
    std::atomic<std::size_t> seen{0};
    braid::parallel_for(s, n, sums,
                        [&](index_range r, std::uint64_t&, fork_context) { seen += r.size(); },
                        {.grain = 10});
    EXPECT_EQ(seen, n);
    std::uint64_t all = 0;
    sums.for_each([&](std::uint64_t& sum) { all += sum; });
    EXPECT_EQ(all, 3 * n * (n - 1) / 2);
}

TEST_P(Scratch, IsOnePerThreadAndStaysFromLoopToLoop) {
    braid::scheduler s(options());
    braid::per_worker<exclusive> scratch(s);
    for (int round = 0; round < 20; ++round) {
        braid::parallel_for(s, 1000, scratch,
                            [](std::size_t, exclusive& e) { const exclusive::use u(e); });
    }
    std::size_t objects = 0, uses = 0;
    scratch.for_each([&](exclusive& e) {
        ++objects;
        uses += e.uses;
    });
    EXPECT_EQ(uses, 20'000U);
    EXPECT_LE(objects, s.seat_count());
}

TEST_P(Scratch, ABodyOnTopOfAnotherGetsAnObjectOfItsOwn) {
    braid::scheduler s(options());
    braid::per_worker<exclusive> scratch(s);
    braid::parallel_for(s, 20, scratch, [&](std::size_t, exclusive& outer, fork_context c) {
        const exclusive::use u(outer);
        // On this thread, if nobody takes it.
        braid::parallel_for(c, 20, scratch,
                            [](std::size_t, exclusive& inner) { const exclusive::use v(inner); });
        // A task, which the wait below may run on top of this body.
        s.wait(s.spawn([&](braid::task_context& task) {
            braid::parallel_for(task, 20, scratch, [](std::size_t, exclusive& inner) {
                const exclusive::use v(inner);
            });
        }));
    });
    std::size_t uses = 0;
    scratch.for_each([&](exclusive& e) { uses += e.uses; });
    EXPECT_EQ(uses, 20U + 2 * 400U);
}

TEST_P(Scratch, IsBorrowedByForeignThreadsAndTasksAtTheSameTime) {
    braid::scheduler s(options());
    braid::per_worker<exclusive> scratch(s);
    const auto use = [&] {
        const auto mine = scratch.borrow();
        const exclusive::use u(*mine);
        EXPECT_EQ(mine->users, 1);
    };
    std::vector<std::thread> foreign;
    for (int t = 0; t < 4; ++t) {
        foreign.emplace_back([&] {
            for (int i = 0; i < 200; ++i) braid::fork_join(s, "foreign", use);
        });
    }
    braid::scope all(s);
    for (int i = 0; i < 200; ++i) all.post(use);
    all.wait();
    for (auto& t : foreign) t.join();
    std::size_t uses = 0;
    scratch.for_each([&](exclusive& e) { uses += e.uses; });
    EXPECT_EQ(uses, 1000U);
}

TEST_P(Scratch, ABodyThatThrowsGivesItBack) {
    braid::scheduler s(options());
    braid::per_worker<exclusive> scratch(s);
    for (int round = 0; round < 50; ++round) {
        EXPECT_THROW(braid::parallel_for(s, 100, scratch,
                                         [](std::size_t i, exclusive& e) {
                                             const exclusive::use u(e);
                                             if (i == 50) throw std::runtime_error("planned");
                                         }),
                     std::runtime_error);
    }
    std::size_t objects = 0;
    scratch.for_each([&](exclusive&) { ++objects; });
    EXPECT_LE(objects, s.seat_count());
}

TEST_P(Scratch, AnObjectThatCannotBeMadeLeavesNothingBehind) {
    static std::atomic<int> alive{0};
    static std::atomic<bool> refuse{true};
    struct reluctant {
        reluctant() {
            if (refuse) throw std::runtime_error("not now");
            ++alive;
        }
        ~reluctant() { --alive; }
    };
    alive = 0;
    refuse = true;
    {
        braid::scheduler s(options());
        braid::per_worker<reluctant> scratch(s);
        const auto loop = [&] {
            braid::parallel_for(s, 100, scratch, [](std::size_t, reluctant&) {});
        };
        EXPECT_THROW(loop(), std::runtime_error);
        refuse = false;
        loop();
        EXPECT_GT(alive, 0);
    }
    EXPECT_EQ(alive, 0);
}

TEST_P(Scratch, LargeAlignmentsAreKept) {
    struct alignas(256) wide {
        char bytes[300] = {};
    };
    braid::scheduler s(options());
    braid::per_worker<wide> scratch(s);
    braid::parallel_for(s, 100, scratch, [](std::size_t, wide& w) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 256, 0U);
        std::fill_n(w.bytes, 300, 'x');
    });
}

TEST_P(Scratch, BorrowedOutsideTasksIsRefusedAndReported) {
    braid::scheduler s(options());
    braid::per_worker<int> scratch(s);
    std::thread([&] { EXPECT_THROW(scratch.borrow(), std::bad_alloc); }).join();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
}

// ---- gather -------------------------------------------------------------------------------------

/// How many element i appends, and what: some pieces nothing, some more than a chunk holds.
std::size_t length_of(std::size_t i) { return i % 7 == 3 ? (i * 2'654'435'761U >> 7) % 40 : 0; }

std::vector<std::string> serial_list(std::size_t n) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < length_of(i); ++k) all.push_back(std::to_string(i * 100 + k));
    }
    return all;
}

TEST_P(Scratch, WhatIsGatheredIsWhatTheSerialLoopMakes) {
    braid::scheduler s(options());
    braid::gathered<std::string> list(s);
    for (const std::size_t n : {0U, 1U, 2U, 4U, 1023U, 1024U, 1025U, 20'000U}) {
        const auto expected = serial_list(n);
        for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{100}, n + 1}) {
            braid::gather(s, n, list,
                          [](std::size_t i, auto& out) {
                              for (std::size_t k = 0; k < length_of(i); ++k) {
                                  out.push_back(std::to_string(i * 100 + k));
                              }
                          },
                          {.grain = grain});
            ASSERT_EQ(list.size(), expected.size());
            ASSERT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
        }
    }
    const auto& constant = list;
    EXPECT_EQ(static_cast<std::size_t>(std::distance(constant.begin(), constant.end())),
              list.size());
    list.clear();
    EXPECT_TRUE(list.empty());
    EXPECT_TRUE(list.begin() == list.end());
}

TEST_P(Scratch, GatherBodiesThatTakeRangesGetTheSameOnesForAnyNumberOfThreads) {
    braid::scheduler s(options());
    braid::gathered<std::pair<std::size_t, std::size_t>> list(s);
    const auto gather = [&](std::size_t n, std::size_t grain) {
        braid::gather(
            s, n, list,
            [](index_range r, auto& out, fork_context) { out.emplace_back(r.begin, r.end); },
            {.grain = grain});
        std::size_t at = 0;
        for (const auto& [begin, end] : list) {
            EXPECT_EQ(begin, at);
            at = end;
        }
        EXPECT_EQ(at, n);
        return list.size();
    };
    EXPECT_EQ(gather(1000, 1), 1000U);
    EXPECT_EQ(gather(1000, 300), 4U);
    EXPECT_EQ(gather(100'000, 1), 1021U);  // 98 each, so that there are no more than 1,024
    EXPECT_EQ(gather(100'000, 50'000), 2U);
}

/// Depends on the order and on every bit.
template <class List>
std::uint64_t hash_of(const List& list) {
    std::uint64_t h = 0xcbf2'9ce4'8422'2325U;  // FNV-1a
    for (const float f : list) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &f, sizeof bits);
        h = (h ^ bits) * 0x0000'0100'0000'01b3U;
    }
    return h;
}

TEST_P(Scratch, TheHashOfAFrameIsThatOfTheSerialOneForAnyNumberOfThreads) {
    braid::scheduler s(options());
    braid::gathered<float> list(s);
    braid::per_worker<std::vector<float>> rows(s);
    const auto element = [](std::size_t i, std::size_t k) {
        return 1.0F / static_cast<float>(i * 64 + k + 1);
    };
    const auto append = [](std::size_t i, const std::vector<float>& row, auto& out) {
        float sum = 0;
        for (const float f : row) sum += f;
        for (std::size_t k = 0; k < i % 5; ++k) out.push_back(sum * static_cast<float>(k));
    };
    const std::size_t n = 5000;
    std::vector<float> serial, row;
    for (std::size_t i = 0; i < n; ++i) {
        row.clear();
        for (std::size_t k = 0; k < i % 64; ++k) row.push_back(element(i, k));
        append(i, row, serial);
    }
    for (int frame = 0; frame < 20; ++frame) {
        braid::gather(s, n, list, [&](std::size_t i, auto& out, fork_context c) {
            // Uneven, and with a loop and scratch inside.
            const auto mine = rows.borrow();
            mine->assign(i % 64, 0.0F);
            braid::parallel_for(c, mine->size(),
                                [&](std::size_t k) { (*mine)[k] = element(i, k); });
            append(i, *mine, out);
        });
        ASSERT_EQ(hash_of(list), hash_of(serial)) << "frame " << frame;
    }
}

TEST_P(Scratch, GatherNestsAndBodiesMayWait) {
    braid::scheduler s(options());
    braid::gathered<std::size_t> outer(s);
    braid::per_worker<std::unique_ptr<braid::gathered<std::size_t>>> inner(s);
    braid::gather(s, 200, outer, [&](std::size_t i, auto& out, fork_context c) {
        const auto list = inner.borrow();
        if (*list == nullptr) *list = std::make_unique<braid::gathered<std::size_t>>(s);
        out.push_back(i);
        braid::gather(c, 20, **list, [&](std::size_t k, auto& o) { o.push_back(i + k); });
        s.wait(s.spawn([] {}));
        for (const std::size_t x : **list) out.push_back(x);
    });
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < 200; ++i) {
        expected.push_back(i);
        for (std::size_t k = 0; k < 20; ++k) expected.push_back(i + k);
    }
    EXPECT_TRUE(std::equal(outer.begin(), outer.end(), expected.begin(), expected.end()));
}

TEST_P(Scratch, AGatherThatThrowsLeavesAnEmptyListAndDestroysWhatItMade) {
    static std::atomic<int> alive{0};
    struct counted {
        explicit counted(bool bad) {
            if (bad) throw std::runtime_error("planned");
            ++alive;
        }
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;
        ~counted() { --alive; }
    };
    alive = 0;
    braid::scheduler s(options());
    {
        braid::gathered<counted> list(s);
        for (int round = 0; round < 20; ++round) {
            braid::gather(s, 1000, list, [](std::size_t, auto& out) { out.emplace_back(false); });
            EXPECT_EQ(alive, 1000);
            EXPECT_THROW(braid::gather(s, 1000, list,
                                       [&](std::size_t i, auto& out) {
                                           out.emplace_back(false);
                                           out.emplace_back(i == 777);
                                       }),
                         std::runtime_error);
            EXPECT_EQ(alive, 0);
            EXPECT_TRUE(list.empty());
        }
        braid::gather(s, 1000, list, [](std::size_t, auto& out) { out.emplace_back(false); });
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
