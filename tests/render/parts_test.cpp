// The picture depends on the input alone: not on the order of the parts, nor on the kernels, nor on
// earlier frames.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "scene_fixture.hpp"

namespace {

using namespace scene;
using arena::render_stage;

std::vector<arena::rgba8> picture_of(const arena::renderer& renderer) {
    return {renderer.pixels().begin(), renderer.pixels().end()};
}

TEST(Parts, AnyOrderGivesTheSamePicture) {
    const busy_scene scene(1);
    arena::renderer renderer({.width = 640, .height = 360});
    render(renderer, scene.input);
    const std::vector<arena::rgba8> expected = picture_of(renderer);
    const std::uint64_t hash = renderer.picture_hash();
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
        render_shuffled(renderer, scene.input, seed);
        ASSERT_EQ(picture_of(renderer), expected) << "order " << seed;
        ASSERT_EQ(renderer.picture_hash(), hash);
    }
}

TEST(Parts, ThreadsGiveTheSamePicture) {
    const busy_scene scene(2);
    arena::renderer renderer({.width = 640, .height = 360});
    render(renderer, scene.input);
    const std::uint64_t hash = renderer.picture_hash();
    const std::vector<std::vector<render_stage>> groups{
        {render_stage::lights, render_stage::floor, render_stage::geometry},
        {render_stage::tiles},
        {render_stage::resolve},
        {render_stage::hash}};
    constexpr std::uint32_t thread_count = 4;
    renderer.begin_frame(scene.input);
    for (const std::vector<render_stage>& group : groups) {
        std::vector<std::thread> threads;
        for (std::uint32_t t = 0; t < thread_count; ++t)
            threads.emplace_back([&, t] {
                for (const render_stage stage : group)
                    for (std::uint32_t part = t; part < renderer.parts(stage); part += thread_count)
                        renderer.run(stage, part);
            });
        for (std::thread& thread : threads) thread.join();
    }
    EXPECT_EQ(renderer.picture_hash(), hash);
}

TEST(Parts, PortableAndBestKernelsDrawTheSame) {
    for (const std::uint32_t width : {640u, 333u}) {
        const busy_scene scene(3);
        arena::renderer best({.width = width, .height = 350});
        arena::renderer portable({.width = width, .height = 350, .portable_kernels = true});
        render(best, scene.input);
        render(portable, scene.input);
        EXPECT_EQ(picture_of(best), picture_of(portable)) << width;
    }
}

TEST(Parts, EarlierFramesLeaveNoTrace) {
    const busy_scene first(4), second(5, 200);
    arena::renderer fresh({.width = 320, .height = 200}), used({.width = 320, .height = 200});
    render(fresh, first.input);
    render(used, second.input);
    render(used, first.input);
    EXPECT_EQ(picture_of(fresh), picture_of(used));
}

TEST(Parts, HashSeesEveryPixelAndRow) {
    const busy_scene scene(6);
    arena::renderer renderer({.width = 320, .height = 200});
    render(renderer, scene.input);
    const std::uint64_t hash = renderer.picture_hash();
    for (const auto& [x, y] : {std::pair{0.0f, 0.0f}, {319.0f, 199.0f}, {160.0f, 23.0f}}) {
        busy_scene dotted(6);
        dotted.boxes.push_back({x, y, 1.0f, 1.0f, arena::make_rgba(255, 0, 255)});
        dotted.input.boxes = dotted.boxes;
        render(renderer, dotted.input);
        EXPECT_NE(renderer.picture_hash(), hash) << x << ' ' << y;
    }
}

TEST(Parts, OverlayChangesThePictureButNotTheHash) {
    const busy_scene scene(7);
    arena::renderer renderer({.width = 320, .height = 200});
    render(renderer, scene.input);
    const std::uint64_t hash = renderer.picture_hash();
    const std::vector<arena::rgba8> before = picture_of(renderer);
    const arena::ui_text text{50.0f, 100.0f, 2.0f, arena::make_rgba(255, 255, 0), "16.7 ms"};
    renderer.paint_overlay({}, {&text, 1});
    EXPECT_NE(picture_of(renderer), before);
    EXPECT_EQ(renderer.picture_hash(), hash);
}

TEST(Parts, EveryStageHasAPartEvenForAnEmptyFrame) {
    arena::renderer renderer({.width = 64, .height = 64, .draw_arena = false});
    const arena::frame_input nothing{straight_camera(), {}, {}, {}, {}, {}, 0.0f};
    renderer.begin_frame(nothing);
    for (const render_stage stage : arena::all_render_stages) EXPECT_GE(renderer.parts(stage), 1u);
    render(renderer, nothing);
    EXPECT_NE(renderer.picture_hash(), 0u);
}

TEST(Parts, PicturesOutsideOfTheLimitsAreRefused) {
    EXPECT_THROW(arena::renderer({.width = 63, .height = 64}), std::invalid_argument);
    EXPECT_THROW(arena::renderer({.width = 64, .height = 4097}), std::invalid_argument);
}

}  // namespace
