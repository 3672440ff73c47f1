// A frame loop: it announces its next frame, and its loops find the workers awake.
#include <braid/braid.hpp>
#include <braid/fork_join.hpp>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    braid::scheduler scheduler;
    std::vector<float> heights(100'000, 1.0F);
    float sum = 0;
    for (int frame = 0; frame < 3; ++frame) {
        const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(4);
        braid::parallel_for(scheduler, heights.size(), [&](std::size_t i) { heights[i] += 1; });
        sum = braid::reduce(scheduler, heights, 0.0F);
        scheduler.expect_work(next - std::chrono::steady_clock::now());
        std::this_thread::sleep_until(next);
    }
    std::printf("%.0f\n", static_cast<double>(sum));
    return sum == 400'000 ? 0 : 1;
}
