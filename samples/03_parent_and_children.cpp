// A task is complete when its own work and all its children are.
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>

int main() {
    braid::scheduler scheduler;
    std::atomic<int> rays{0};
    auto trace = scheduler.spawn({.name = "trace"}, [&](braid::task_context& task) {
        for (int tile = 0; tile < 4; ++tile) {
            task.spawn_child([&](braid::task_context& child) {
                for (int i = 0; i < 100; ++i) child.spawn_child([&rays] { ++rays; });
            });
        }
        // Returns at once; the task stays open until the last ray.
    });
    scheduler.wait(trace);

    // Two-phase building: children and predecessors are added until finish().
    auto frame = scheduler.begin({.name = "frame"}, braid::empty);
    frame.add_dependency(trace);
    for (int i = 0; i < 3; ++i) frame.add_child([&rays] { ++rays; });
    scheduler.wait(frame.finish());
    std::printf("%d rays\n", rays.load());
    return rays == 403 ? 0 : 1;
}
