// R3: code is replaced when nobody holds it; who does is drained, cancelled, or named.
#include "host_services.hpp"
#include "reload_test.hpp"
#include "scale.hpp"
#include "seeded_chooser.hpp"

#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>
#include <braid/queue/queue.hpp>

#include <cstring>
#include <functional>

namespace braid_test {
namespace {

constexpr int stub_result = -1;

using value_function = reload::function<int()>;
using keep_function = reload::function<void(world::host_services&, int&)>;
using wait_function = reload::function<int(world::host_services&)>;
using register_function = reload::function<void(world::host_services&)>;
using asked_function = reload::function<bool()>;

/// What each test puts in the place of the host's services.
struct services final : world::host_services {
    void keep(void (*function)(void*), void* data) override { keeps(function, data); }
    void wait() override { waits(); }
    void register_job(void (*function)(void*), const char* name) override {
        registers(function, name);
    }
    std::function<void(void (*)(void*), void*)> keeps = [](auto, auto) {};
    std::function<void()> waits = [] {};
    std::function<void(void (*)(void*), const char*)> registers = [](auto, auto) {};
};

/// A host with a module of which holder_1 runs.
class holding_host {
public:
    holding_host(braid::scheduler& s, const reload::modules_options& o, const fs::path& file,
                 braid::nanoseconds drain_for = hang_limit,
                 reload::before_swap before = reload::before_swap::drain)
        : scheduler(s),
          live(file),
          modules(s, o),
          holder(modules.add({.name = "holder",
                              .path = live.string(),
                              .before_swap = before,
                              .drain_for = drain_for})) {}

    void put(const std::string& name) const {
        write(live.string() + ".new", read(built(name)));
        fs::rename(live.string() + ".new", live);
    }
    reload::outcome take(const std::string& name) {
        put(name);
        modules.check_now();
        return modules.at_frame_boundary();
    }
    /// Takes the file. A busy machine may keep a thread from coming to rest within the host's
    /// patience, which is said first; then the same file is tried again.
    reload::outcome take_patiently() {
        for (;;) {
            modules.check_now();
            reload::outcome went = modules.at_frame_boundary();
            if (went && std::strstr(went.text(), "did not come to rest") == nullptr) return went;
        }
    }

    braid::scheduler& scheduler;
    fs::path live;
    reload::modules modules;
    reload::module& holder;
    value_function value{holder, "value", [] { return stub_result; }};
    keep_function keep{holder, "keep", [](world::host_services&, int&) {}};
    wait_function wait_within{holder, "wait_within",
                              [](world::host_services&) { return stub_result; }};
    register_function register_job{holder, "register_job", [](world::host_services&) {}};
    asked_function was_reloaded{holder, "was_reloaded", [] { return false; }};
    services own;
};

class ReloadBarrier : public scheduler_test {
protected:
    reload::modules_options quiet() const {
        reload::modules_options o;
        o.folder = copies.path();
        o.watch = false;
        return o;
    }
    fs::path live() const { return place / "libholder.so"; }

    folder place, copies;
};
INSTANTIATE_TEST_SUITE_P(Workers, ReloadBarrier, testing::ValuesIn(worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

void expect_refused(const reload::outcome& went, const std::string& by) {
    EXPECT_EQ(went.loaded(), 0u);
    EXPECT_EQ(went.refused(), 1u);
    expect_sentence(went, by);
    expect_sentence(went, "the code before goes on");
}

TEST_P(ReloadBarrier, TasksThatHoldTheCodeRunInItBeforeItIsReplaced) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live());
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    EXPECT_FALSE(host.was_reloaded()) << "the first load replaces nothing";
    int counter = 0;
    host.own.keeps = [&](auto function, auto data) { s.post([=] { function(data); }); };
    host.keep(host.own, counter);
    EXPECT_EQ(host.take("holder_2").loaded(), 1u);
    EXPECT_EQ(counter, 1) << "it ran in the old code, or not at all";
    EXPECT_EQ(host.value(), 2);
    EXPECT_TRUE(host.was_reloaded());
}

TEST_P(ReloadBarrier, ATaskThatCannotRunRefusesTheNewCodeByItsNameAndPlace) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live(), braid::milliseconds(3));
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    braid::task_builder gate = s.begin({}, braid::empty);
    int counter = 0;
    braid::task_id held;
    host.own.keeps = [&](auto function, auto data) {
        held = s.spawn({.name = "load level", .after = {gate.id()}}, [=] { function(data); });
    };
    host.keep(host.own, counter);
    host.put("holder_2");
    expect_refused(host.take_patiently(),
                   "its code is held by task 'load level' (world::run at holder.cpp:");
    EXPECT_EQ(host.value(), 1);
    EXPECT_FALSE(host.modules.at_frame_boundary()) << "said twice";
    gate.finish();
    s.wait(held);
    EXPECT_EQ(counter, 1);
    EXPECT_EQ(host.take_patiently().loaded(), 1u);
    EXPECT_EQ(host.value(), 2);
}

