// What Tracy is told of tasks: a zone for each that runs, where it runs, with its name and place.
#include "counted_news.hpp"
#include "memory_sink.hpp"
#include "scale.hpp"
#include "told.hpp"

#include <braid/braid.hpp>
#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <array>
#include <stdexcept>

namespace {

using braid::event_kind;
using braid::task_context;
using braid::task_id;
using braid_test::told;
using braid_test::told_zone;

BRAID_TRACY_TEST(TracyZones);

bool is_this_file(const told_zone& z) {
    return z.file.ends_with("tests/profile/tracy/zones_test.cpp");
}

/// A zone of the program's own.
class user_zone {
public:
    user_zone() : zone_(___tracy_emit_zone_begin(&place, 1)) {}
    ~user_zone() { ___tracy_emit_zone_end(zone_); }
    user_zone(const user_zone&) = delete;
    user_zone& operator=(const user_zone&) = delete;

private:
    static constexpr ___tracy_source_location_data place{"user", "user", "", 1, 0};
    TracyCZoneCtx zone_;
};

TEST_P(TracyZones, EachTaskHasOneWithItsNameAndPlace) {
    constexpr std::size_t rounds = 200;
    std::uint32_t line = 0;
    const told all = watch([&](braid::scheduler& s) {
        for (std::size_t i = 0; i < rounds; ++i) {
            line = __LINE__ + 1;
            const task_id first = s.spawn({.name = "first"}, [] {});
            s.wait(s.spawn({.name = "second", .after = {first}}, [] {}));
        }
    });
    EXPECT_EQ(all.count("first"), rounds);
    EXPECT_EQ(all.count("second"), rounds);
    EXPECT_EQ(all.zones.size(), 2 * rounds);
    for (const told_zone& z : all.zones) {
        EXPECT_TRUE(is_this_file(z)) << z.file;
        EXPECT_EQ(z.line, z.name == "first" ? line : line + 1);
        EXPECT_NE(z.function, "task");
        EXPECT_EQ(z.in, SIZE_MAX);
    }
}

TEST_P(TracyZones, AreOnTheThreadThatRunsTheTaskAndAroundItsBody) {
    constexpr std::size_t tasks = 100;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tasks; ++i) names.push_back("task " + std::to_string(i));
    std::vector<unsigned> ran_on(tasks);
    {
        braid::scheduler s({.workers = GetParam(), .observer = &tracy_});
        std::vector<task_id> ids;
        for (std::size_t i = 0; i < tasks; ++i) {
            ids.push_back(s.spawn({.name = names[i].c_str()}, [&, i] {
                const user_zone inside;
                ran_on[i] = stand_in::thread_number();
            }));
        }
        for (const task_id id : ids) s.wait(id);
    }
    const told all = braid_test::read_calls(stand_in::take_calls());
    EXPECT_EQ(all.zones.size(), 2 * tasks);
    for (std::size_t i = 0; i < tasks; ++i) EXPECT_EQ(all.one(names[i]).thread, ran_on[i]);
    for (const told_zone& z : all.zones) {
        EXPECT_EQ(z.name == "user", z.in != SIZE_MAX);
        if (z.name == "user") {
            EXPECT_EQ(all.around(z).substr(0, 5), "task ");
        }
    }
}

TEST_P(TracyZones, OfWaitsAndWhatTheyRunNest) {
    const told all = watch([](braid::scheduler& s) {
        const auto tree = [](const auto& self, task_context& t, int depth) -> void {
            if (depth == 0) return;
            const auto child = [&, depth](task_context& c) { self(self, c, depth - 1); };
            const task_id left = t.spawn({.name = "branch", .parent = t.id()}, child);
            const task_id right = t.spawn({.name = "branch", .parent = t.id()}, child);
            t.wait(left);
            t.wait(right);
        };
        s.wait(s.spawn({.name = "root"}, [&](task_context& t) { tree(tree, t, 7); }));
    });
    EXPECT_EQ(all.count("root"), 1U);
    EXPECT_EQ(all.count("branch"), 254U);
    for (const told_zone& z : all.zones) {
        const std::string around = all.around(z);
        if (z.name == "wait") {
            EXPECT_TRUE(around == "root" || around == "branch") << around;
        } else {
            EXPECT_TRUE(around.empty() || around == "wait") << z.name << " in " << around;
        }
    }
    if (GetParam() == 0) {  // all of it on one thread
        EXPECT_GE(all.count("wait"), 127U);
    }
}

