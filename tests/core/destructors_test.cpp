// What the destructor of each object does with work that is open, left by the end of a block or by
// an exception: the table of docs/manual/failures.md. Scopes have tests of their own.
#include "scheduler_test.hpp"

#include <braid/async.hpp>
#include <braid/async/message_source.hpp>
#include <braid/async/timer.hpp>
#include <braid/device.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

using braid::task_state;

struct leaving : std::exception {};

class Destructors : public braid_test::scheduler_test {
protected:
    /// Calls `test` twice, for the two ways in which block() is left.
    template <class Test>
    void both_ways(Test&& test) {
        for (const bool throws : {false, true}) {
            SCOPED_TRACE(throws ? "left by an exception" : "left at its end");
            throws_ = throws;
            leaves_ = false;
            test();
        }
    }
    /// Calls `objects`, which makes some and calls leave() at its end.
    template <class Objects>
    void block(Objects&& objects) {
        try {
            objects();
            EXPECT_FALSE(throws_);
        } catch (const leaving&) {
            EXPECT_TRUE(throws_);
        }
    }
    void leave() {
        leaves_ = true;
        if (throws_) throw leaving{};
    }
    /// Calls `open` on a thread of its own when the block is being left.
    std::thread when_left(std::function<void()> open) {
        return std::thread([this, open = std::move(open)] {
            while (!leaves_) std::this_thread::yield();
            open();
        });
    }
    static void until(braid::scheduler& s, const std::function<bool()>& condition) {
        while (!condition()) {
            braid::event never(s);
            s.do_work_while_waiting_for(never, braid::microseconds(50));
        }
    }
    bool throws_ = false;
    std::atomic<bool> leaves_{false};
};

TEST_P(Destructors, ABuilderCancelsWhatHasNotStartedAndLetsItComplete) {
    both_ways([&] {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        std::atomic<int> ran{0};
        braid::task_id id;
        block([&] {
            auto building = s.begin({.after = {gate.id()}}, [&ran] { ++ran; });
            id = building.id();
            leave();
        });
        gate.finish();
        until(s, [&] { return s.done(id); });
        EXPECT_EQ(s.state(id), task_state::cancelled);
        EXPECT_EQ(ran, 0);
    });
}

TEST_P(Destructors, AFutureLetsItsTaskRunOnAndItsFailureGoesToTheHandler) {
    std::weak_ptr<int> value;
    both_ways([&] {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        auto kept = std::make_shared<int>(1);
        value = kept;
        std::atomic<int> ran{0};
        block([&] {
            auto well = s.async({.after = {gate.id()}}, [&ran, k = std::move(kept)] {
                ++ran;
                return k;
            });
            auto fails = s.async({.name = "fails", .after = {gate.id()}}, [&ran]() -> int {
                ++ran;
                throw std::runtime_error("disk");
            });
            leave();
        });
        EXPECT_EQ(ran, 0) << "the destructor does not wait";
        gate.finish();
        s.shut_down();
        EXPECT_EQ(ran, 2);
        EXPECT_EQ(notes_.count(&braid_test::recorder::lost, "fails"), 1U);
        notes_.lost.clear();
    });
    EXPECT_TRUE(value.expired());
}

TEST_P(Destructors, AGraphWaitsForItsRunAndItsFailureGoesToTheHandler) {
    both_ways([&] {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        const braid::task_id before = gate.id();
        std::atomic<int> ran{0};
        std::thread opens = when_left([&gate] { gate.finish(); });
        block([&] {
            braid::graph g(s);
            g.add([&ran] { ++ran; });
            g.add([&ran] {
                ++ran;
                throw std::runtime_error("disk");
            });
            EXPECT_TRUE(g.run({.after = {before}}));
            leave();
        });
        EXPECT_EQ(ran, 2);
        opens.join();
        s.shut_down();
        EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 1U);
        notes_.lost.clear();
    });
}

struct slow_job {
    braid::scheduler& s;
    braid::event& open;
    std::atomic<int> ran{0};
    static void run(void* data) {
        auto& self = *static_cast<slow_job*>(data);
        self.s.do_work_while_waiting_for(self.open);
        ++self.ran;
    }
};

TEST_P(Destructors, AManagerOfJobListsWaitsForWhatWasSubmitted) {
    both_ways([&] {
        braid::scheduler s(options());
        braid::event open(s, braid::reset::manual);
        slow_job job{s, open};
        std::thread opens = when_left([&open] { open.set(); });
        block([&] {
            braid::job_list_manager lists(s);
            EXPECT_TRUE(lists.register_job(&slow_job::run, "slow"));
            braid::job_list* const list = lists.allocate({.name = "list", .max_jobs = 10});
            for (int i = 0; i < 10; ++i) EXPECT_TRUE(list->add(&slow_job::run, &job));
            EXPECT_TRUE(list->submit());
            leave();
        });
        EXPECT_EQ(job.ran, 10);
        opens.join();
    });
}

TEST_P(Destructors, AQueueRunsWhatWasPushed) {
    both_ways([&] {
        braid::scheduler s(options());
        std::atomic<int> ran{0};
        block([&] {
            braid::queue q(s, {.name = "files", .threads = 1});
            for (int i = 0; i < 50; ++i) EXPECT_TRUE(q.push([&ran] { ++ran; }));
            leave();
        });
        EXPECT_EQ(ran, 50);
    });
}

