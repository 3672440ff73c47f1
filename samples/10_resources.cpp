// A task that needs something exclusive waits for it without holding a thread.
#include <braid/braid.hpp>

#include <cstdio>

int main() {
    braid::scheduler scheduler;
    braid::resource device(scheduler, "sound device");
    braid::resource decoders(scheduler, "decoders", 2);  // two at a time
    braid::scope frame(scheduler);
    int mixed = 0;  // needs no atomic: only the holder of the device touches it
    for (int voice = 0; voice < 64; ++voice) {
        frame.spawn({.name = "mix", .uses = {&device, &decoders}}, [&mixed] { ++mixed; });
    }
    frame.wait();
    std::printf("%d voices\n", mixed);
    return mixed == 64 ? 0 : 1;
}
