// Programs that hang without a circle that a look can prove: what the log says of them.
#include "deadlocks.hpp"
#include "scheduler_test.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using braid::task_id;
using braid_test::door;

/// What a warning has to say; the process ends with the first that says all of it.
const std::vector<std::string>* wanted = nullptr;

void compare(void*, braid::log_level, const char* message) {
    const std::string text = message;
    std::fprintf(stderr, "%s\n", message);
    for (const std::string& part : *wanted) {
        if (text.find(part) == std::string::npos) return;
    }
    std::_Exit(0);
}

class Hang : public testing::TestWithParam<int> {
protected:
    Hang() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// `scene(scheduler)` never returns.
    template <class Scene>
    void expect_warning(const std::vector<std::string>& parts, Scene&& scene) {
        const auto play = [&] {
            const braid_test::deadline guard;
            wanted = &parts;
            braid::scheduler_options o;
            o.name = "scene";
            o.workers = GetParam();
            o.main_threads = 3;
            o.long_task = braid::nanoseconds(0);
            o.log = {&compare, nullptr};
            o.deadlock.after = braid::milliseconds(1);
            braid::scheduler s(o);
            scene(s);
            std::_Exit(2);
        };
        EXPECT_EXIT(play(), testing::ExitedWithCode(0), braid_test::says(parts[0].c_str()));
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Hang, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(Hang, OfTwoThreadsWhoseWorkNeedsEachOtherSaysWhoAloneMayRunIt) {
    const auto ready = [](const std::string& own, const std::string& awaited) {
        return "'for " + own + "' is ready, and no thread has begun with it: only the thread '" +
               own + "' may run it, and '" + own + "' waits for 'for " + awaited + "'";
    };
    expect_warning({"scene: nothing goes on: every thread sleeps, and 2 tasks have not ended: ",
                    ready("left", "right"), ready("right", "left"),
                    ". Each of these tasks waits for another one."},
                   [](braid::scheduler& s) {
                       door here[2], given;
                       braid::thread_ref refs[2];
                       task_id work[2];
                       const auto runs = [&](int own, const char* name) {
                           const braid::main_thread part(s, name);
                           refs[own] = part.ref();
                           here[own].open();
                           given.pass();
                           s.wait(work[1 - own]);
                       };
                       std::thread left(runs, 0, "left"), right(runs, 1, "right");
                       here[0].pass();
                       here[1].pass();
                       work[0] = s.spawn({.name = "for left", .on = refs[0]}, [] {});
                       work[1] = s.spawn({.name = "for right", .on = refs[1]}, [] {});
                       given.open();
                       s.wait(work[0]);
                       left.join();
                       right.join();
                   });
}

TEST_P(Hang, OfAllWhoHoldAResourceOfTwoNamesTheHolders) {
    expect_warning({"scene: nothing goes on: every thread sleeps, and 4 tasks have not ended: ",
                    "'a' waits for 'of a'", "'b' waits for 'of b'",
                    "'of a' waits in line for the resource 'file', held by '",
                    "'of b' waits in line for the resource 'file', held by '",
                    ". Each of these tasks waits for another one."},
                   [](braid::scheduler& s) {
                       braid::resource file(s, "file", 2);
                       std::atomic<int> inside{0};
                       const auto task = [&](const char* name, const char* needed) {
                           return s.spawn({.name = name, .uses = {&file}}, [&, needed] {
                               ++inside;
                               while (inside != 2) std::this_thread::yield();
                               s.wait(s.spawn({.name = needed, .uses = {&file}}, [] {}));
                           });
                       };
                       const task_id a = task("a", "of a"), b = task("b", "of b");
                       std::thread waits([&] { s.wait(b); });
                       s.wait(a);
                       waits.join();
                   });
}

TEST_P(Hang, OfABuilderWhoseTaskHasRunNamesFinish) {
    expect_warning(
        {"scene: nothing goes on: every thread sleeps, and 1 task has not ended: 'half' has run, "
         "and is "
         "complete after finish(), which was not called yet. Unless a thread outside the scheduler "
         "ends that, nothing will."},
        [](braid::scheduler& s) {
            braid::task_builder half = s.begin({.name = "half"}, [] {});
            s.wait(half.id());
            half.finish();
        });
}

TEST_P(Hang, OfADestructorThatWaitsNamesTheEvent) {
    expect_warning(
        {"scene: nothing goes on: every thread sleeps, and 1 task has not ended: 'holder' "
         "waits for the event 'never'."},
        [](braid::scheduler& s) {
            braid::event never(s, "never");
            struct waits_at_the_end {
                braid::scheduler& s;
                braid::event* e;
                waits_at_the_end(braid::scheduler& in, braid::event* until) : s(in), e(until) {}
                waits_at_the_end(waits_at_the_end&& from) noexcept
                    : s(from.s), e(std::exchange(from.e, nullptr)) {}
                ~waits_at_the_end() {
                    if (e != nullptr) s.do_work_while_waiting_for(*e);
                }
            };
            s.wait(s.spawn({.name = "holder"}, [held = waits_at_the_end(s, &never)] {}));
        });
}

}  // namespace
