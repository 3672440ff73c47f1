// A program without any wait: the last task of a frame spawns the next one, and the main thread
// is just one more worker.
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>

namespace {

struct game {
    braid::scheduler& scheduler;
    braid::event& quit;
    int frame = 0;
    std::atomic<int> drawn{0};

    void next_frame() {
        auto update = scheduler.spawn({.name = "update"}, [this] { ++frame; });
        auto draw = scheduler.spawn_batch({.name = "draw", .after = {update}}, 8,
                                          [this](std::size_t) { ++drawn; });
        scheduler.spawn({.name = "end of frame", .after = {draw}},
                        [this] { frame == 100 ? quit.set() : next_frame(); });
    }
};

}  // namespace

int main() {
    braid::scheduler scheduler;
    braid::event quit(scheduler);
    game g{scheduler, quit};
    g.next_frame();
    scheduler.work_until(quit);
    std::printf("%d frames, %d draws\n", g.frame, g.drawn.load());
    return g.drawn == 800 ? 0 : 1;
}
