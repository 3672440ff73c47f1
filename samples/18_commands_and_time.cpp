// What a frame is made of: steps of fixed length, commands that all threads write and one plays in
// order, memory of the frame, long work in small pieces, and input read at a rate of its own.
#include <braid/braid.hpp>
#include <braid/frame/command_buffer.hpp>
#include <braid/frame/fixed_step.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/frame/n_buffered.hpp>
#include <braid/frame/rate_thread.hpp>
#include <braid/frame/spread_work.hpp>

#include <cstdio>

namespace {

struct draw_call {
    unsigned model;
};

}  // namespace

int main() {
    braid::scheduler scheduler;
    braid::frame_loop loop(scheduler, {.depth = 1});
    braid::frame_stage simulate(loop, {.name = "simulate"}), render(loop, {.name = "render"});
    braid::n_buffered<braid::command_buffer<draw_call>, 2> calls(scheduler, "calls", scheduler);
    braid::fixed_step steps({.step = braid::milliseconds(10)});
    braid::spread_work later(scheduler, {.budget = braid::milliseconds(1)});
    braid::sampler<int> pad(scheduler, {.name = "pad", .period = braid::milliseconds(4)},
                            [](const braid::rate_tick& tick) { return tick.number % 2 ? 1 : -1; });
    int stick = 0, paths = 0, drawn = 0, out_of_order = 0;
    unsigned last = 0;

    simulate.add({.name = "step"}, [&] {
        for (braid::sampler<int>::sample s; pad.take(s);) stick += s.value;
        for (unsigned n = steps.advance(braid::milliseconds(16)); n != 0; --n) ++stick;
        later.run_frame();
    });
    simulate.add({.name = "cull"}, [&](const braid::frame_context& frame) {
        auto out = calls.write(frame.frame);
        out->clear();
        auto* distance = frame.arena.make_array<std::uint64_t>(1000);  // gone with the frame
        frame.for_each(1000, [&](std::size_t model) {
            if (model % 3 != 0) return;
            distance[model] = 1000 - model;
            auto list = out->record(model);
            list.push(distance[model], {static_cast<unsigned>(model)});
        });
        out->sort(frame.task);
    });
    render.add({.name = "draw"}, [&](const braid::frame_context& frame) {
        last = 1000;
        calls.read(frame.frame)->play([&](const draw_call& call) {
            out_of_order += call.model > last;
            last = call.model;
            ++drawn;
        });
    });

    later.add({.name = "paths"}, 500, [&](std::size_t) { ++paths; });
    for (int i = 0; i < 60; ++i) loop.advance();
    loop.finish();
    std::printf("%llu steps, %d paths, %d calls, %zu bytes of frame memory\n",
                static_cast<unsigned long long>(steps.steps()), paths, drawn,
                loop.memory().reserved);
    const bool good = steps.steps() == 96 && paths >= 60 && drawn == 60 * 334 && out_of_order == 0;
    return good ? 0 : 1;
}
