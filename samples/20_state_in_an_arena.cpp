// State that survives a changed layout: the module keeps its ants in the host's arena, and code in
// which an ant has other fields goes on with them. See 20_state_in_an_arena/colony.cpp.
#include <braid/braid.hpp>
#include <braid/reload/arena.hpp>
#include <braid/reload/function.hpp>
#include <braid/reload/publish.hpp>

#include <cstdio>
#include <filesystem>
#include <string>

namespace reload = braid::reload;

// Run while no valid module is loaded.
void rest(reload::arena&) {}
long nobody(reload::arena&) { return 0; }
float nothing(reload::arena&) { return 0; }

int main() {
    // A build puts its module there, in one step.
    const std::string live = SAMPLE_FOLDER "/libcolony.so";
    std::filesystem::create_directories(SAMPLE_FOLDER);
    if (!reload::publish(SAMPLE_MORNING, live)) return 1;

    braid::scheduler scheduler;
    reload::modules modules(scheduler, {.watch = false});
    reload::arena state(modules);
    reload::module& colony = modules.add({.name = "colony", .path = live});
    const reload::function<void(reload::arena&)> step(colony, "step", rest);
    const reload::function<long(reload::arena&)> steps(colony, "steps", nobody);
    const reload::function<float(reload::arena&)> energy(colony, "energy", nothing);

    modules.check_now();
    for (int frame = 0; frame < 6; ++frame) {
        if (frame == 3) {
            if (!reload::publish(SAMPLE_AFTERNOON, live)) return 1;
            modules.check_now();  // a host that watches finds it by itself
        }
        if (const reload::outcome went = modules.at_frame_boundary()) std::puts(went.text());
        step(state);
        std::printf("frame %d: %ld steps, energy %.0f\n", frame, steps(state),
                    static_cast<double>(energy(state)));
    }
    return steps(state) == 6 && energy(state) == 500 ? 0 : 1;
}
