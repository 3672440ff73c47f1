// R6: new code is tried in a child before it runs here.
#include "forbidden_calls.hpp"
#include "reload_test.hpp"
#include "scale.hpp"

#include <braid/reload/arena.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

namespace braid_test {
namespace {

class ReloadTrial : public reload_test {
protected:
    ReloadTrial() {
        logic = &add();
        step.emplace(*logic, "step", [](reload::arena&) { return stub_value; });
        state.emplace(*modules);
        try_steps(braid::seconds(20));
        put("tried_good");
        EXPECT_EQ(look().loaded(), 1u) << "nothing is tried before the first load";
    }
    void try_steps(braid::nanoseconds within) {
        modules->try_with([this](reload::trial&) { (void)(*step)(*state); },
                          {.frames = 3, .within = within});
    }
    /// Frames, with the code before, until a boundary has something to say.
    reload::outcome run() {
        for (;;) {
            reload::outcome went = modules->at_frame_boundary();
            if (went) return went;
            ++steps;
            EXPECT_EQ((*step)(*state), steps) << "the code before goes on";
            std::this_thread::yield();
        }
    }
    /// Frames until there is a child. One is not begun while a thread is still about to rest.
    void begin_to_try(const std::string& name) {
        put(name);
        modules->check_now();
        while (waitpid(-1, nullptr, WNOHANG) != 0) {
            EXPECT_FALSE(modules->at_frame_boundary());
            std::this_thread::yield();
        }
    }
    reload::outcome try_build(const std::string& name) {
        put(name);
        modules->check_now();
        return run();
    }
    void expect_refused(const std::string& name, const std::string& why,
                        const std::string& at = "") {
        SCOPED_TRACE(name);
        const reload::outcome went = try_build(name);
        EXPECT_EQ(went.loaded(), 0u);
        EXPECT_EQ(went.refused(), 1u);
        expect_sentence(went,
                        "odule 'game' was refused, and the code before goes on: its trial " + why);
        if (!sanitized) expect_sentence(went, at);
        EXPECT_FALSE(look()) << "said twice";
        EXPECT_EQ((*step)(*state), ++steps);
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    }

    /// What `reloaded` of the code that runs has to have heard about this boundary.
    std::string report_of(const reload::outcome& went, const std::string& old_build) const {
        return "game from " + old_build + " to " + logic->build_id() + ": " +
               std::to_string(went.migrated().objects) + " objects, " +
               std::to_string(went.migrated().bytes) + " bytes, took time";
    }

