// A node of a frame that hands its work to a processor: the frame goes on when that is done, and no
// thread waits. The processor fails now and then, as such things do; the frames are all right.
#include <braid/braid.hpp>
#include <braid/device.hpp>
#include <braid/graph/graph.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace {

constexpr std::uint32_t groups = 16, per_group = 64;

// Moves the vertices of one group.
void skin_group(const braid::device::group& g) {
    const auto time = g.constants<float>();
    const std::span<const float> rest = g.read<float>(0);
    const std::span<float> out = g.write<float>(0);
    for (std::size_t i = std::size_t{g.x()} * per_group; i < (g.x() + 1UL) * per_group; ++i) {
        out[i] = rest[i] + time;
    }
}

}  // namespace

int main() {
    braid::scheduler scheduler;
    braid::device::fake gpu(scheduler,
                            {.seed = 7,
                             .latency = braid::microseconds(100),
                             .jitter = braid::microseconds(50),
                             .out_of_memory = 0.1,
                             .loss = 0.05},
                            {.name = "gpu", .back_off = braid::microseconds(200)});
    const braid::device::kernel skin{"skin", &skin_group};

    std::array<float, std::size_t{groups} * per_group> rest{}, posed{};
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = static_cast<float>(i);

    bool right = true;
    float time = 0;
    braid::graph frame(scheduler, "frame");
    const auto skinning = frame.add({.name = "skinning"}, [&](braid::task_context& task) {
        gpu.submit(task, {.kernel = skin,
                          .reads = {std::span<const float>(rest)},
                          .writes = {std::span(posed)},
                          .groups = {groups},
                          .constants = braid::device::bytes_of(time),
                          .retry = 10,
                          .idempotent = true});
    });
    const auto draw = frame.add({.name = "draw"}, [&] {
        for (std::size_t i = 0; i < rest.size(); ++i) right = right && posed[i] == rest[i] + time;
    });
    frame.precede(skinning, draw);
    for (int i = 0; i < 100; ++i) {
        time = static_cast<float>(i);
        frame.run_and_wait();
    }
    const braid::device::processor_report r = gpu.report();
    std::printf("100 frames: %llu on the processor, %llu on the cores; %llu losses\n",
                static_cast<unsigned long long>(r.completed),
                static_cast<unsigned long long>(r.moved_to_cores),
                static_cast<unsigned long long>(r.losses));
    return right && r.completed + r.moved_to_cores == 100 ? EXIT_SUCCESS : EXIT_FAILURE;
}