TEST_P(TracyZones, OfGraphsAndJobListsAreThereInEachRun) {
    constexpr std::size_t runs = 20;
    std::atomic<std::size_t> jobs{0};
    std::uint32_t line = 0;
    const told all = watch([&](braid::scheduler& s) {
        braid::graph frame(s, "frame");
        line = __LINE__ + 1;
        const auto animate = frame.add({.name = "animate"}, [] {});
        const auto skin = frame.add({.name = "skin"}, [](task_context& t) {
            t.wait(t.spawn({.name = "bone", .parent = t.id()}, [] {}));
        });
        frame.precede(animate, skin);
        for (std::size_t i = 0; i < runs; ++i) frame.run_and_wait();
        braid::job_list_manager lists(s);
        const braid::job_function job = [](void* data) {
            ++*static_cast<std::atomic<std::size_t>*>(data);
        };
        lists.register_job(job, "job");
        braid::job_list* list = lists.allocate({.name = "jobs"});
        for (int i = 0; i < 100; ++i) list->add(job, &jobs);
        list->submit();
        list->wait();
    });
    EXPECT_EQ(jobs, 100U);
    EXPECT_GE(all.count("jobs"), 1U);  // and one for each thread that came to help
    for (const char* name : {"animate", "skin", "bone"}) EXPECT_EQ(all.count(name), runs) << name;
    for (const told_zone& z : all.zones) {
        if (z.name == "animate" || z.name == "skin") {
            EXPECT_TRUE(is_this_file(z));
            EXPECT_EQ(z.line, z.name == "animate" ? line : line + 1);
        }
    }
}

TEST_P(TracyZones, OfPartsOfJoinsAreOnTheThreadThatTookThem) {
    constexpr int rounds = 20;
    std::vector<unsigned> took;  // the threads that ran a second part of another's join
    const told all = watch([&](braid::scheduler& s) {
        for (int i = 0; i < rounds; ++i) {
            s.wait(s.spawn({.name = "joins"}, [&](task_context& t) {
                std::atomic<bool> taken{false};
                const auto first = [&] {
                    while (GetParam() > 1 && !taken) std::this_thread::yield();
                };
                const unsigned owner = stand_in::thread_number();
                braid::join(t, first, [&, owner] {
                    const unsigned here = stand_in::thread_number();
                    if (here != owner) took.push_back(here);
                    taken = true;
                });
            }));
        }
    });
    const std::size_t parts = before_.count(event_kind::job_started);
    if (GetParam() > 1) {
        EXPECT_EQ(parts, std::size_t{rounds});
    }
    EXPECT_EQ(all.count("joins"), std::size_t{rounds});
    EXPECT_EQ(all.count("joins, part"), parts);
    std::vector<unsigned> zones_on;  // rounds are one after the other, and so are their zones
    for (const told_zone& z : all.zones) {
        if (z.name == "joins, part") {
            EXPECT_TRUE(is_this_file(z)) << z.file;
            zones_on.push_back(z.thread);
        }
    }
    EXPECT_EQ(zones_on, took);
}

TEST_P(TracyZones, OfDeepJoinsNest) {
    const auto sum = [](const auto& self, braid::fork_context c, int n) -> int {
        if (n < 2) return n;
        const auto [a, b] = braid::join(
            c, [&, n](braid::fork_context in) { return self(self, in, n - 1); },
            [&, n](braid::fork_context in) { return self(self, in, n - 2); });
        return a + b;
    };
    int result = 0;
    const told all = watch([&](braid::scheduler& s) {
        s.wait(s.spawn({.name = "fib"}, [&](task_context& t) { result = sum(sum, t, 18); }));
    });
    EXPECT_EQ(result, 2584);
    EXPECT_EQ(all.count("fib"), 1U);
    EXPECT_EQ(all.count("fib, part"), before_.count(event_kind::job_started));
}

/// Perhaps with a failure.
bool ends(braid::scheduler& s, task_id id) {
    try {
        s.wait(id);
    } catch (const std::runtime_error&) {
    }
    return s.done(id);
}

TEST_P(TracyZones, EndWhenTheTaskThrows) {
    constexpr std::size_t rounds = 50;
    const told all = watch([&](braid::scheduler& s) {
        for (std::size_t i = 0; i < rounds; ++i) {
            const task_id outer = s.spawn({.name = "outer"}, [](task_context& t) {
                t.wait(t.spawn({.name = "throws"}, [] { throw std::runtime_error("planted"); }));
            });
            EXPECT_TRUE(ends(s, outer));
            const task_id joins = s.spawn({.name = "joins"}, [](task_context& t) {
                braid::join(t, [] {}, [] { throw std::runtime_error("planted"); });
            });
            EXPECT_TRUE(ends(s, joins));
        }
    });
    EXPECT_GE(before_.count(event_kind::failed), 2 * rounds);
    for (const char* name : {"outer", "throws", "joins"})
        EXPECT_EQ(all.count(name), rounds) << name;
}

