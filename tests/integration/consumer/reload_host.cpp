// Ends well when both builds of the module have run: GAME_VALUE 1, and then 2.
#include "reload_state.hpp"

#include <braid/braid.hpp>
#include <braid/reload/function.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace reload = braid::reload;

int main() {
    braid::scheduler scheduler;
    reload::modules modules(scheduler);
    reload::module& game = modules.add({.name = "game", .path = CONSUMER_LIVE});
    const reload::function<int(counted&)> step(game, "step", [](counted&) { return 0; });
    counted state;
    int seen = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(600);
    while (std::chrono::steady_clock::now() < deadline) {
        if (const reload::outcome went = modules.at_frame_boundary()) std::puts(went.text());
        const int value = step(state);
        if (value != seen) std::printf("frame %d: build %d\n", state.frames, value);
        std::fflush(stdout);
        if (value == 2) return seen == 1 && state.frames > 1 ? 0 : 1;
        seen = value;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::puts("no second build has come");
    return 1;
}
