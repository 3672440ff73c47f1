// R3, the last line: code that was replaced is not run by a pointer that somebody has forgotten.
#include "reload_test.hpp"

#include "scale.hpp"

#include <csignal>
#include <thread>

namespace braid_test {
namespace {

using runner = void(void*);

class ReloadStaleCall : public reload_test {
protected:
    ReloadStaleCall() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");  // the host has threads
        reload::modules_options strict = options();
        strict.stop_stale_calls = true;
        modules.emplace(*scheduler, strict);
        holder = &add("holder");
        put("holder_1", "holder");
        EXPECT_EQ(look().loaded(), 1u);
    }
    runner* give_run() {
        const reload::function<runner*()> give(*holder, "give_run", []() -> runner* { return {}; });
        return give();
    }
    void replace() {
        put("holder_2", "holder");
        EXPECT_EQ(look().loaded(), 1u);
    }

    reload::module* holder = nullptr;
};

TEST_F(ReloadStaleCall, EndsTheProcessWithTaskFunctionAndBuild) {
    runner* const old = give_run();
    const std::string build = holder->build_id().substr(0, 12);
    replace();
    int counter = 0;
    EXPECT_DEATH(
        scheduler->wait(scheduler->spawn({.name = "think"}, [&] { old(&counter); })),
        "task 'think' has called code of module 'holder', build " + build + ", which was replaced" +
            (sanitized ? ""
                       : "; the pointer is older than the reload\nbraid: it is world::run at "
                         "holder.cpp:[0-9]+"));
    give_run()(&counter);
    EXPECT_EQ(counter, 2) << "the new code runs";
}

TEST_F(ReloadStaleCall, IsNotOneOfAThreadThatEndsWithThreadLocalsOfReplacedCode) {
    int counter = 0;
    std::atomic<bool> called{false}, ends{false};
    const reload::function<void(int&)> count(*holder, "count_at_thread_end", [](int&) {});
    std::thread other([&] {
        count(counter);
        called = true;
        until([&] { return ends.load(); });
    });
    until([&] { return called.load(); });
    replace();
    ends = true;
    other.join();
    EXPECT_EQ(counter, 1);
}

TEST_F(ReloadStaleCall, RunsTheOldCodeAgainWhenTheModulesObjectHasEnded) {
    runner* const old = give_run();
    replace();
    modules.reset();
    int counter = 0;
    old(&counter);
    EXPECT_EQ(counter, 1);
}

TEST_F(ReloadStaleCall, OtherFaultsEndTheProcessAsBefore) {
    replace();
    EXPECT_DEATH(std::raise(SIGSEGV), "");
}

}  // namespace
}  // namespace braid_test
