// Threads of the program take part under a name, and work can be meant for one of them alone.
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>
#include <thread>

int main() {
    // The constructing thread is "update"; the other main thread registers itself.
    braid::scheduler scheduler({.main_threads = 2, .main_thread = "update"});
    braid::event quit(scheduler);
    std::atomic<unsigned> seat{UINT16_MAX};
    std::thread renderer([&] {
        const braid::main_thread self(scheduler, "render");
        seat = self.ref().seat;
        scheduler.work_until(quit);
    });
    while (seat == UINT16_MAX) std::this_thread::yield();

    const braid::thread_ref render{static_cast<std::uint16_t>(seat)};
    bool there = false;
    auto present = scheduler.spawn({.name = "present", .on = render},
                                   [&] { there = scheduler.this_thread() == render; });
    scheduler.wait(present);
    quit.set();
    renderer.join();
    std::printf("presented %s\n", there ? "on the render thread" : "elsewhere");
    return there ? 0 : 1;
}
