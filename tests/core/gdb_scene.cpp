// A scheduler in the middle of things, for gdb_test.cpp: gdb runs this program and stops it.
#include "scale.hpp"

#include <braid/braid.hpp>

#include <atomic>
#include <cstdint>

/// gdb stops here; by then the scene is set.
extern "C" void braid_test_scene_is_set();
extern "C" __attribute__((noinline)) void braid_test_scene_is_set() { asm volatile(""); }

int main() {
    braid::scheduler s({.name = "engine", .workers = 2, .max_reserves = 4});
    braid_test::door held, go;
    const braid::task_id stream = s.spawn({.name = "stream level", .on = s.worker_thread(0)}, [&] {
        held.open();
        go.pass();
    });
    held.pass();
    const braid::task_id animate = s.spawn(
        {.name = "animate", .after = {stream}, .priority = braid::priority_level::high}, [] {});
    auto frame = s.begin({.name = "frame"}, braid::empty);
    frame.add_child({.name = "skin", .after = {animate}}, [] {});
    const braid::task_id whole = frame.finish();
    std::atomic<bool> deferred{false};
    braid::completion_id disk;
    const braid::task_id load =
        s.spawn({.name = "load", .on = s.worker_thread(1)}, [&](braid::task_context& task) {
            disk = task.defer({.name = "disk"});
            deferred = true;
        });
    braid_test::until([&] { return deferred.load(); });
    // The worker may have slept before: the sleep meant here comes after the task has begun.
    std::atomic<std::uint64_t> sleeps_before{UINT64_MAX};
    const auto sleeps = [&] { return s.statistics(s.worker_thread(1).seat).parks; };
    const braid::task_id waits =
        s.spawn({.name = "present", .on = s.worker_thread(1)}, [&](braid::task_context& task) {
            sleeps_before = sleeps();
            task.wait(whole);
        });
    braid_test::until([&] { return sleeps_before != UINT64_MAX && sleeps() > sleeps_before; });
    braid_test_scene_is_set();
    s.complete(disk);
    go.open();
    s.wait(load);
    s.wait(waits);
    return 0;
}
