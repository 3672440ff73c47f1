// Threads of the program take part under a name, and work can be meant for one of them alone.
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>
#include <thread>

int main() {
    // The constructing thread is "update"; the other main thread registers itself.
    braid::scheduler scheduler({.main_threads = 2, .main_thread = "update"});
    braid::event quit(scheduler);
    std::atomic<braid::thread_ref> ref;
    std::thread renderer([&] {
        const braid::main_thread self(scheduler, "render");
        ref = self.ref();
        scheduler.work_until(quit);
    });
    while (!ref.load()) std::this_thread::yield();

    const braid::thread_ref render = ref;
    bool there = false;
    auto present = scheduler.spawn({.name = "present", .on = render},
                                   [&] { there = scheduler.this_thread() == render; });
    scheduler.wait(present);
    quit.set();
    renderer.join();
    std::printf("presented %s\n", there ? "on the render thread" : "elsewhere");
    return there ? 0 : 1;
}
