// C38: posting from an audio callback: bounded, without allocation, lock or help.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(TryPost);

void count(void* data) { ++*static_cast<std::atomic<std::uint64_t>*>(data); }

TEST_P(TryPost, RunsTheFunctionOnce) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> ran{0};
    EXPECT_TRUE(s.try_post(&count, &ran));
    s.shut_down();
    EXPECT_EQ(ran, 1U);
    EXPECT_FALSE(s.try_post(&count, &ran));
    EXPECT_EQ(ran, 1U);
}

/// Posts the next one until the last, from inside each.
struct chain {
    braid::scheduler& s;
    std::atomic<int> left;
    std::atomic<int> refused{0};
    static void run(void* data) {
        auto& self = *static_cast<chain*>(data);
        if (self.left.fetch_sub(1) > 1) self.refused += !self.s.try_post(&run, &self);
    }
};

TEST_P(TryPost, OfATaskIsTakenWhileTheSchedulerDrainsAndFromOutsideRefused) {
    braid::scheduler s(options());
    chain all{s, 100};
    std::atomic<bool> begun{false};
    braid_test::door drains;
    const auto begin = [&] {
        begun = true;
        drains.pass();
        all.refused += !s.try_post(&chain::run, &all);
    };
    std::atomic<std::uint64_t> ran{0};
    std::thread outside([&] {
        braid_test::until([&] { return s.internals().phase() == braid::detail::life::draining; });
        EXPECT_FALSE(s.try_post(&count, &ran));
        drains.open();
    });
    s.post(begin);
    s.shut_down();
    outside.join();
    EXPECT_TRUE(begun);
    EXPECT_EQ(all.left, 0);
    EXPECT_EQ(all.refused, 0);
    EXPECT_FALSE(s.try_post(&count, &ran));
    EXPECT_EQ(ran, 0U);
    expect_all_ended(s);
}

TEST_P(TryPost, SaysFalseWhenFullAndAllocatesNothing) {
    braid::scheduler_options o = options();
    o.ring = 16;
    braid::scheduler s(o);
    s.set_worker_count(0);
    std::atomic<std::uint64_t> ran{0};
    std::uint64_t posted = 0;
    const std::uint64_t before = s.allocations();
    for (int i = 0; i < 1000; ++i) posted += s.try_post(&count, &ran);
    EXPECT_EQ(s.allocations(), before);
    if (GetParam() == 0) {
        EXPECT_GE(posted, 16U);
        EXPECT_LE(posted, 64U);
        EXPECT_EQ(ran, 0U) << "it does not help";
    }
    s.shut_down();
    EXPECT_EQ(ran, posted);
    expect_all_ended(s);
}

TEST_P(TryPost, GoesOnForEverFromAForeignThread) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> ran{0};
    const std::uint64_t wanted = braid_test::scaled(100'000);
    const std::uint64_t before = s.allocations();
    std::atomic<bool> over{false};
    std::thread audio([&] {
        for (std::uint64_t posted = 0; posted < wanted;) {
            if (s.try_post(&count, &ran)) {
                ++posted;
            } else {
                std::this_thread::yield();
            }
        }
        over = true;
    });
    // Somebody drains when there is no worker.
    while (!over) {
        if (GetParam() == 0) s.wait(s.spawn([] {}), braid::help::none);
        std::this_thread::yield();
    }
    audio.join();
    const std::uint64_t after = s.allocations();
    s.shut_down();
    EXPECT_EQ(ran, wanted);
    if (GetParam() != 0) {
        EXPECT_EQ(after, before);
    }
}

/// A memory whose seats come only when it is opened again: a thread that stands in it holds the
/// locks under which seats are made.
class closed_memory {
public:
    braid::memory_hooks hooks() {
        return {.allocate = &allocate, .release = &release, .user = this};
    }
    void close() { closed_ = true; }
    void open() {
        closed_ = false;
        opened_.open();
    }
    void await_one_inside() { inside_.pass(); }

private:
    static void* allocate(void* user, std::size_t bytes, std::size_t alignment,
                          braid::memory_tag tag) {
        auto& self = *static_cast<closed_memory*>(user);
        if (tag == braid::memory_tag::worker && self.closed_) {
            self.inside_.open();
            self.opened_.pass();
        }
        return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
    }
    static void release(void*, void* p, std::size_t, std::size_t alignment, braid::memory_tag) {
        ::operator delete(p, std::align_val_t{alignment});
    }

    std::atomic<bool> closed_{false};
    braid_test::door inside_, opened_;
};

/// Ten calls from a foreign thread while `holds` stands in the closed memory. On a thread of its
/// own: one that blocks here would never return.
template <class Holds>
void post_beside(int workers, Holds&& holds) {
    closed_memory memory;
    braid::scheduler s(
        {.workers = workers, .max_workers = workers + 1, .guests = 2, .memory = memory.hooks()});
    std::atomic<std::uint64_t> ran{0};
    std::atomic<int> results{0};
    memory.close();
    std::thread holder([&] { holds(s); });
    memory.await_one_inside();
    std::thread([&] {
        for (int i = 0; i < 10; ++i) results += s.try_post(&count, &ran);
    }).join();
    EXPECT_EQ(results, 10);
    memory.open();
    holder.join();
    s.shut_down();
    EXPECT_EQ(ran, 10U);
}

// What another thread could hold while this one is an audio callback: the locks of seats and
// workers, of guests, of reserves.
TEST_P(TryPost, WaitsForNoThreadThatStartsAnother) {
    post_beside(GetParam(), [](braid::scheduler& s) {
        s.set_worker_count(static_cast<unsigned>(GetParam()) + 1);
    });
}

TEST_P(TryPost, WaitsForNoThreadThatTakesAReserve) {
    post_beside(GetParam(), [](braid::scheduler& s) {
        const braid::task_id blocks = s.spawn([&] { s.blocking([] {}); });
        if (GetParam() == 0) s.wait(blocks);
    });
}

TEST_P(TryPost, WaitsForNoThreadThatLeasesASeat) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> ran{0};
    std::atomic<int> results{0};
    {
        const std::scoped_lock held(s.internals().without_seat().lock);
        std::thread([&] {
            for (int i = 0; i < 10; ++i) results += s.try_post(&count, &ran);
        }).join();
    }
    EXPECT_EQ(results, 10);
    s.shut_down();
    EXPECT_EQ(ran, 10U);
}

TEST_P(TryPost, ManyThreadsAtOnceLoseNothing) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> ran{0}, posted{0};
    std::vector<std::thread> threads;
    std::atomic<int> busy{4};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < braid_test::scaled(5000); ++i) {
                posted += s.try_post(&count, &ran);
            }
            --busy;
        });
    }
    for (auto& t : threads) t.join();
    s.shut_down();
    EXPECT_EQ(ran, posted);
    EXPECT_GT(posted, 0U);
    expect_all_ended(s);
}

}  // namespace
