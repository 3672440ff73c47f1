#include "frame/frame.hpp"

#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>

#include <deque>

namespace bench::frame {
namespace {

using tbb::flow::continue_msg;

/// Built once, as one would: oneTBB's graphs can run again.
class frame_graph {
public:
    frame_graph() {
        for (unsigned number = 0; number < stage_count; ++number) {
            nodes_.emplace_back(graph_, [this, number](const continue_msg&) {
                run_stage(number, results_, [](std::size_t n, auto body) {
                    tbb::parallel_for(std::size_t{0}, n, body);
                });
            });
            for (unsigned i = 0; i < stages[number].after_count; ++i) {
                tbb::flow::make_edge(nodes_[stages[number].after[i]], nodes_.back());
            }
        }
    }
    void run(std::uint64_t* results) {
        results_ = results;
        nodes_.front().try_put({});
        graph_.wait_for_all();
    }

private:
    tbb::flow::graph graph_;
    std::deque<tbb::flow::continue_node<continue_msg>> nodes_;
    std::uint64_t* results_ = nullptr;
};

}  // namespace

void add_tbb(suite& s) {
    add_tbb_measure(s, "frame", [] {
        frame_graph graph;
        return timed([&graph](std::uint64_t* r) { graph.run(r); });
    });
}

}  // namespace bench::frame
