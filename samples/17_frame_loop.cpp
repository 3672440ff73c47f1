// A game loop: the next frame is simulated while this one is rendered, and the result is the same
// as when one comes after the other.
#include <braid/braid.hpp>
#include <braid/frame/frame_latch.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/frame/n_buffered.hpp>

#include <cstdint>
#include <cstdio>

namespace {

std::uint64_t play(braid::scheduler& scheduler, unsigned depth) {
    braid::frame_loop loop(scheduler, {.depth = 1, .budget = braid::milliseconds(16)});
    loop.set_depth(depth);
    braid::frame_stage simulate(loop, {.name = "simulate"}), render(loop, {.name = "render"});
    braid::n_buffered<std::uint64_t, 2> scene(scheduler, "scene");
    braid::frame_latch<std::uint64_t> clicked(loop);  // from the renderer to simulation
    std::uint64_t world = 1, picture = 0;

    const auto move = simulate.add({.name = "move"}, [&](const braid::frame_context& frame) {
        world = world * 31 + clicked.seen_by(frame.frame);
    });
    const auto publish = simulate.add({.name = "publish"}, [&](const braid::frame_context& frame) {
        *scene.write(frame.frame) = world;
    });
    simulate.precede(move, publish);
    render.add({.name = "draw"}, [&](const braid::frame_context& frame) {
        picture = picture * 17 + *scene.read(frame.frame);
        clicked.put(frame.frame, picture % 5);
    });

    for (int i = 0; i < 100; ++i) loop.advance();
    loop.finish();
    char line[160];
    braid::describe(loop.record(), braid::milliseconds(16), line, sizeof line);
    std::printf("depth %u, picture %016llx, %s\n", depth, static_cast<unsigned long long>(picture),
                line);
    return picture;
}

}  // namespace

int main() {
    braid::scheduler scheduler;
    return play(scheduler, 0) == play(scheduler, 1) ? 0 : 1;
}
