// What the recorder writes down of a scheduler, and that it neither waits nor lies.
#include "braid/profile/recorder.hpp"
#include "scratch_folder.hpp"

#include "braid/braid.hpp"
#include "braid/fork_join.hpp"
#include "braid/frame/frame_loop.hpp"
#include "braid/graph/graph.hpp"
#include "memory_sink.hpp"
#include "profile/plan_table.hpp"
#include "profile/record_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>

namespace {

namespace profile = braid::profile;
using profile::capture;
using profile::record;
using profile::record_kind;

using braid_test::memory_sink;

std::size_t count_of(const capture& c, record_kind kind) {
    std::size_t count = 0;
    for (const profile::lane& l : c.lanes) {
        count += static_cast<std::size_t>(std::count_if(
            l.records.begin(), l.records.end(), [&](const record& r) { return r.kind == kind; }));
    }
    return count;
}

std::uint32_t type_called(const capture& c, const std::string& name) {
    for (std::uint32_t i = 0; i < c.types.size(); ++i) {
        if (c.types[i].name == name && c.types[i].line != 0) return i;
    }
    return 0;
}

class Recorder : public testing::TestWithParam<int> {
protected:
    braid::scheduler_options options() { return {.workers = GetParam(), .observer = &recorder_}; }
    memory_sink sink_;
    profile::recorder recorder_;
};
INSTANTIATE_TEST_SUITE_P(Workers, Recorder, testing::Values(0, 1, 2, 4, 8, 64));

/// Pages of memory that the calling thread was the first to touch.
long touched_pages() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

TEST(RecorderStart, LeavesNoMemoryToBeTouchedByThreadsThatAreThere) {
    constexpr std::size_t records = std::size_t{1} << 17;  // 1,024 pages
    memory_sink sink;
    profile::recorder recorder({.ring_records = records});
    braid::scheduler s({.workers = 1, .observer = &recorder});
    long pages = 0;
    const auto look = [&] {
        s.wait(s.spawn({.on = s.worker_thread(0)}, [&pages] { pages = touched_pages(); }));
        return pages;
    };
    const long before = look();
    ASSERT_TRUE(recorder.start(sink));
    EXPECT_LT(look() - before, 512);
    EXPECT_TRUE(recorder.stop());
}

TEST(RecorderStart, GivesAWorkerThatSleepsAllTheTimeItsLane) {
    memory_sink sink;
    profile::recorder recorder;
    braid::scheduler s({.workers = 2, .idle = braid::parking::power, .observer = &recorder});
    for (unsigned i : {0U, 1U}) s.wait(s.spawn({.on = s.worker_thread(i)}, [] {}));
    ASSERT_TRUE(recorder.start(sink));
    s.wait(s.spawn({.on = s.worker_thread(0)}, [] {}));
    ASSERT_TRUE(recorder.stop());
    const capture c = sink.read();
    const auto worker = [](const profile::lane& l) { return l.kind == profile::lane_kind::worker; };
    EXPECT_EQ(std::count_if(c.lanes.begin(), c.lanes.end(), worker), 2);
}

TEST_P(Recorder, HasEachCompletionFromItsBeginToItsEndWithItsNameAndPlace) {
    constexpr std::size_t tasks = 30;
    {
        braid::scheduler s(options());
        ASSERT_TRUE(recorder_.start(sink_));
        for (std::size_t i = 0; i < tasks; ++i) {
            std::thread outside;
            s.wait(s.spawn({.name = "load"}, [&](braid::task_context& task) {
                const braid::completion_id id = task.defer({.name = "disk"});
                outside = std::thread([&s, id] { EXPECT_TRUE(s.complete(id)); });
            }));
            outside.join();
        }
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    const std::uint32_t disk = type_called(c, "disk");
    EXPECT_NE(disk, 0U) << "a name and a place";
    std::map<std::uint64_t, int> open;
    for (const record_kind kind : {record_kind::deferred, record_kind::settled}) {
        EXPECT_EQ(count_of(c, kind), tasks);
        for (const profile::lane& l : c.lanes) {
            for (const record& r : l.records) {
                if (r.kind != kind) continue;
                open[r.task] += kind == record_kind::deferred ? 1 : -1;
                EXPECT_NE(r.other, 0U);
                EXPECT_EQ(c.types[r.aux].name, "disk");
            }
        }
    }
    EXPECT_EQ(open.size(), tasks);
    for (const auto& [id, count] : open) EXPECT_EQ(count, 0) << id;
}

TEST_P(Recorder, HasEachTaskFromItsSpawnToItsEnd) {
    constexpr std::size_t tasks = 300;
    {
        braid::scheduler s(options());
        ASSERT_TRUE(recorder_.start(sink_));
        for (std::size_t i = 0; i < tasks; ++i) {
            const braid::task_id a = s.spawn({.name = "first"}, [] {});
            const braid::task_id b = s.spawn({.name = "second", .after = {a}}, [] {});
            s.wait(b);
        }
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    EXPECT_TRUE(c.whole);
    for (const record_kind kind : {record_kind::spawned, record_kind::ready, record_kind::started,
                                   record_kind::ended, record_kind::completed}) {
        EXPECT_EQ(count_of(c, kind), 2 * tasks) << static_cast<int>(kind);
    }
    struct life {
        std::uint64_t spawned = 0, ready = 0, started = 0, ended = 0, completed = 0;
        std::uint32_t type = 0;
        const profile::lane *spawned_on = nullptr, *ended_on = nullptr;
    };
    std::map<std::uint64_t, life> lives;
    for (const profile::lane& l : c.lanes) {
        EXPECT_EQ(l.dropped, 0U);
        for (const record& r : l.records) {
            life& one = lives[r.task];
            if (r.kind == record_kind::spawned) {
                one.spawned = r.time, one.type = r.aux, one.spawned_on = &l;
            }
            if (r.kind == record_kind::ready) one.ready = r.time;
            if (r.kind == record_kind::started) one.started = r.time;
            if (r.kind == record_kind::ended) one.ended = r.time, one.ended_on = &l;
            if (r.kind == record_kind::completed) one.completed = r.time;
        }
    }
    const std::uint32_t first = type_called(c, "first"), second = type_called(c, "second");
    ASSERT_NE(first, 0U);
    ASSERT_NE(second, 0U);
    EXPECT_NE(c.types[first].file.find("recorder_test.cpp"), std::string::npos);
    EXPECT_EQ(c.types[second].line, c.types[first].line + 1);
    std::map<std::uint32_t, std::size_t> of_type;
    for (const auto& [task, one] : lives) {
        if (task == 0) continue;
        ++of_type[one.type];
        EXPECT_LE(one.started, one.ended);
        EXPECT_LE(one.ended, one.completed);
        // How far the clocks of two threads agree depends on the machine.
        if (one.spawned_on == one.ended_on) {
            EXPECT_LE(one.spawned, one.ended);
        }
    }
    EXPECT_EQ(of_type[first], tasks);
    EXPECT_EQ(of_type[second], tasks);
}

TEST_P(Recorder, HasEdgesParentsAndWhoReleasedWhom) {
    braid::task_id a, b, parent, child;
    {
        braid::scheduler s(options());
        ASSERT_TRUE(recorder_.start(sink_));
        braid::event gate(s);
        a = s.spawn({.name = "a"}, [&] { s.do_work_while_waiting_for(gate); });
        b = s.spawn({.name = "b", .after = {a}, .priority = braid::priority_level::high}, [] {});
        parent = s.spawn({.name = "parent"}, [&](braid::task_context& t) {
            child = t.spawn({.name = "child", .parent = t.id()}, [] {});
        });
        gate.set();
        s.wait(b);
        s.wait(parent);
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    int edges = 0, releases = 0, parents = 0;
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            edges += r.kind == record_kind::edge && r.task == b.value && r.other == a.value;
            releases += r.kind == record_kind::ready && r.task == b.value && r.other == a.value;
            parents +=
                r.kind == record_kind::spawned && r.task == child.value && r.other == parent.value;
            if (r.kind == record_kind::spawned) {
                EXPECT_EQ(r.flags & profile::spawn_priority, r.task == b.value ? 2 : 1);
            }
        }
    }
    EXPECT_EQ(edges, 1);
    EXPECT_EQ(releases, 1);
    EXPECT_EQ(parents, 1);
}

TEST_P(Recorder, NestsBodiesOnEachLane) {
    {
        braid::scheduler s(options());
        ASSERT_TRUE(recorder_.start(sink_));
        const auto tree = [&s](const auto& self, int depth) -> void {
            if (depth == 0) return;
            const braid::task_id left = s.spawn([&, depth] { self(self, depth - 1); });
            const braid::task_id right = s.spawn([&, depth] { self(self, depth - 1); });
            s.wait(left);
            s.wait(right);
        };
        tree(tree, 8);
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    for (const profile::lane& l : c.lanes) {
        std::vector<std::uint64_t> open;
        std::uint64_t before = 0;
        for (const record& r : l.records) {
            EXPECT_LE(before, r.time);
            before = r.time;
            if (r.kind == record_kind::started) open.push_back(r.task);
            if (r.kind != record_kind::ended) continue;
            ASSERT_FALSE(open.empty());
            ASSERT_EQ(open.back(), r.task);
            open.pop_back();
        }
        EXPECT_TRUE(open.empty());
    }
    EXPECT_EQ(count_of(c, record_kind::ended), 510U);
    EXPECT_EQ(count_of(c, record_kind::wait_begin), count_of(c, record_kind::wait_end));
}

TEST_P(Recorder, HasGraphsJobListsAndFrames) {
    constexpr int frames = 5;
    {
        braid::scheduler s(options());
        braid::frame_loop loop(s, {.name = "frame", .depth = 1});
        braid::frame_stage simulate(loop, {.name = "simulate"});
        braid::frame_stage draw(loop, {.name = "draw"});
        simulate.add({.name = "think"}, [](const braid::frame_context&) {});
        draw.add({.name = "paint"}, [](const braid::frame_context&) {});
        ASSERT_TRUE(recorder_.start(sink_));
        for (int i = 0; i < frames; ++i) loop.advance();
        loop.finish();
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    EXPECT_EQ(count_of(c, record_kind::frame_begin), std::size_t{frames});
    EXPECT_EQ(count_of(c, record_kind::frame_end), std::size_t{frames});
    const std::uint32_t think = type_called(c, "think");
    ASSERT_NE(think, 0U);
    EXPECT_NE(c.types[think].file.find("recorder_test.cpp"), std::string::npos);
    std::size_t thoughts = 0;
    std::vector<std::uint64_t> begun;
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            thoughts += r.kind == record_kind::spawned && r.aux == think;
            if (r.kind == record_kind::frame_begin) begun.push_back(r.other);
        }
    }
    EXPECT_EQ(thoughts, std::size_t{frames});
    std::sort(begun.begin(), begun.end());
    EXPECT_EQ(begun, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST_P(Recorder, HasTheEndOfAFrameThatFailed) {
    {
        braid::scheduler s(options());
        braid::frame_loop loop(s, {.name = "frame", .depth = 1});
        braid::frame_stage simulate(loop, {.name = "simulate"});
        braid::frame_stage draw(loop, {.name = "draw"});
        simulate.add({.name = "think"}, [](const braid::frame_context& c) {
            if (c.frame == 2) throw std::runtime_error("no idea");
        });
        draw.add({.name = "paint"}, [](const braid::frame_context&) {});
        ASSERT_TRUE(recorder_.start(sink_));
        loop.advance();
        loop.advance();
        EXPECT_THROW(loop.finish(), std::runtime_error);
        loop.advance();
        loop.finish();
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    std::vector<std::uint64_t> begun, ended;
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == record_kind::frame_begin) begun.push_back(r.other);
            if (r.kind == record_kind::frame_end) ended.push_back(r.other);
        }
    }
    std::sort(begun.begin(), begun.end());
    std::sort(ended.begin(), ended.end());
    EXPECT_EQ(begun, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(ended, begun);
}

/// Runs after the second one take one place in the ring; the capture does not show it.
TEST_P(Recorder, HasEachRunOfAGraphWhole) {
    constexpr std::size_t runs = 6, nodes = 10;
    braid::scheduler s(options());
    braid::graph g(s);
    std::vector<braid::graph_node> all;
    for (std::size_t i = 0; i < nodes; ++i) {
        all.push_back(g.add({.name = i == 0 ? "first" : "other"}, [] {}));
        if (i != 0) g.precede(all[i / 2], all[i]);
    }
    for (int round = 0; round < 2; ++round) {  // of captures
        g.run_and_wait();                      // of which nothing is recorded
        memory_sink sink;
        ASSERT_TRUE(recorder_.start(sink));
        for (std::size_t i = 0; i < runs; ++i) g.run_and_wait();
        ASSERT_TRUE(recorder_.stop());
        const capture c = sink.read();
        struct life {
            int spawned = 0, edges = 0, ready = 0, started = 0, ended = 0, completed = 0;
            std::uint64_t parent = 0, after = 0, releaser = 0;
            std::string name;
        };
        std::map<std::uint64_t, life> lives;
        for (const profile::lane& l : c.lanes) {
            for (const record& r : l.records) {
                life& one = lives[r.task];
                if (r.kind == record_kind::spawned) {
                    ++one.spawned, one.parent = r.other, one.name = c.types[r.aux].name;
                }
                if (r.kind == record_kind::edge) ++one.edges, one.after = r.other;
                if (r.kind == record_kind::ready) ++one.ready, one.releaser = r.other;
                one.started += r.kind == record_kind::started;
                one.ended += r.kind == record_kind::ended;
                one.completed += r.kind == record_kind::completed;
            }
        }
        std::size_t of_graph = 0, roots = 0;
        for (const auto& [task, one] : lives) {
            if (one.name != "first" && one.name != "other") continue;
            ++of_graph;
            EXPECT_EQ(one.spawned, 1);
            EXPECT_EQ(one.ready, 1);
            EXPECT_EQ(one.started, 1);
            EXPECT_EQ(one.ended, 1);
            EXPECT_EQ(one.completed, 1);
            EXPECT_EQ(one.edges, one.name == "first" ? 0 : 1);
            EXPECT_EQ(one.releaser, one.after);
            EXPECT_EQ(lives.at(one.parent).started, 1) << "the run is a task";
            roots += one.name == "first";
        }
        EXPECT_EQ(of_graph, runs * nodes);
        EXPECT_EQ(roots, runs);
    }
}

TEST(PlanTable, ForgetsThePlansOfCapturesBefore) {
    struct run_of_one final : braid::graph_run_events {
        void tell_each(braid::observer& to) const override {
            const braid::spawn_facts facts{};
            to.on_event({.kind = braid::event_kind::spawned, .task = {1}, .facts = &facts});
        }
    } run;
    run.plan = 7;
    profile::type_table all_types;
    profile::type_cache types(all_types);
    profile::plan_table all;
    profile::plan_cache plans(all);
    EXPECT_EQ(plans.number_of(run, types), 0U) << "perhaps it is the only one";
    const std::uint32_t number = plans.number_of(run, types);
    ASSERT_NE(number, 0U);
    EXPECT_EQ(plans.number_of(run, types), number);
    ASSERT_NE(all.at(number), nullptr);
    EXPECT_EQ(all.at(number)->records.size(), 1U);
    all.forget();
    EXPECT_EQ(all.at(number), nullptr);
    EXPECT_NE(all.number_of(run, types), number);
}

TEST_P(Recorder, KnowsTheNamesOfNodesWhoseRunBeganBeforeTheCapture) {
    {
        braid::scheduler s(options());
        braid::graph g(s);
        const auto before = g.add({.name = "before"}, [&] { EXPECT_TRUE(recorder_.start(sink_)); });
        const auto after = g.add({.name = "after"}, [] {});
        g.precede(before, after);
        g.run_and_wait();
    }
    ASSERT_TRUE(recorder_.stop());
    EXPECT_FALSE(recorder_.listens());
    const capture c = sink_.read();
    std::vector<std::string> started;
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == record_kind::started) started.push_back(c.types[r.aux].name);
        }
    }
    EXPECT_NE(std::find(started.begin(), started.end(), "after"), started.end());
}

