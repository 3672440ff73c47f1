// Many bodies in one submission: one closure, one wake decision.
#include <braid/braid.hpp>

#include <cstdio>
#include <vector>

int main() {
    braid::scheduler scheduler;
    std::vector<float> height(10'000);
    constexpr std::size_t slice = 1'000;
    auto fill = scheduler.spawn_batch({.name = "terrain"}, height.size() / slice,
                                      [&height](std::size_t part) {
                                          for (std::size_t i = 0; i < slice; ++i) {
                                              height[part * slice + i] = static_cast<float>(part);
                                          }
                                      });
    scheduler.wait(fill);
    std::printf("from %.0f to %.0f\n", static_cast<double>(height.front()),
                static_cast<double>(height.back()));
    return height.back() == 9.0F ? 0 : 1;
}
