// R6: a crash after the swap is named, and the process ends as it would have.
#include "reload_test.hpp"
#include "scale.hpp"

#include <braid/reload/arena.hpp>

#include <csignal>
#include <cstdio>

namespace braid_test {
namespace {

class ReloadCrash : public reload_test {
protected:
    ReloadCrash() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");  // the host has threads
        load_host(true);
    }
    void load_host(bool names) {
        step.reset();
        state.reset();
        reload::modules_options o = options();
        o.name_crashes = names;
        modules.emplace(*scheduler, o);
        step.emplace(add(), "step", [](reload::arena&) { return stub_value; });
        state.emplace(*modules);
    }
    void take(const std::string& build) {
        put(build);
        EXPECT_EQ(look().loaded(), 1u);
    }
    /// By a worker, in a task.
    void step_in_task() {
        std::atomic<bool> done{false};
        scheduler->post({.name = "think", .on = scheduler->worker_thread(0)}, [&] {
            (void)(*step)(*state);
            done = true;
        });
        until([&] { return done.load(); });
    }
    std::string sentence(const std::string& task, int number, const std::string& function) {
        return "braid: task '" + task +
               "' has crashed in code of module 'game', build [0-9a-f]+, with signal " +
               std::to_string(number) +
               (sanitized ? "" : "\nbraid: it is tried::" + function + " at tried.cpp:[0-9]+");
    }

    std::optional<reload::function<int(reload::arena&)>> step;
    std::optional<reload::arena> state;
};

TEST_F(ReloadCrash, IsNamedByModuleBuildFunctionAndLine) {
    take("tried_nobody");
    EXPECT_DEATH((void)(*step)(*state), sentence("", SIGSEGV, "act"));
    take("tried_signal");
    EXPECT_DEATH((void)(*step)(*state), sentence("", SIGFPE, "act"));
}

TEST_F(ReloadCrash, InALibraryThatTheCodeCalledIsThatOfTheCode) {
    take("tried_aborts");
    EXPECT_DEATH((void)(*step)(*state), sentence("", SIGABRT, "act"));
}

TEST_F(ReloadCrash, OnAWorkerIsNamedWithItsTask) {
    take("tried_nobody");
    EXPECT_DEATH(step_in_task(), sentence("think", SIGSEGV, "act"));
}

TEST_F(ReloadCrash, OfAStackThatIsUsedUpIsNamedToo) {
    take("tried_deep");
    EXPECT_DEATH((void)(*step)(*state), sentence("", SIGSEGV, "dig"));
    EXPECT_DEATH(step_in_task(), sentence("think", SIGSEGV, "dig"));
}

TEST_F(ReloadCrash, EndsTheProcessByItsSignal) {
    take("tried_signal");
    if (sanitized) GTEST_SKIP() << "a sanitizer ends the process itself";
    EXPECT_EXIT((void)(*step)(*state), testing::KilledBySignal(SIGFPE), "");
}

extern "C" void end_by_own_handler(int) {
    std::fputs("the program's own handler\n", stderr);
    std::_Exit(7);
}

TEST_F(ReloadCrash, ReachesTheHandlerThatWasThereBefore) {
    EXPECT_EXIT(
        {
            std::signal(SIGFPE, &end_by_own_handler);
            take("tried_signal");
            (void)(*step)(*state);
        },
        testing::ExitedWithCode(7),
        "has crashed in code of module(.|\n)*the program's own handler");
}

TEST_F(ReloadCrash, ElsewhereIsNotTheModules) {
    if (sanitized) GTEST_SKIP() << "a sanitizer has its own say";
    take("tried_nobody");
    const auto crash_here = [] {
        std::fputs("here\n", stderr);
        std::raise(SIGFPE);
    };
    EXPECT_EXIT(crash_here(), testing::KilledBySignal(SIGFPE), "^here\n$");
}

}  // namespace
}  // namespace braid_test