TEST_P(Recorder, KnowsTheSeatsOfItsThreads) {
    {
        braid::scheduler s(options());
        ASSERT_TRUE(recorder_.start(sink_));
        // Each worker takes part: one body for each, and all wait until all are there.
        std::counting_semaphore<> here(0), go(0);
        std::vector<braid::task_id> all;
        for (int i = 0; i < GetParam(); ++i) {
            all.push_back(
                s.spawn({.name = "here", .on = s.worker_thread(static_cast<unsigned>(i))}, [&] {
                    here.release();
                    go.acquire();
                }));
        }
        for (int i = 0; i < GetParam(); ++i) here.acquire();
        go.release(GetParam());
        for (const braid::task_id id : all) s.wait(id);
    }
    ASSERT_TRUE(recorder_.stop());
    const capture c = sink_.read();
    int workers = 0;
    for (const profile::lane& l : c.lanes) {
        workers += l.kind == profile::lane_kind::worker;
        if (l.kind == profile::lane_kind::worker) {
            EXPECT_NE(l.seat, profile::lane::no_seat);
        }
        EXPECT_NE(l.name, "");
    }
    EXPECT_EQ(workers, GetParam());
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind != record_kind::spawned || c.types[r.aux].name != "here") continue;
            EXPECT_NE(r.flags & profile::spawn_restricted, 0);
        }
    }
}

