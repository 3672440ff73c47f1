// oneTBB: the table as a flow graph that is built once, the parts of a stage as a parallel_for.
#include "../backend.hpp"

#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <deque>
#include <optional>

namespace arena::host {
namespace {

class tbb_backend final : public backend {
public:
    explicit tbb_backend(unsigned workers)
        : limit_(tbb::global_control::max_allowed_parallelism, workers + 1),
          arena_(static_cast<int>(workers) + 1) {}

    void run_frame(std::span<const stage> table, game& world, recorder& times) override {
        world_ = &world;
        times_ = &times;
        arena_.execute([&] {
            if (table.data() != table_.data()) build(table);
            for (std::size_t i = 0; i < table.size(); ++i)
                if (table[i].after.empty()) nodes_[i].try_put(tbb::flow::continue_msg());
            graph_->wait_for_all();
        });
    }

private:
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

    void build(std::span<const stage> table) {
        table_ = table;
        nodes_.clear();
        graph_.emplace();
        for (std::uint32_t i = 0; i < table.size(); ++i) {
            nodes_.emplace_back(*graph_, [this, i](tbb::flow::continue_msg) { run_stage(i); });
            for (std::uint8_t earlier : table[i].after)
                tbb::flow::make_edge(nodes_[earlier], nodes_[i]);
        }
    }

    void run_stage(std::uint32_t i) {
        const std::uint32_t parts = times_->begin_stage(table_[i], i, *world_);
        if (parts == 1) return times_->run_part(table_[i], i, *world_, 0);
        tbb::parallel_for(
            tbb::blocked_range<std::uint32_t>(0, parts, 1),
            [this, i](const tbb::blocked_range<std::uint32_t>& range) {
                for (std::uint32_t part = range.begin(); part != range.end(); ++part)
                    times_->run_part(table_[i], i, *world_, part);
            },
            tbb::simple_partitioner());
    }

    tbb::global_control limit_;
    tbb::task_arena arena_;
    std::optional<tbb::flow::graph> graph_;
    std::deque<node> nodes_;
    std::span<const stage> table_;
    game* world_ = nullptr;
    recorder* times_ = nullptr;
};

}  // namespace

std::unique_ptr<backend> make_tbb_backend(unsigned workers) {
    return std::make_unique<tbb_backend>(workers);
}

}  // namespace arena::host
