#pragma once
// A game of which nothing can be seen but a hash for each frame: simulation in several bodies, a
// scene in copies, a renderer whose result comes back to simulation.

#include <braid/core/event.hpp>
#include <braid/frame/fault_injector.hpp>
#include <braid/frame/frame_latch.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/frame/n_buffered.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace braid_test {

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a * 0x9e37'79b9'7f4a'7c15U + b;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
    return z ^ z >> 27;
}

struct tiny_game {
    static constexpr std::size_t movers = 6, objects = 64;
    struct scene {
        std::uint64_t frame = 0;
        std::array<std::uint64_t, objects> things{};
    };

    tiny_game(braid::scheduler& s, braid::frame_loop_options options, std::size_t frames)
        : loop(s, options),
          simulate(loop, {.name = "simulate"}),
          draw(loop, {.name = "draw"}),
          render(loop, {.name = "render"}),
          scenes(s, "scene"),
          lists(s, "list"),
          seen(loop, 17),
          hashes(frames + 1) {
        build_simulation();
        draw.add({.name = "cull"}, [this](const braid::frame_context& f) {
            const auto from = scenes.read(f.frame);
            auto to = lists.write(f.frame);
            to->frame = from->frame;
            f.for_each(objects, [&](std::size_t i) {
                to->things[i] = from->things[i] % 3 != 0 ? mixed(from->things[i], i) : 0;
            });
        });
        render.add({.name = "present"}, [this](const braid::frame_context& f) {
            const auto from = lists.read(f.frame);
            std::uint64_t hash = from->frame;
            for (const std::uint64_t thing : from->things) hash = mixed(hash, thing);
            hashes[f.frame] = hash;
            seen.put(f.frame, hash);
        });
    }

    void build_simulation() {
        const auto publish =
            simulate.add({.name = "publish"}, [this](const braid::frame_context& f) {
                auto to = scenes.write(f.frame);
                to->frame = f.frame;
                to->things = world;
            });
        const auto input = simulate.add({.name = "input"}, [this](const braid::frame_context& f) {
            answer = seen.seen_by(f.frame);
        });
        for (std::size_t m = 0; m < movers; ++m) {
            const auto move = simulate.add({.name = "move"}, [this, m] {
                for (std::size_t i = m; i < objects; i += movers) {
                    world[i] = mixed(world[i] + answer, i);
                }
            });
            simulate.precede(input, move);
            simulate.precede(move, publish);
        }
    }
    void play(std::size_t frames) {
        for (std::size_t i = 0; i < frames; ++i) loop.advance();
        loop.finish();
    }
    /// The same game without any loop: what every mode has to compute.
    static std::vector<std::uint64_t> expected(std::size_t frames, std::uint64_t delay) {
        std::vector<std::uint64_t> hashes(frames + 1);
        std::array<std::uint64_t, objects> world{};
        for (std::uint64_t f = 1; f <= frames; ++f) {
            const std::uint64_t answer = f <= delay ? 17 : hashes[f - delay];
            std::uint64_t hash = f;
            for (std::size_t i = 0; i < objects; ++i) {
                world[i] = mixed(world[i] + answer, i);
                hash = mixed(hash, world[i] % 3 != 0 ? mixed(world[i], i) : 0);
            }
            hashes[f] = hash;
        }
        return hashes;
    }

    braid::frame_loop loop;
    braid::frame_stage simulate, draw, render;
    braid::n_buffered<scene, 4> scenes, lists;
    braid::frame_latch<std::uint64_t> seen;
    std::array<std::uint64_t, objects> world{};
    std::uint64_t answer = 0;
    std::vector<std::uint64_t> hashes;  // by frame
};

}  // namespace braid_test