TEST_P(Recorder, ThatIsNotStartedWritesNothing) {
    braid::scheduler s(options());
    EXPECT_FALSE(recorder_.listens());
    s.wait(s.spawn([] {}));
    EXPECT_EQ(profile::recorder::active(), nullptr);
    {
        const profile::scope nothing("nothing");
    }
    profile::count("nothing", 1);
    EXPECT_EQ(recorder_.statistics().records, 0U);
    EXPECT_TRUE(recorder_.stop());
}

TEST_P(Recorder, MayBeStartedAgainWhileTasksRun) {
    braid::scheduler s(options());
    std::atomic<bool> over{false};
    std::atomic<int> rounds{0};
    std::thread busy([&] {
        while (!over.load(std::memory_order_relaxed)) {
            s.wait(s.spawn({.name = "outer"}, [&](braid::task_context& t) {
                t.wait(t.spawn({.name = "inner"}, [] {}));
            }));
            rounds.fetch_add(1, std::memory_order_relaxed);
        }
    });
    for (int i = 0; i < 10; ++i) {
        memory_sink sink;
        ASSERT_TRUE(recorder_.start(sink));
        const int before = rounds.load(std::memory_order_relaxed);
        while (rounds.load(std::memory_order_relaxed) < before + 20) std::this_thread::yield();
        ASSERT_TRUE(recorder_.stop());
        const capture c = sink.read();
        EXPECT_TRUE(c.whole);
        EXPECT_GE(count_of(c, record_kind::ended), 10U);
    }
    over.store(true, std::memory_order_relaxed);
    busy.join();
}