TEST_P(ReloadBarrier, ATaskThatCannotRunIsCancelledIfTheModuleSaysSo) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live(), hang_limit, reload::before_swap::cancel);
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    braid::task_builder gate = s.begin({}, braid::empty);
    int counter = 0;
    host.own.keeps = [&](auto function, auto data) {
        s.post({.after = {gate.id()}}, [=] { function(data); });
    };
    host.keep(host.own, counter);
    EXPECT_EQ(host.take("holder_2").loaded(), 1u);
    gate.finish();
    s.shut_down();
    EXPECT_EQ(counter, 0);
    EXPECT_EQ(s.statistics().cancelled, 1u);
}

TEST_P(ReloadBarrier, AThreadThatWaitsWithinTheCodeIsNamed) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live(), braid::milliseconds(3));
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    braid::task_builder gate = s.begin({}, braid::empty);
    std::atomic<bool> inside{false};
    host.own.waits = [&] {
        inside = true;
        s.wait(gate.id());
    };
    std::atomic<int> result{0};
    const braid::task_id body = s.spawn([&] { result = host.wait_within(host.own); });
    std::thread outside([&] { s.wait(body); });
    until([&] { return inside.load(); });
    host.put("holder_2");
    const reload::outcome went = host.take_patiently();
    expect_refused(went, "stack of thread '");
    expect_sentence(went, "(world::wait_within at holder.cpp:");
    gate.finish();
    outside.join();
    EXPECT_EQ(result, 1);
    EXPECT_EQ(host.take_patiently().loaded(), 1u);
}

TEST_P(ReloadBarrier, AGraphThatHoldsTheCodeRefusesAtOnceUntilItIsBuiltAnew) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live(), braid::seconds(50));
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    braid::graph g(s, "plan");
    int counter = 0;
    braid::graph_node node;
    host.own.keeps = [&](auto function, auto data) {
        node = g.add({.name = "think"}, [=] { function(data); });
    };
    host.keep(host.own, counter);
    g.run_and_wait();
    expect_refused(host.take("holder_2"), "its code is held by node of graph 'think'");
    g.erase(node);
    host.modules.check_now();
    EXPECT_EQ(host.modules.at_frame_boundary().loaded(), 1u);
    host.keep(host.own, counter);
    g.run_and_wait();
    EXPECT_EQ(counter, 1 + 2);
}

TEST_P(ReloadBarrier, WorkInAQueueIsDoneBefore) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live());
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    braid::queue q(s, {.threads = 1});
    int counter = 0;
    host.own.keeps = [&](auto function, auto data) { q.push([=] { function(data); }); };
    for (int i = 0; i < 20; ++i) host.keep(host.own, counter);
    EXPECT_EQ(host.take("holder_2").loaded(), 1u);
    q.drain();
    EXPECT_EQ(counter, 20);
}

TEST_P(ReloadBarrier, AThreadThatDoesNotComeToRestIsNamed) {
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    braid::scheduler s(options());
    holding_host host(s, quiet(), live(), braid::milliseconds(3));
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    std::atomic<bool> inside{false}, stop{false};
    const braid::task_id endless = s.spawn({.may_be_long = true}, [&] {
        inside = true;
        until([&] { return stop.load(); });
    });
    until([&] { return inside.load(); });
    expect_refused(host.take("holder_2"), " did not come to rest in time");
    stop = true;
    s.wait(endless);
    EXPECT_EQ(host.take_patiently().loaded(), 1u);
}

TEST_P(ReloadBarrier, AReloadedThatThrowsIsReportedAndTheNewCodeRuns) {
    braid::scheduler s(options());
    holding_host host(s, quiet(), live());
    EXPECT_EQ(host.take("holder_1").loaded(), 1u);
    const reload::outcome went = host.take("holder_throws");
    expect_sentence(went, "a reloaded() threw");
    EXPECT_EQ(host.value(), 3);
}

