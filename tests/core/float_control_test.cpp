// C32: callbacks around each thread, and one rounding mode for every task on every thread.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join/join.hpp>

#include <cfenv>
#include <map>

namespace {

/// The calling thread rounds that way for the life of this object.
class rounding {
public:
    explicit rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
    ~rounding() { std::fesetround(before_); }
    rounding(const rounding&) = delete;
    rounding& operator=(const rounding&) = delete;

private:
    int before_;
};

BRAID_SCHEDULER_TEST(FloatControl);

TEST_P(FloatControl, OfEveryThreadIsTheCreators) {
    const rounding downward(FE_DOWNWARD);
    braid::scheduler s(options());
    std::atomic<int> wrong{0};
    const auto look = [&] { wrong += std::fegetround() != FE_DOWNWARD; };
    braid::scope all(s);
    for (int i = 0; i < 200; ++i) all.post(look);
    for (unsigned i = 0; i < s.worker_count(); ++i) all.spawn({.on = s.worker_thread(i)}, look);
    all.spawn({.runs_as = braid::task_class::background}, look);
    for (int i = 0; i < 5; ++i) {  // waits that make reserves run tasks
        all.spawn({}, [&](braid::task_context& task) {
            task.wait(task.spawn(look), braid::help::none);
            look();
        });
    }
    all.wait();
    braid::queue q(s);
    q.push(look);
    q.drain();
    EXPECT_EQ(wrong, 0);
}

TEST_P(FloatControl, OfAHelperIsTheCreatorsWhileItHelpsAndItsOwnAfterwards) {
    braid::scheduler s(options());
    s.set_worker_count(0);
    std::atomic<int> wrong{0};
    const auto look = [&] { wrong += std::fegetround() != FE_TONEAREST; };
    const auto help = [&] {
        const rounding upward(FE_UPWARD);
        s.wait(s.spawn(look));
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
        braid::event stop(s);
        s.post([&] {
            look();
            stop.set();
        });
        s.work_until(stop);
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
        braid::fork_join(s, "look", look);
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
    };
    help();                    // a main thread
    std::thread(help).join();  // a foreign one
    EXPECT_EQ(wrong, 0);
}

struct callbacks {
    std::mutex mutex;
    std::map<std::string, int> started, stopped;
    std::map<std::thread::id, std::string> names;
    bool wrong_thread = false;

    braid::thread_callbacks options() {
        return {.started =
                    [](void* user, const char* name) {
                        auto& self = *static_cast<callbacks*>(user);
                        const std::lock_guard lock(self.mutex);
                        ++self.started[name];
                        self.names[std::this_thread::get_id()] = name;
                    },
                .stopping =
                    [](void* user, const char* name) {
                        auto& self = *static_cast<callbacks*>(user);
                        const std::lock_guard lock(self.mutex);
                        ++self.stopped[name];
                        self.wrong_thread |= self.names[std::this_thread::get_id()] != name;
                    },
                .user = this};
    }
};

BRAID_SCHEDULER_TEST(ThreadCallbacks);

TEST_P(ThreadCallbacks, AreCalledOnceOnEachThreadFirstAndLast) {
    callbacks seen;
    std::atomic<int> unknown{0};
    {
        braid::scheduler_options o = options();
        o.threads = seen.options();
        braid::scheduler s(o);
        const std::thread::id me = std::this_thread::get_id();
        const auto look = [&] {
            const std::lock_guard lock(seen.mutex);
            unknown += std::this_thread::get_id() != me &&
                       seen.names.count(std::this_thread::get_id()) == 0;
        };
        braid::scope all(s);
        for (unsigned i = 0; i < s.worker_count(); ++i) {
            all.spawn({.on = s.worker_thread(i)}, look);
        }
        all.spawn({.runs_as = braid::task_class::background}, look);
        all.spawn(
            {}, [&](braid::task_context& task) { task.wait(task.spawn(look), braid::help::none); });
        all.wait();
        braid::queue q(s, {.name = "stream"});
        q.push(look);
        q.drain();
    }
    EXPECT_EQ(unknown, 0);
    EXPECT_EQ(seen.started, seen.stopped);
    EXPECT_FALSE(seen.wrong_thread);
    EXPECT_EQ(seen.started.count("background 0"), 1U);
    EXPECT_EQ(seen.started.count("stream"), 1U);
    for (int i = 0; i < GetParam(); ++i) EXPECT_EQ(seen.started["worker " + std::to_string(i)], 1);
}

}  // namespace
