// With a chooser each call into the modules above the core asks whether another thread goes on.
#include "braid/braid.hpp"
#include "braid/core/decision.hpp"
#include "braid/frame/frame_loop.hpp"
#include "braid/frame/frame_stage.hpp"
#include "braid/frame/rate_thread.hpp"
#include "braid/graph/graph.hpp"
#include "braid/job_list/job_list.hpp"
#include "braid/job_list/job_list_manager.hpp"
#include "braid/queue/queue.hpp"

#include <gtest/gtest.h>
#include <functional>
#include <utility>
#include <vector>

namespace {

using braid::decision_kind;

/// The running thread goes on; counts how often it is asked whether it does.
struct point_counter final : braid::chooser {
    std::size_t points = 0;
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t) override {
        points += kind == decision_kind::preempt;
        return 0;
    }
};

using call = std::pair<const char*, std::function<void()>>;

/// The workers could go on all the time, and do not while the caller never sleeps.
class Points : public testing::Test {
protected:
    point_counter chooser;
    braid::scheduler s{{.workers = 2, .chooser = &chooser}};

    void each_is_a_point(const std::vector<call>& calls) {
        for (const auto& [name, f] : calls) {
            const std::size_t before = chooser.points;
            f();
            EXPECT_GT(chooser.points, before) << name;
        }
    }
};

TEST_F(Points, AreAllCallsOfAGraph) {
    braid::graph inner(s), g(s);  // the inner one outlives its node
    braid::graph_node a, b, group, condition;
    each_is_a_point({
        {"add", [&] { a = g.add([] {}); }},
        {"add empty", [&] { b = g.add({.name = "b"}, braid::empty); }},
        {"add_group", [&] { group = g.add_group({.name = "group"}); }},
        {"set_serial", [&] { g.set_serial(group, true); }},
        {"add_range", [&] { g.add_range({}, [] { return 4; }, [](std::size_t) {}); }},
        {"add_condition", [&] { condition = g.add_condition({}, [] { return 1U; }); }},
        {"add_graph", [&] { EXPECT_TRUE(g.add_graph({}, inner)); }},
        {"precede", [&] { EXPECT_TRUE(g.precede(a, b)); }},
        {"precede_if", [&] { EXPECT_TRUE(g.precede_if(condition, 1, b)); }},
        {"erase", [&] { EXPECT_TRUE(g.erase(a)); }},
        {"size", [&] { EXPECT_GT(g.size(), 0U); }},
        {"measure", [&] { g.measure(true); }},
        {"set_priorities", [&] { g.set_priorities(braid::graph_priorities::critical_path); }},
        {"reruns", [&] { EXPECT_EQ(g.reruns(), 0U); }},
        {"timing", [&] { g.timing(b); }},
        {"priorities_to_text", [&] { g.priorities_to_text(); }},
        {"to_dot", [&] { g.to_dot(); }},
        {"to_text", [&] { g.to_text(); }},
        {"run", [&] { EXPECT_TRUE(g.run()); }},
    });
}

void nothing(void*) {}

TEST_F(Points, AreAllCallsOfAJobList) {
    braid::job_list_manager all(s);
    braid::job_list* list = nullptr;
    each_is_a_point({
        {"register_job", [&] { all.register_job(&nothing, "nothing"); }},
        {"name_of", [&] { all.name_of(&nothing); }},
        {"allocate", [&] { list = all.allocate({.max_jobs = 8, .max_syncs = 2}); }},
        {"list_count", [&] { EXPECT_EQ(all.list_count(), 1U); }},
        {"list", [&] { EXPECT_EQ(all.list(0), list); }},
        {"find", [&] { EXPECT_EQ(all.find(list->id()), list); }},
        {"add", [&] { EXPECT_TRUE(list->add(&nothing, nullptr)); }},
        {"add again", [&] { EXPECT_TRUE(list->add(&nothing, nullptr)); }},
        {"clear", [&] { list->clear(); }},
        {"signal", [&] { EXPECT_TRUE(list->signal()); }},
        {"synchronize", [&] { EXPECT_TRUE(list->synchronize()); }},
        {"add after", [&] { EXPECT_TRUE(list->add(&nothing, nullptr)); }},
        {"submit", [&] { EXPECT_TRUE(list->submit()); }},
        {"submission", [&] { EXPECT_TRUE(list->submission()); }},
        {"is_submitted", [&] { EXPECT_TRUE(list->is_submitted()); }},
        {"statistics", [&] { list->statistics(); }},
        {"statistics of a seat", [&] { list->statistics(0); }},
        {"try_wait", [&] { list->try_wait(); }},
        {"wait_all", [&] { all.wait_all(); }},
        {"free", [&] { all.free(list); }},
    });
}

TEST_F(Points, AreAddsUpToTheLastJobThatFits) {
    braid::job_list_manager all(s);
    all.register_job(&nothing, "nothing");
    braid::job_list* const list = all.allocate({.max_jobs = 3});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(list->add(&nothing, nullptr));
    EXPECT_EQ(list->size(), 3U);
    EXPECT_TRUE(list->submit());
    list->wait();
    EXPECT_EQ(list->statistics().executed, 3U);
}

TEST_F(Points, AreAllCallsOfAQueue) {
    braid::queue q(s, {.threads = 0});
    each_is_a_point({
        {"push", [&] { EXPECT_TRUE(q.push([] {})); }},
        {"size", [&] { EXPECT_EQ(q.size(), 1U); }},
        {"statistics", [&] { EXPECT_EQ(q.statistics().pushed, 1U); }},
        {"discard", [&] { EXPECT_EQ(q.discard(), 1U); }},
        {"drain", [&] { q.drain(); }},
    });
}

TEST_F(Points, AreTheSwitchesOfAStage) {
    braid::frame_loop loop(s);
    braid::frame_stage stage(loop, {.name = "stage"});
    each_is_a_point({
        {"set_serial", [&] { stage.set_serial(true); }},
        {"serial", [&] { EXPECT_TRUE(stage.serial()); }},
        {"advance", [&] { loop.advance(); }},
    });
}

TEST_F(Points, AreAllCallsOfASampler) {
    braid::sampler<int> pad(s, {.name = "pad"}, [](const braid::rate_tick&) { return 1; });
    each_is_a_point({
        {"take",
         [&] {
             braid::sampler<int>::sample one;
             EXPECT_FALSE(pad.take(one));
         }},
        {"report", [&] { EXPECT_EQ(pad.report().ticks, 0U); }},
        {"stop", [&] { pad.stop(); }},
    });
}

}  // namespace