TEST(RecorderItself, RecordsOneAtATime) {
    memory_sink sink;  // outlives the recording that second's end stops
    profile::recorder first, second;
    ASSERT_TRUE(first.start(sink));
    EXPECT_EQ(second.start(sink).text, "another recorder records; stop() it first");
    EXPECT_EQ(first.start(sink).text, "this recorder records already; stop() it first");
    EXPECT_TRUE(first.stop());
    EXPECT_TRUE(second.start(sink));
    EXPECT_EQ(profile::recorder::active(), &second);
}

TEST(RecorderItself, SaysWhenAFileCannotBeWritten) {
    profile::recorder r;
    EXPECT_EQ(r.start("no such folder/a.braid").text,
              "cannot write 'no such folder/a.braid': No such file or directory");
    EXPECT_EQ(profile::recorder::active(), nullptr);
    ASSERT_TRUE(r.start("/dev/full"));
    EXPECT_EQ(r.stop().text, "cannot write '/dev/full': No space left on device");
}

TEST(RecorderItself, ScopesCountersAndFramesOfTheProgram) {
    memory_sink sink;
    profile::recorder r;
    ASSERT_TRUE(r.start(sink));
    r.begin_frame(7);
    {
        const profile::scope outer("outer");
        const profile::scope inner("inner");
        profile::count("load", 0.75);
    }
    r.end_frame(7);
    ASSERT_TRUE(r.stop());
    const capture c = sink.read();
    ASSERT_EQ(c.lanes.size(), 1U);
    std::vector<std::pair<record_kind, std::string>> seen;
    for (const record& of : c.lanes[0].records) {
        if (of.kind >= record_kind::switched_out) continue;
        seen.emplace_back(of.kind, c.types[of.aux].name);
        if (of.kind == record_kind::counter) {
            EXPECT_EQ(std::bit_cast<double>(of.other), 0.75);
        }
        if (of.kind == record_kind::frame_end) {
            EXPECT_EQ(of.other, 7U);
        }
    }
    const std::vector<std::pair<record_kind, std::string>> expected = {
        {record_kind::frame_begin, "frame"}, {record_kind::scope_begin, "outer"},
        {record_kind::scope_begin, "inner"}, {record_kind::counter, "load"},
        {record_kind::scope_end, "inner"},   {record_kind::scope_end, "outer"},
        {record_kind::frame_end, "frame"}};
    EXPECT_EQ(seen, expected);
    EXPECT_NE(c.types[type_called(c, "inner")].file.find("recorder_test.cpp"), std::string::npos);
}