TEST_P(TracyZones, OfCancelledTasksAreNotThere) {
    const told all = watch([](braid::scheduler& s) {
        braid_test::door all_spawned;
        const task_id fails = s.spawn({.name = "fails"}, [&] {
            all_spawned.pass();
            throw std::runtime_error("planted");
        });
        const task_id after = s.spawn({.name = "cancelled", .after = {fails}}, [] {});
        const task_id finally = s.spawn({.name = "finally", .after_any = {after}}, [] {});
        all_spawned.open();
        s.wait(finally);
    });
    EXPECT_EQ(all.count("fails"), 1U);
    EXPECT_EQ(all.count("cancelled"), 0U);
    EXPECT_EQ(all.count("finally"), 1U);
    EXPECT_EQ(before_.count(event_kind::cancelled), 1U);
}

/// try_post() tells nothing but the start, and its slots were those of tasks with a place.
TEST_P(TracyZones, WithoutNameOrPlaceSayNothingOfOthers) {
    constexpr std::size_t tasks = 300;
    std::atomic<std::size_t> ran{0};
    std::size_t posted = 0, line = 0;
    const told all = watch([&](braid::scheduler& s) {
        for (std::size_t i = 0; i < tasks; ++i) s.wait(s.spawn({.name = "placed"}, [] {}));
        const auto count = [](void* data) { ++*static_cast<std::atomic<std::size_t>*>(data); };
        for (std::size_t i = 0; i < tasks; ++i) posted += s.try_post(count, &ran);
        line = __LINE__ + 1;
        s.wait(s.spawn([] {}));
        braid::task_options plain;
        s.wait(s.spawn(plain, [] {}));
    });
    EXPECT_GT(posted, 0U);
    EXPECT_EQ(ran, posted);
    EXPECT_EQ(all.count("placed"), tasks);
    EXPECT_EQ(all.count(""), posted + 2);
    std::size_t placed = 0;
    for (const told_zone& z : all.zones) {
        if (!z.name.empty()) continue;
        if (z.line != 0) {
            ++placed;
            EXPECT_TRUE(is_this_file(z)) << z.file;
            EXPECT_EQ(z.line, line);
            EXPECT_NE(z.function, "task");
        } else {
            EXPECT_EQ(z.file, "");
            EXPECT_EQ(z.function, "task");
        }
    }
    EXPECT_EQ(placed, 1U);
}

/// Tracy asks for a name at any time, perhaps when its memory is another name's.
TEST_P(TracyZones, KeepNamesThatAreNoLiterals) {
    const told all = watch([](braid::scheduler& s) {
        const auto text = std::make_unique<char[]>(64);
        for (const char* name : {"grass", "stone", "grass", ""}) {
            std::snprintf(text.get(), 64, "%s", name);
            s.wait(s.spawn({.name = text.get()}, [] {}));
        }
    });
    EXPECT_EQ(all.count("grass"), 2U);
    EXPECT_EQ(all.count("stone"), 1U);
    EXPECT_EQ(all.count(""), 1U);
}

TEST_P(TracyZones, OfOneNameInTwoPlacesAreTwoPlaces) {
    std::array<std::uint32_t, 2> lines{};
    const told all = watch([&](braid::scheduler& s) {
        for (int i = 0; i < 10; ++i) {
            lines[0] = __LINE__ + 1;
            s.wait(s.spawn({.name = "same"}, [] {}));
            lines[1] = __LINE__ + 1;
            s.wait(s.spawn({.name = "same"}, [] {}));
        }
    });
    std::map<std::uint32_t, int> by_line;
    for (const told_zone& z : all.zones) ++by_line[z.line];
    EXPECT_EQ(by_line, (std::map<std::uint32_t, int>{{lines[0], 10}, {lines[1], 10}}));
}

TEST_P(TracyZones, OfBackgroundWorkAndBlockingCalls) {
    const told all = watch([](braid::scheduler& s) {
        const task_id slow =
            s.spawn({.name = "slow", .runs_as = braid::task_class::background}, [] {});
        const task_id blocks = s.spawn({.name = "blocks"}, [&] { s.blocking([] {}); });
        s.wait(slow);
        s.wait(blocks);
    });
    EXPECT_EQ(all.count("slow"), 1U);
    EXPECT_EQ(all.count("blocks"), 1U);
}

TEST(TracyZonesThemselves, BeyondTheDeepestAreLeftOutAndTheOthersEnd) {
    constexpr std::size_t deepest = 1024;
    stand_in::take_calls();
    braid::profile::tracy_observer tracy;
    for (std::size_t round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < 2 * deepest; ++i) {
            tracy.on_event({.kind = event_kind::started, .task = {i + 1}, .name = "deep"});
        }
        for (std::size_t i = 0; i < 2 * deepest; ++i) {
            tracy.on_event({.kind = event_kind::ended, .task = {2 * deepest - i}});
        }
        EXPECT_EQ(braid_test::read_calls(stand_in::take_calls()).zones.size(), deepest);
    }
}

