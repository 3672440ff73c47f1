// A frame as a graph: built once, run each frame.
#include <braid/braid.hpp>
#include <braid/graph/graph.hpp>

#include <cstdio>

int main() {
    braid::scheduler scheduler;
    braid::graph frame(scheduler, "frame");
    int time = 0, bones = 0, hits = 0;

    const auto input = frame.add({.name = "input"}, [&] { ++time; });
    const auto animate = frame.add({.name = "animate"}, [&] { bones = 37 * time; });
    const auto collide = frame.add({.name = "collide"}, [&] { hits = 2 * time; });
    const auto draw =
        frame.add({.name = "draw"}, [&] { std::printf("%d bones, %d hits\n", bones, hits); });
    frame.precede(input, animate);
    frame.precede(input, collide);
    frame.precede(animate, draw);
    frame.precede(collide, draw);

    for (int i = 0; i < 3; ++i) frame.run_and_wait();
    std::fputs(frame.to_dot().c_str(), stdout);  // for Graphviz
}