/// A name in memory that is used again for another one.
TEST(RecorderItself, NamesThatAreNoLiteralsAreReadEachTime) {
    memory_sink sink;
    profile::recorder r;
    ASSERT_TRUE(r.start(sink));
    const auto text = std::make_unique<char[]>(64);
    for (const char* name :
         {"grass", "stone", "a name that is longer than what a thread keeps of it"}) {
        std::snprintf(text.get(), 64, "%s", name);
        for (int i = 0; i < 2; ++i) r.count(text.get(), 1);
    }
    ASSERT_TRUE(r.stop());
    const capture c = sink.read();
    std::map<std::string, int> counts;
    for (const record& of : c.lanes.at(0).records) {
        if (of.kind == record_kind::counter) ++counts[c.types[of.aux].name];
    }
    EXPECT_EQ(counts["grass"], 2);
    EXPECT_EQ(counts["stone"], 2);
    EXPECT_EQ(counts["a name that is longer than what a thread keeps of it"], 2);
}

TEST(RecorderItself, DropsAndCountsWhatHasNoRoom) {
    memory_sink sink;
    // Emptied at the end only: everything has to go through 64 places.
    profile::recorder r({.ring_records = 64, .flush_every = braid::nanoseconds{INT64_MAX / 4}});
    ASSERT_TRUE(r.start(sink));
    for (int i = 0; i < 1000; ++i) profile::count("n", i);
    ASSERT_TRUE(r.stop());
    const capture c = sink.read();
    EXPECT_EQ(c.lanes.at(0).dropped, 1000U - 64U);
    EXPECT_EQ(count_of(c, record_kind::counter), 64U);
    EXPECT_EQ(r.statistics().dropped, 936U);
}

