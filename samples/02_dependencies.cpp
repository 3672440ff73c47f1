// Edges say when a task may start: after some, after many, after however it ended.
#include <braid/braid.hpp>

#include <cstdio>
#include <vector>

int main() {
    braid::scheduler scheduler;
    auto input = scheduler.spawn({.name = "input"}, [] { std::puts("read input"); });

    int positions[8] = {};
    std::vector<braid::task_id> moves;
    for (int& position : positions) {
        moves.push_back(scheduler.spawn({.name = "move", .after = {input}}, [&] { position = 1; }));
    }
    // A join: complete when all of them are. What they wrote is visible behind it.
    auto moved = scheduler.spawn({.after_all = moves}, braid::empty);
    int sum = 0;
    auto draw = scheduler.spawn({.name = "draw", .after = {moved}}, [&] {
        for (const int position : positions) sum += position;
    });
    // "Finally": starts also when `draw` failed or was cancelled.
    auto unlock = scheduler.spawn({.after_any = {draw}}, [] { std::puts("unlock the buffer"); });
    scheduler.wait(unlock);
    std::printf("%d of 8 moved\n", sum);
    return sum == 8 ? 0 : 1;
}
