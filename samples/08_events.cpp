// A thread that waits for an event keeps its core busy with other work meanwhile.
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>
#include <thread>

int main() {
    braid::scheduler scheduler;
    braid::event loaded(scheduler);
    std::atomic<int> particles{0};
    for (int i = 0; i < 100; ++i) scheduler.post([&particles] { ++particles; });

    std::thread disk([&loaded] { loaded.set(); });  // any thread may set it
    scheduler.do_work_while_waiting_for(loaded);
    disk.join();

    braid::event never(scheduler);
    const bool came = scheduler.do_work_while_waiting_for(never, braid::milliseconds(1));
    scheduler.shut_down();
    std::printf("loaded; %d particles; the other event %s\n", particles.load(),
                came ? "came" : "did not come in time");
    return !came && particles == 100 ? 0 : 1;
}