TEST(RecorderItself, TakesAnyNumberOfRecordsAndAnyTimeBetweenFlushes) {
    using range = profile::recorder_options;
    for (const std::size_t records :
         {std::size_t{0}, std::size_t{1}, range::least_ring_records, range::most_ring_records - 1,
          range::most_ring_records, SIZE_MAX - 1, SIZE_MAX}) {
        memory_sink sink;
        profile::recorder r({.ring_records = records, .flush_every = braid::no_limit});
        ASSERT_TRUE(r.start(sink));
        for (int i = 0; i < 100; ++i) profile::count("n", i);
        ASSERT_TRUE(r.stop());
        const std::size_t kept = std::min<std::size_t>(100, std::max<std::size_t>(records, 16));
        EXPECT_EQ(count_of(sink.read(), record_kind::counter), kept) << "emptied at the end only";
    }
    for (const std::int64_t every : {INT64_MIN, std::int64_t{0}, std::int64_t{1}, INT64_MAX - 1}) {
        memory_sink sink;
        profile::recorder r({.ring_records = 64, .flush_every = braid::nanoseconds{every}});
        ASSERT_TRUE(r.start(sink));
        for (int i = 0; i < 50; ++i) profile::count("n", i);
        ASSERT_TRUE(r.stop());
        EXPECT_EQ(count_of(sink.read(), record_kind::counter), 50U);
    }
}

