// Hot reloading: the function that moves the ball lies in a module, which is built anew and loaded
// while this program runs: sample_19_hot_reload [SECONDS], and see 19_hot_reload/game.cpp.
#include "19_hot_reload/game.hpp"

#include <braid/braid.hpp>
#include <braid/reload/function.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace reload = braid::reload;

// Runs while no valid module is loaded.
void rest(ball&, float) {}

int main(int count, char** arguments) {
    const int seconds = count > 1 ? std::atoi(arguments[1]) : 0;
    braid::scheduler scheduler;
    reload::modules modules(scheduler);
    reload::module& game = modules.add({.name = "game", .path = SAMPLE_GAME});
    const reload::function<void(ball&, float)> simulate(game, "simulate", rest);

    modules.check_now();  // or the ball rests until a background task has loaded the module
    ball b;
    for (int frame = 0; frame <= 60 * seconds; ++frame) {
        if (const reload::outcome went = modules.at_frame_boundary()) std::puts(went.text());
        simulate(b, 1.0f / 60);
        if (frame % 60 == 0) std::printf("height %.2f\n", static_cast<double>(b.height));
        if (seconds > 0) std::this_thread::sleep_for(std::chrono::milliseconds(16));
    }
    return game.loaded() && b.height < 10 ? 0 : 1;
}