/// As one that is handed events from the middle of a run on.
TEST(TracyZonesThemselves, ThatBeganBeforeAnybodyListenedDoNotEnd) {
    stand_in::take_calls();
    braid::profile::tracy_observer tracy;
    tracy.on_event({.kind = event_kind::ended, .task = {1}});
    tracy.on_event({.kind = event_kind::started, .task = {1}, .name = "next"});
    tracy.on_event({.kind = event_kind::ended, .task = {1}});
    EXPECT_EQ(braid_test::read_calls(stand_in::take_calls()).zones.size(), 1U);
}

TEST_P(TracyZones, ThreadsOfTheSchedulerAndMainThreadsHaveTheirNames) {
    unsigned guest = 0, render = 0;
    const told all = watch([&](braid::scheduler& s) {
        for (int i = 0; i < GetParam(); ++i) {
            s.wait(s.spawn({.on = s.worker_thread(static_cast<unsigned>(i))}, [] {}));
        }
        std::thread([&] {
            guest = stand_in::thread_number();
            s.wait(s.spawn([] {}));
        }).join();
        std::thread([&] {
            render = stand_in::thread_number();
            const braid::main_thread me(s, "render");
            s.wait(s.spawn([] {}));
        }).join();
    });
    std::map<std::string, unsigned> threads;
    for (const auto& [thread, name] : all.thread_names) {
        EXPECT_TRUE(threads.emplace(name, thread).second) << name << " twice";
        EXPECT_NE(thread, guest) << name;
    }
    EXPECT_EQ(threads["main"], stand_in::thread_number());  // who makes a scheduler
    EXPECT_EQ(threads["render"], render);
    EXPECT_GE(threads.size(), static_cast<std::size_t>(GetParam()) + 2);
}

/// Their zones nest where a task of the one waits for a task of the other.
TEST_P(TracyZones, AnyNumberOfSchedulersAreWatched) {
    constexpr std::size_t rounds = 50;
    {
        braid::profile::tracy_observer of_first, of_second;
        braid::scheduler first({.workers = GetParam(), .observer = &of_first});
        braid::scheduler second({.workers = GetParam(), .observer = &of_second});
        for (std::size_t i = 0; i < rounds; ++i) {
            first.wait(first.spawn({.name = "outer"}, [&] {
                second.wait(second.spawn({.name = "inner"}, [&] {
                    first.wait(first.spawn({.name = "innermost"}, [] {}));
                }));
                const user_zone still_in_outer;
            }));
        }
    }
    const told all = braid_test::read_calls(stand_in::take_calls());
    for (const char* name : {"outer", "inner", "innermost", "user"}) {
        EXPECT_EQ(all.count(name), rounds) << name;
    }
    for (const told_zone& z : all.zones) {
        if (z.name == "user") {
            EXPECT_EQ(all.around(z), "outer");
        }
    }
}

TEST_P(TracyZones, ARecorderListensAtOnce) {
    constexpr std::size_t tasks = 100;
    braid_test::memory_sink sink;
    braid::profile::recorder recorder;
    braid::profile::tracy_observer tracy({.forward_to = &recorder});
    ASSERT_TRUE(recorder.start(sink));
    {
        braid::scheduler s({.workers = GetParam(), .observer = &tracy});
        for (std::size_t i = 0; i < tasks; ++i) s.wait(s.spawn({.name = "both"}, [] {}));
    }
    ASSERT_TRUE(recorder.stop());
    EXPECT_EQ(braid_test::read_calls(stand_in::take_calls()).count("both"), tasks);
    std::size_t recorded = 0;
    for (const auto& lane : sink.read().lanes) {
        for (const auto& r : lane.records) {
            recorded += r.kind == braid::profile::record_kind::started;
        }
    }
    EXPECT_EQ(recorded, tasks);
}

class TracySteady : public braid_test::allocation_test {};
INSTANTIATE_TEST_SUITE_P(Workers, TracySteady, testing::Values(0, 1, 2, 8),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(TracySteady, StateAllocatesNothing) {
    stand_in::write_down(false);
    braid::profile::tracy_observer tracy;
    {
        braid::scheduler_options o = options();
        o.observer = &tracy;
        braid::scheduler s(o);
        braid::graph graph(s, "graph");
        graph.precede(graph.add({.name = "first"}, [] {}), graph.add({.name = "second"}, [] {}));
        expect_steady_state([&] {
            for (int i = 0; i < 50; ++i) {
                s.wait(s.spawn({.name = "parent"}, [](task_context& t) {
                    t.wait(t.spawn({.name = "child", .parent = t.id()}, [] {}));
                }));
            }
            graph.run_and_wait();
        });
    }
    stand_in::write_down(true);
}

}  // namespace