std::ptrdiff_t open_files() {
    std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

TEST(RecorderItself, ThreadsThatEndAreInTheCaptureAndLeaveNothingBehind) {
    memory_sink sink;
    profile::recorder r({.ring_records = 64});
    const std::ptrdiff_t files = open_files();
    ASSERT_TRUE(r.start(sink));
    constexpr int threads = 40;
    for (int i = 0; i < threads; ++i) {
        std::thread([] { profile::count("n", 1); }).join();
    }
    ASSERT_TRUE(r.stop());
    EXPECT_EQ(open_files(), files);
    const capture c = sink.read();
    EXPECT_EQ(count_of(c, record_kind::counter), std::size_t{threads});
    EXPECT_EQ(c.lanes.size(), std::size_t{threads});
}

TEST(RecorderItself, ARefusedStartLeavesTheFileOfTheOtherAlone) {
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "refused_start.braid").string();
    profile::recorder first, second;
    ASSERT_TRUE(first.start(path));
    profile::count("n", 1);
    EXPECT_EQ(second.start(path).text, "another recorder records; stop() it first");
    ASSERT_TRUE(first.stop());
    capture c;
    EXPECT_TRUE(profile::read_capture(path, c));
    EXPECT_TRUE(c.whole);
    EXPECT_EQ(count_of(c, record_kind::counter), 1U);
}

TEST(RecorderItself, AnySequenceOfStartsAndStopsByTwoThreadsIsWellOrdered) {
    profile::recorder r;
    const auto cycle = [&r] {
        for (int i = 0; i < 50; ++i) {
            memory_sink sink;
            if (!r.start(sink)) continue;
            profile::count("n", i);
            EXPECT_TRUE(r.stop());
        }
    };
    std::thread other(cycle);
    cycle();
    other.join();
    EXPECT_EQ(profile::recorder::active(), nullptr);
}

/// The builder's end comes long after its begin, and nothing in between is told.
TEST(RecorderItself, WhatFollowsAPauseOfTheProgramHasTheTimeOfThen) {
    memory_sink sink;
    profile::recorder r;
    braid::task_id built;
    std::int64_t paused = 0;
    {
        braid::scheduler s({.workers = 0, .observer = &r});
        ASSERT_TRUE(r.start(sink));
        braid::task_builder b = s.begin({.name = "built"}, braid::empty);
        built = b.id();
        const auto began = std::chrono::steady_clock::now();
        const auto since = [&] { return (std::chrono::steady_clock::now() - began).count(); };
        while (since() < 2'000'000) {
        }
        paused = since();
        b.finish();
    }
    ASSERT_TRUE(r.stop());
    const capture c = sink.read();
    std::uint64_t spawned = 0, completed = 0;
    for (const profile::lane& l : c.lanes) {
        for (const record& of : l.records) {
            if (of.task == built.value && of.kind == record_kind::spawned) spawned = of.time;
            if (of.task == built.value && of.kind == record_kind::completed) completed = of.time;
        }
    }
    EXPECT_GE(completed, spawned + static_cast<std::uint64_t>(paused) / 2);
}

TEST(RecorderItself, OptionsWithoutBracesHaveNoPlaceRatherThanTheLibrarys) {
    memory_sink sink;
    profile::recorder r;
    {
        braid::scheduler s({.workers = 0, .observer = &r});
        ASSERT_TRUE(r.start(sink));
        braid::task_options plain;
        plain.name = "plain";
        s.wait(s.spawn(plain, [] {}));
    }
    ASSERT_TRUE(r.stop());
    for (const profile::record_type& type : sink.read().types) {
        EXPECT_EQ(type.file.find("task.hpp"), std::string::npos) << type.file;
    }
}

TEST(RecordRing, HandsOnEachRecordOnceInOrder) {
    record places[8];
    profile::record_ring ring(places);
    constexpr std::uint64_t last = 100'000;
    std::thread writer([&] {
        for (std::uint64_t i = 1; i <= last;) {
            record* const to = ring.begin_push();
            if (to == nullptr) {
                std::this_thread::yield();
                continue;
            }
            to->task = i++;
            ring.end_push();
        }
    });
    std::uint64_t seen = 0;
    while (seen != last) {
        ring.pop([&](std::span<const record> some) {
            for (const record& r : some) ASSERT_EQ(r.task, ++seen);
        });
    }
    writer.join();
}

}  // namespace