TEST_P(ReloadBarrier, NamesOfJobsAndOfStatisticsDoNotPileUp) {
    auto o = options();
    o.statistics = true;
    braid::scheduler s(o);
    holding_host host(s, quiet(), live());
    braid::job_list_manager lists(s);
    int registered = 0;
    host.own.registers = [&](auto function, auto name) {
        registered += lists.register_job(function, name);
        s.wait(s.spawn({.name = name}, [] {}));
    };
    constexpr int reloads = 300;  // more than there are rows of either
    for (int i = 0; i < reloads; ++i) {
        ASSERT_EQ(host.take(i % 2 == 0 ? "holder_1" : "holder_2").loaded(), 1u);
        host.register_job(host.own);
    }
    EXPECT_EQ(registered, reloads);
    braid::task_type_statistics rows[64];
    const std::size_t types = s.statistics(rows, 64);
    ASSERT_LE(types, 64u);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < types; ++i) {
        if (std::string(rows[i].name) == "module's job") count = rows[i].count;
    }
    EXPECT_EQ(count, static_cast<std::uint64_t>(reloads));
}

/// Everything that can hold code at once, and all of it ends.
class busy_program {
public:
    busy_program(braid::scheduler& s, holding_host& host) : s_(s), host_(host), q_(s) {
        host_.own.keeps = [this](auto function, auto data) {
            s_.post([=] { function(data); });
            s_.post({.runs_as = braid::task_class::background}, [this, function, data] {
                int own = 0;
                function(&own);
                static_cast<void>(data);
                done_ += own != 0;
            });
            q_.push([this, function] {
                int own = 0;
                function(&own);
                done_ += own != 0;
            });
            s_.spawn([this, function](braid::task_context& task) {
                int own = 0;
                task.wait(task.spawn([&] { function(&own); }));
                done_ += own != 0;
            });
        };
        host_.own.waits = [this] { s_.wait(s_.spawn([this] { ++done_; })); };
    }
    void make_work(int& counter) {
        host_.keep(host_.own, counter);
        s_.spawn([this] { done_ += host_.wait_within(host_.own) != stub_result; });
    }
    static constexpr int pieces = 5;  // of work that count
    int done() const { return done_; }
    void finish() { q_.drain(); }

private:
    braid::scheduler& s_;
    holding_host& host_;
    braid::queue q_;
    std::atomic<int> done_{0};
};

TEST_P(ReloadBarrier, ReloadsUnderLoadLoseNothing) {
    braid::scheduler s(options());
    int counter = 0;
    constexpr int rounds = static_cast<int>(scaled(50));
    {
        holding_host host(s, quiet(), live());
        EXPECT_EQ(host.take("holder_1").loaded(), 1u);
        busy_program program(s, host);
        int sum = 0;
        for (int i = 0; i < rounds; ++i) {
            const int value = host.value();
            program.make_work(counter);
            sum += value;
            const reload::outcome went = host.take(i % 2 == 0 ? "holder_2" : "holder_1");
            ASSERT_EQ(went.loaded(), 1u) << went.text();
            ASSERT_EQ(counter, sum) << "what was kept ran in the code that kept it";
            ASSERT_NE(host.value(), value);
        }
        program.finish();
        s.shut_down();
        EXPECT_EQ(program.done(), rounds * busy_program::pieces);
    }
    expect_all_ended(s);
}

TEST_P(ReloadBarrier, BegunAtAnyPointOfAProgramItLosesNothing) {
    if (GetParam() > 4) GTEST_SKIP() << "one thread at a time: more show nothing new";
    for (std::uint64_t seed = 1; seed <= stress_scaled(5); ++seed) {
        seeded_chooser chooser(seed);
        auto o = options();
        o.chooser = &chooser;
        braid::scheduler s(o);
        holding_host host(s, quiet(), live());
        ASSERT_EQ(host.take("holder_1").loaded(), 1u);
        int counter = 0;
        busy_program program(s, host);
        program.make_work(counter);
        // How far the program has come by then, the seed says.
        for (std::uint64_t n = 0; n < seed % 5; ++n) s.wait(s.spawn([] {}));
        const reload::outcome went = host.take("holder_2");
        ASSERT_EQ(went.loaded(), 1u) << "seed " << seed << ": " << went.text();
        EXPECT_EQ(counter, 1);
        program.finish();
        s.shut_down();
        EXPECT_EQ(program.done(), busy_program::pieces) << "seed " << seed;
    }
}

}  // namespace
}  // namespace braid_test