TEST_P(Destructors, AChannelIsClosedAndWhatIsInItEnds) {
    both_ways([&] {
        braid::scheduler s(options());
        const auto item = std::make_shared<int>(1);
        braid::future<bool> waits;
        const auto pops = [](braid::channel<int>& from) -> braid::co<bool> {
            try {
                co_await from.pop();
            } catch (const braid::channel_closed&) {
                co_return true;
            }
            co_return false;
        };
        block([&] {
            braid::channel<std::shared_ptr<int>> full(s, {.capacity = 4});
            EXPECT_TRUE(full.try_push(std::shared_ptr<int>(item)));
            braid::channel<int> empty(s, {.capacity = 4});
            waits = braid::co_spawn(s, {}, pops(empty));
            until(s, [&] { return s.statistics().suspensions != 0; });
            leave();
        });
        EXPECT_EQ(item.use_count(), 1);
        EXPECT_TRUE(waits.get());
    });
}

TEST_P(Destructors, ATimerWaitsForItsTickAndComesNoMore) {
    both_ways([&] {
        braid::scheduler s(options());
        braid::event open(s, braid::reset::manual);
        std::atomic<int> begun{0}, ended{0};
        std::thread opens = when_left([&open] { open.set(); });
        block([&] {
            braid::timer beat(s, {.every = braid::microseconds(100)},
                              [&](const braid::timer_tick&) {
                                  ++begun;
                                  s.do_work_while_waiting_for(open);
                                  ++ended;
                              });
            // Without help: a tick that this thread ran would keep it here.
            while (GetParam() != 0 && begun == 0) std::this_thread::yield();
            leave();
        });
        EXPECT_EQ(begun, ended);
        const int at_end = ended;
        opens.join();
        s.shut_down();
        EXPECT_EQ(ended, at_end);
    });
}

TEST_P(Destructors, AMessageSourceServesWhatWasPushed) {
    both_ways([&] {
        braid::scheduler s(options());
        std::atomic<int> served{0};
        block([&] {
            braid::message_source<int> log(s, {.name = "log"}, [&served](int&) { ++served; });
            for (int i = 0; i < 20; ++i) EXPECT_TRUE(log.push(i));
            leave();
        });
        EXPECT_EQ(served, 20);
    });
}

TEST_P(Destructors, ACoroutineThatNeverRanEndsWithItsParameters) {
    both_ways([&] {
        const auto item = std::make_shared<int>(1);
        const auto body = [](std::shared_ptr<int> p) -> braid::co<int> { co_return *p; };
        block([&] {
            const braid::co<int> never = body(item);
            EXPECT_EQ(item.use_count(), 2);
            leave();
        });
        EXPECT_EQ(item.use_count(), 1);
    });
}

TEST_P(Destructors, AFrameLoopAndItsStagesWaitForTheFramesInFlight) {
    both_ways([&] {
        braid::scheduler s(options());
        braid::event open(s, braid::reset::manual);
        std::atomic<int> ended{0};
        std::thread opens = when_left([&open] { open.set(); });
        block([&] {
            braid::frame_loop loop(s, {.depth = 2});
            braid::frame_stage stage(loop, {.name = "stage"});
            stage.add([&] {
                s.do_work_while_waiting_for(open);
                ++ended;
            });
            EXPECT_EQ(loop.advance(), 1U);
            EXPECT_EQ(loop.advance(), 2U);
            leave();
        });
        EXPECT_EQ(ended, 2);
        opens.join();
    });
}

std::atomic<int> groups_run{0};
constexpr braid::device::kernel counts_groups{"counts groups",
                                              [](const braid::device::group&) { ++groups_run; }};

TEST_P(Destructors, ABufferGoesWithItsProcessorWhenTheSubmissionInFlightHasEnded) {
    both_ways([&] {
        braid::scheduler s(options());
        groups_run = 0;
        block([&] {
            braid::device::fake gpu(s, {.latency = braid::microseconds(100)});
            const braid::device::buffer numbers = gpu.buffer({.name = "numbers", .bytes = 64});
            s.spawn([&](braid::task_context& task) {
                EXPECT_TRUE(gpu.submit(
                    task, {.kernel = counts_groups, .writes = {numbers}, .groups = {3}}));
            });
            until(s, [&] { return gpu.report().in_flight + gpu.report().completed != 0; });
            leave();
        });
        EXPECT_EQ(groups_run, 3);
        EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
    });
}

TEST_P(Destructors, ASequenceInFlightIsReportedAndItsStepsStayUntilTheEnd) {
    both_ways([&] {
        braid::scheduler s(options());
        braid::device::fake gpu(s, {.hang = 1}, {.hang_after = braid::no_limit});
        braid::scope level(s);
        block([&] {
            braid::device::sequence steps(gpu);
            EXPECT_TRUE(steps.add({.kernel = counts_groups}));
            level.spawn({},
                        [&](braid::task_context& task) { EXPECT_TRUE(gpu.submit(task, steps)); });
            until(s, [&] { return gpu.report().in_flight == 1; });
            leave();
        });
        EXPECT_EQ(gpu.report().in_flight, 1U);
        level.cancel();
        level.wait();
        EXPECT_EQ(gpu.report().cancelled, 1U);
    });
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a sequence stays as it is"), 2U);
}

TEST_P(Destructors, ASchedulerDrains) {
    std::atomic<int> ran{0};
    both_ways([&] {
        ran = 0;
        block([&] {
            braid::scheduler s(options());
            for (int i = 0; i < 100; ++i) {
                s.spawn([&](braid::task_context& task) {
                    ++ran;
                    task.post([&ran] { ++ran; });
                });
            }
            leave();
        });
        EXPECT_EQ(ran, 200);
    });
}

INSTANTIATE_TEST_SUITE_P(Workers, Destructors, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

}  // namespace