    reload::module* logic = nullptr;
    std::optional<reload::function<int(reload::arena&)>> step;
    std::optional<reload::arena> state;
    int steps = 0;
};

TEST_F(ReloadTrial, TheReportNamesBothBuildsAndWhatWentOver) {
    const reload::function<const char*()> said(*logic, "said_of_reload", [] { return ""; });
    EXPECT_STREQ(said(), "") << "the first load replaces nothing";
    modules->try_with(nullptr);
    (void)(*step)(*state);
    std::string old_build = logic->build_id();
    put("tried_wide");
    const reload::outcome wide = look();
    EXPECT_GT(wide.migrated().objects, 0u) << wide.text();
    EXPECT_GT(wide.migrated().bytes, 0u);
    EXPECT_NE(old_build, logic->build_id());
    EXPECT_EQ(said(), report_of(wide, old_build));
    old_build = logic->build_id();
    put("tried_wide_too");
    const reload::outcome same = look();
    EXPECT_EQ(same.loaded(), 1u) << same.text();
    EXPECT_EQ(same.migrated().objects, 0u);
    EXPECT_EQ(said(), report_of(same, old_build));
}

TEST_F(ReloadTrial, ItsReportIsTheOneOfTheReload) {
    const reload::function<const char*()> said(*logic, "said_of_reload", [] { return ""; });
    const fs::path in_trial = place / "in_trial";
    modules->try_with([&](reload::trial&) { std::ofstream(in_trial) << said(); },
                      {.frames = 1, .within = braid::seconds(20)});
    (void)(*step)(*state);
    const std::string old_build = logic->build_id();
    put("tried_wide");
    modules->check_now();
    reload::outcome went = modules->at_frame_boundary();
    while (!went) {
        std::this_thread::yield();
        went = modules->at_frame_boundary();
    }
    EXPECT_GT(went.migrated().objects, 0u) << went.text();
    std::string there;
    std::getline(std::ifstream(in_trial), there);
    EXPECT_EQ(there, report_of(went, old_build));
    EXPECT_EQ(there, said());
}

TEST_F(ReloadTrial, GoodCodeGoesOverAndTheFramesOfTheTrialDidNotHappenHere) {
    const reload::outcome went = try_build("tried_rule");
    EXPECT_EQ(went.loaded(), 1u) << went.text();
    EXPECT_EQ((*step)(*state), ++steps);
}

TEST_F(ReloadTrial, TheStateOfTheFrameOfTheSwapGoesOver) {
    for (; steps < 5; ++steps) (void)(*step)(*state);
    const reload::outcome went = try_build("tried_wide");
    EXPECT_EQ(went.loaded(), 1u) << went.text();
    EXPECT_GT(went.migrated().objects, 0u);
    EXPECT_EQ((*step)(*state), 700 + ++steps);
}

TEST_F(ReloadTrial, WhateverEndsTheChildIsRefusedByNameAndPlace) {
    (void)(*step)(*state);
    ++steps;
    expect_refused("tried_nobody", "ended in frame 0 with SIGSEGV", "in tried::act at tried.cpp:");
    expect_refused("tried_null_call", "ended in frame 0 with SIGSEGV", "tried::act at tried.cpp:");
    expect_refused("tried_signal", "ended in frame 0 with SIGFPE", "tried::act at tried.cpp:");
    expect_refused("tried_aborts", "ended in frame 0 with SIGABRT", "tried::act at tried.cpp:");
    expect_refused("tried_killed", "was killed in frame 0, perhaps for want of memory");
    expect_refused("tried_exits", "called exit(3) in frame 0");
    expect_refused("tried_leaves", "ended the process in frame 0, with exit code 4");
    expect_refused("tried_throws", "threw an exception in frame 0: no way");
    expect_refused("tried_reloaded", "ended in reloaded() with SIGABRT",
                   "tried::reloaded at tried.cpp:");
    expect_refused("tried_static", "ended while it was loaded with SIGSEGV", "tried.cpp:");
}

TEST_F(ReloadTrial, AStackThatIsUsedUpIsRefusedByPlace) {
    expect_refused("tried_deep", "ended in frame 0 with SIGSEGV", "tried::dig at tried.cpp:");
}

TEST_F(ReloadTrial, AFrameThatDoesNotEndIsRefusedByPlace) {
    bytes code = read(built("tried_hangs"));
    // A busy machine may not let the child come to its frame in time. Then it gets twice as much.
    bool is_named = false;
    for (int ms = 300; !is_named; ms *= 2) {
        try_steps(braid::milliseconds(ms));
        code.push_back({});  // What was refused is not tried again.
        put_bytes(code);
        modules->check_now();
        const reload::outcome went = run();
        EXPECT_EQ(went.loaded(), 0u);
        EXPECT_EQ(went.refused(), 1u);
        expect_sentence(went, "its trial was not done after " + std::to_string(ms) + " ms");
        if (HasFailure()) return;
        const std::string text = went.text();
        is_named = text.find(", in frame 0") != std::string::npos &&
                   (sanitized || text.find("tried::act at tried.cpp:") != std::string::npos);
    }
    EXPECT_FALSE(look()) << "said twice";
    EXPECT_EQ((*step)(*state), ++steps);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST_F(ReloadTrial, LaterFramesOfTheTrialCountToo) {
    // It ends at every second step.
    (void)(*step)(*state);
    ++steps;
    const reload::outcome went = try_build("tried_second");
    expect_sentence(went, "its trial ended in frame 1 with SIGABRT");
}

TEST_F(ReloadTrial, AnInvariantThatFramesBreakRefuses) {
    for (; steps < 4; ++steps) (void)(*step)(*state);
    expect_refused("tried_rule",
                   "failed after the last frame: reload_invariant of tried::pack says: too many");
}

TEST_F(ReloadTrial, TheFunctionMaySayThatTheCodeDoesNotDoWhatItShould) {
    modules->try_with([](reload::trial& trial) {
        if (trial.frame() == 1) trial.fail("the picture is black");
    });
    expect_refused("tried_rule", "failed in frame 1: the picture is black");
}

TEST_F(ReloadTrial, ItsTasksRunOnASchedulerOfItsOwn) {
    modules->try_with([this](reload::trial& trial) {
        int done = 0;
        braid::scheduler& tasks = trial.tasks();
        for (int i = 0; i < 10; ++i) tasks.wait(tasks.spawn([&done] { ++done; }));
        trial.fail(done == 10 && &tasks != &*scheduler ? "ten" : "not ten");
    });
    expect_refused("tried_rule", "failed in frame 0: ten");
}

TEST_F(ReloadTrial, ANewerFileEndsATrialThatGoesOn) {
    try_steps(braid::seconds(100));
    begin_to_try("tried_hangs");
    const reload::outcome went = try_build("tried_rule");
    EXPECT_EQ(went.loaded(), 1u) << went.text();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(ReloadTrial, AFileThatIsTakenBackEndsATrialThatGoesOn) {
    try_steps(braid::seconds(100));
    begin_to_try("tried_hangs");
    put("tried_good");
    modules->check_now();
    EXPECT_FALSE(modules->at_frame_boundary());
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(ReloadTrial, TheChildEndsWithTheModulesObject) {
    try_steps(braid::seconds(100));
    begin_to_try("tried_hangs");
    step.reset();
    state.reset();
    modules.reset();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(ReloadTrial, TheChildEndsWithItsHost) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // the host has threads
    // A child whose parent has ended becomes this process's, which can see how it ends.
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const auto host_that_is_killed = [this] {
        modules->try_with(
            [](reload::trial&) {
                kill(getppid(), SIGKILL);
                for (;;) pause();
            },
            {.within = braid::seconds(20)});
        put("tried_rule");
        modules->check_now();
        while (!modules->at_frame_boundary()) std::this_thread::yield();
    };
    EXPECT_EXIT(host_that_is_killed(), testing::KilledBySignal(SIGKILL), "");
    int state_of_child = 0;
    ASSERT_GT(waitpid(-1, &state_of_child, 0), 0) << "there was no child";
    EXPECT_TRUE(WIFSIGNALED(state_of_child)) << "it went on until SIGALRM";
    EXPECT_EQ(WTERMSIG(state_of_child), SIGKILL);
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST_F(ReloadTrial, AForkThatFailsRefusesTheCodeWithItsReason) {
    put("tried_rule");
    modules->check_now();
    bool can_refuse = false;
    std::optional<reload::outcome> went;
    // The rule ends with its thread.
    std::thread loop([&] {
        can_refuse = braid_test::forbid_calls({SYS_clone, SYS_clone3}, EAGAIN);
        if (can_refuse) went = run();
    });
    loop.join();
    if (!can_refuse) GTEST_SKIP() << "no filter for calls of the system here";
    EXPECT_EQ(went->refused(), 1u);
    expect_sentence(*went, "there was no process for its trial: Resource temporarily unavailable");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(try_build("tried_rule").loaded(), 1u);
}
#endif

TEST_F(ReloadTrial, WithoutAProcessForItTheCodeIsRefusedAndTakenLater) {
    if (braid_test::sanitized) GTEST_SKIP() << "UBSan looks at objects through a pipe of its own";
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    put("tried_rule");
    modules->check_now();
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    reload::outcome went;
    while (!went) went = modules->at_frame_boundary();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(went.refused(), 1u);
    expect_sentence(went, "there was no process for its trial: Too many open files");
    EXPECT_EQ(try_build("tried_rule").loaded(), 1u);
}

TEST_F(ReloadTrial, WhatHasBeenRefusedIsNotTriedAgainAndALaterBuildIs) {
    expect_refused("tried_aborts", "ended in frame 0 with SIGABRT");
    put("tried_aborts");
    EXPECT_FALSE(look());
    EXPECT_EQ(try_build("tried_wide").loaded(), 1u);
    const auto files = [this] {
        std::ptrdiff_t count = 0;
        for (const auto& one : fs::recursive_directory_iterator(copies.path())) {
            count += one.is_regular_file();
        }
        return count;
    };
    EXPECT_EQ(files(), 2) << "copies of what was loaded, and no other";
}

TEST_F(ReloadTrial, OfTwoModulesTheOneThatEndsItIsRefusedAndTheOtherTaken) {
    reload::module& second = add("second");
    const reload::function<int(reload::arena&)> other(second, "step",
                                                      [](reload::arena&) { return stub_value; });
    put("game_1", "unused");
    put("tried_second", "second");
    EXPECT_EQ(look().loaded(), 1u);
    put("tried_nobody", "game");
    put("tried_good", "second");
    modules->check_now();
    const reload::outcome first = run();
    expect_sentence(first, "odule 'game' was refused");
    const reload::outcome then = run();
    EXPECT_EQ(then.loaded(), 1u) << then.text();
    EXPECT_EQ(second.loads(), 2u);
}

class ReloadTrialWatched : public reload_test {};

TEST_F(ReloadTrialWatched, TrialsAndTheirVerdictsNeedNobodyWhoAsks) {
    reload::modules_options watching = options();
    watching.watch = true;
    watching.clock = nullptr;
    modules.emplace(*scheduler, watching);
    const reload::function<int(reload::arena&)> step(add(), "step",
                                                     [](reload::arena&) { return stub_value; });
    reload::arena state(*modules);
    modules->try_with([&](reload::trial&) { (void)step(state); }, {.within = braid::seconds(20)});
    const auto run = [&] {
        for (;;) {
            if (const reload::outcome went = modules->at_frame_boundary()) return went;
            (void)step(state);
            std::this_thread::yield();
        }
    };
    put("tried_good");
    while (run().loaded() == 0) {
    }
    for (int i = 0; i < 3; ++i) {
        put("tried_wide");
        EXPECT_EQ(run().loaded(), 1u);
        put(i % 2 == 0 ? "tried_aborts" : "tried_nobody");
        if (i < 2) {
            EXPECT_EQ(run().refused(), 1u);
        }
        put("tried_good");
        while (run().loaded() == 0) {
        }
    }
}

/// The host keeps a pointer into the module, as a table of functions that it has copied once.
class ReloadTrialStaleCall : public reload_test,
                             public testing::WithParamInterface<bool> {  // is that watched here?
protected:
    using runner = void(void*);
    ReloadTrialStaleCall() {
        reload::modules_options own = options();
        own.stop_stale_calls = own.name_crashes = GetParam();
        modules.emplace(*scheduler, own);
        holder = &add("holder");
        put("holder_1", "holder");
        EXPECT_EQ(look().loaded(), 1u);
        const reload::function<runner*()> give(*holder, "give_run", []() -> runner* { return {}; });
        kept = give();
        before = holder->build_id();
    }
    reload::outcome try_holder() {
        modules->check_now();
        for (;;) {
            if (const reload::outcome went = modules->at_frame_boundary()) return went;
            std::this_thread::yield();
        }
    }

    reload::module* holder = nullptr;
    runner* kept = nullptr;
    std::string before;
    int counter = 0;
};
INSTANTIATE_TEST_SUITE_P(Watched, ReloadTrialStaleCall, testing::Bool(),
                         [](const auto& of) { return of.param ? "Also" : "Not"; });

TEST_P(ReloadTrialStaleCall, RefusesTheCodeByFunctionAndBuildAndTheProgramGoesOn) {
    modules->try_with([this](reload::trial&) { kept(&counter); }, {.within = braid::seconds(60)});
    put("holder_2", "holder");
    const reload::outcome went = try_holder();
    EXPECT_EQ(went.refused(), 1u);
    expect_sentence(went, "its trial called code of build " + before.substr(0, 12) +
                              ", which was replaced, in frame 0");
    expect_sentence(went, "; the pointer is older than the reload");
    if (!sanitized) expect_sentence(went, ", in world::run at holder.cpp:");
    EXPECT_EQ(holder->build_id(), before);
    kept(&counter);
    EXPECT_EQ(counter, 1) << "the code before runs here";
}

TEST_P(ReloadTrialStaleCall, IsFoundAlsoWhereTheCodeWasReplacedLongBefore) {
    put("holder_2", "holder");
    EXPECT_EQ(look().loaded(), 1u) << "without a trial";
    modules->try_with([this](reload::trial&) { kept(&counter); }, {.within = braid::seconds(60)});
    put("holder_1", "holder");
    const reload::outcome went = try_holder();
    EXPECT_EQ(went.refused(), 1u);
    expect_sentence(went, "its trial called code of build " + before.substr(0, 12) +
                              ", which was replaced, in frame 0");
}

TEST_P(ReloadTrialStaleCall, RefusesNoOtherModuleThatIsTriedWithIt) {
    reload::module& sound = add("sound");
    put("sound_1", "sound");
    EXPECT_EQ(look().loaded(), 1u);
    modules->try_with([this](reload::trial&) { kept(&counter); }, {.within = braid::seconds(60)});
    put("holder_2", "holder");
    put("sound_2", "sound");
    const reload::outcome first = try_holder();
    expect_sentence(first, "odule 'holder' was refused");
    ASSERT_EQ(first.refused(), 1u) << first.text();
    modules->try_with([](reload::trial&) {}, {.within = braid::seconds(60)});
    while (sound.loads() != 2) {
        modules->check_now();
        (void)modules->at_frame_boundary();
        std::this_thread::yield();
    }
    EXPECT_EQ(holder->build_id(), before);
}

TEST_P(ReloadTrialStaleCall, IsNoneWhereThePointerIsAskedForAgain) {
    const reload::function<runner*()> give(*holder, "give_run", []() -> runner* { return {}; });
    modules->try_with(
        [&](reload::trial& trial) {
            int own = 0;
            give()(&own);
            if (own != 2) trial.fail("the new code did not run");
        },
        {.within = braid::seconds(60)});
    put("holder_2", "holder");
    const reload::outcome went = try_holder();
    EXPECT_EQ(went.loaded(), 1u) << went.text();
}

TEST_F(ReloadTrial, NullMeansNoTrials) {
    modules->try_with(nullptr);
    put("tried_rule");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_THROW(modules->try_with(nullptr, {.within = braid::nanoseconds(0)}),
                 std::invalid_argument);
}

}  // namespace
}  // namespace braid_test
