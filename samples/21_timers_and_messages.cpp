// Timers make tasks at their moments, and messages make them when they come. Nobody waits in
// between.
#include <braid/async/message_source.hpp>
#include <braid/async/timer.hpp>
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>
#include <span>

int main() {
    braid::scheduler scheduler;
    braid::event enough(scheduler);
    std::atomic<int> sum{0};

    // Served in order, some at a time, never two tasks at once.
    braid::message_source<int> readings(scheduler, {.name = "readings", .batch = 8},
                                        [&](std::span<int> some) {
                                            for (const int one : some) sum += one;
                                            if (sum >= 10) enough.set();
                                        });

    // Every 2 ms, on a grid: a tick that is late moves no other one.
    braid::timer sensor(
        scheduler, {.name = "sensor", .every = braid::milliseconds(2)},
        [&](const braid::timer_tick& tick) { readings.push(static_cast<int>(1 + tick.missed)); });

    // Not needed in the end. With slack it may come together with others, at one wake-up.
    braid::timer too_late(
        scheduler, {.name = "too late", .in = braid::seconds(20), .slack = braid::seconds(1)},
        [] { std::puts("ten readings took too long"); });

    scheduler.do_work_while_waiting_for(enough);
    sensor.cancel();
    std::printf("%d readings or more, %s\n", 10, too_late.cancel() ? "in time" : "late");
    return sum >= 10 ? 0 : 1;
}
