// C31: what the library says goes to handlers, and without them to standard error; it never exits
// or aborts by itself.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <cctype>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using braid_test::recorder;

BRAID_SCHEDULER_TEST(Handlers);

TEST_P(Handlers, ARefusedTaskIsLoggedWithItsName) {
    braid::scheduler s(options());
    s.shut_down();
    EXPECT_FALSE(s.spawn({.name = "too late"}, [] {}));
    EXPECT_EQ(notes_.count(&recorder::log, "too late"), 1U);
}

TEST_P(Handlers, ACallersMistakeGoesToTheAssertionHandlerAndIsRefused) {
    braid::scheduler s(options());
    EXPECT_EQ(s.state({0x7777'0000'0001}), braid::task_state::unknown);
    s.wait(braid::task_id{0x7777'0000'0001});
    EXPECT_EQ(notes_.count(&recorder::misuse), 1U);
    const braid::task_id parent = s.spawn([] {});
    s.wait(parent);
    EXPECT_FALSE(s.spawn({.parent = parent}, [] {}));
    EXPECT_EQ(notes_.count(&recorder::misuse), 2U);
    braid::resource r(s);
    EXPECT_FALSE(s.spawn({.uses = {&r, &r, &r, &r, &r, &r, &r, &r, &r}}, [] {}));
    EXPECT_EQ(notes_.count(&recorder::misuse), 3U);
}

TEST_P(Handlers, ATaskAfterAnIdThatWasNeverIssuedIsRefused) {
    braid::scheduler s(options());
    const braid::task_id never{0x7777'0000'0001};
    const braid::task_id some[] = {{}, never};
    std::atomic<int> ran{0};
    const auto body = [&ran] { ++ran; };
    EXPECT_FALSE(s.spawn({.after = {never}}, body));
    EXPECT_FALSE(s.spawn({.after_all = {some, 2}}, body));
    EXPECT_FALSE(s.spawn({.after_any = {never}}, body));
    EXPECT_FALSE(s.async({.after = {never}}, body).id());
    EXPECT_EQ(notes_.count(&recorder::misuse, "never issued"), 4U);
    const braid::task_id done = s.spawn([] {});
    s.wait(done);
    EXPECT_TRUE(s.spawn({.after = {{}, done}}, body)) << "complete ones and empty ids are skipped";
    s.shut_down();
    EXPECT_EQ(ran, 1);
    expect_all_ended(s);
}

TEST_P(Handlers, AChildAfterItsParentIsRefused) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    auto outer = s.begin({}, braid::empty);
    auto inner = s.begin({.parent = outer.id()}, braid::empty);
    EXPECT_FALSE(s.spawn({.after = {outer.id()}, .parent = inner.id()}, [&ran] { ++ran; }));
    EXPECT_FALSE(s.spawn({.after = {inner.id()}, .parent = inner.id()}, [&ran] { ++ran; }));
    EXPECT_EQ(notes_.count(&recorder::misuse, "waits for it"), 2U);
    EXPECT_TRUE(s.spawn({.after = {inner.id()}, .parent = outer.id()}, [&ran] { ++ran; }));
    inner.finish();
    outer.finish();
    s.shut_down();
    EXPECT_EQ(ran, 1);
}

TEST_P(Handlers, WhatBelongsToAnotherSchedulerIsRefused) {
    braid::scheduler s(options()), other(options());
    std::atomic<int> ran{0};
    const auto body = [&ran] { ++ran; };
    braid::resource theirs(other);
    EXPECT_FALSE(s.spawn({.uses = {&theirs}}, body));
    EXPECT_FALSE(s.spawn({.uses = {nullptr}}, body));
    EXPECT_EQ(notes_.count(&recorder::misuse, "resource of another"), 2U);
    braid::scope foreign(other);
    EXPECT_FALSE(s.spawn({.within = &foreign}, body));
    EXPECT_FALSE(s.spawn({.priority = braid::priority_level::high, .within = &foreign}, body));
    EXPECT_FALSE(s.post({.within = &foreign}, body));
    EXPECT_EQ(notes_.count(&recorder::misuse, "scope of another"), 3U);
    ASSERT_TRUE(other.this_thread());
    EXPECT_FALSE(s.spawn({.on = other.this_thread()}, body));
    EXPECT_EQ(notes_.count(&recorder::misuse, "thread of another"), 1U);
    braid::event signal(other);
    signal.set();
    EXPECT_FALSE(s.do_work_while_waiting_for(signal));
    EXPECT_FALSE(s.work_until(signal));
    EXPECT_EQ(notes_.count(&recorder::misuse, "event is another"), 2U);
    EXPECT_TRUE(signal.is_set()) << "nobody has taken it";
    s.shut_down();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(foreign.account().created, 0U);
}

TEST_P(Handlers, AnExceptionThatNobodyReceivesGoesToItsHandlerWithTheTasksName) {
    braid::scheduler s(options());
    s.post({.name = "lost"}, [] { throw 1; });
    s.shut_down();
    EXPECT_EQ(notes_.count(&recorder::lost, "lost"), 1U);
    EXPECT_EQ(s.statistics().unobserved_exceptions, 1U);
}

TEST_P(Handlers, WithoutAHandlerItIsLoggedWithWhatItSays) {
    braid::scheduler_options o = options();
    o.unobserved_exception = {};
    braid::scheduler s(o);
    s.post({.name = "lost"}, [] { throw 1; });
    s.post({.name = "read"}, [] { throw std::runtime_error("'rock'\nis cut short"); });
    s.shut_down();
    constexpr const char* sentence = "threw and nobody was left to receive it";
    EXPECT_EQ(notes_.count(&recorder::log, sentence), 2U);
    EXPECT_EQ(notes_.count(&recorder::log, "task 'lost' "), 1U);
    EXPECT_EQ(notes_.count(&recorder::log,
                           "task 'read' threw and nobody was left to receive it: '\"rock\" is "
                           "cut short'"),
              1U);
}

TEST(HandlersDefault, ACallersMistakeIsLoggedBeforeAnythingEnds) {
    // A library with BRAID_CHECKED ends the program after the log, so the program is a child's.
    const auto make_a_mistake = [] {
        braid::scheduler_options o;
        o.workers = 0;
        o.log = {[](void*, braid::log_level level, const char* message) {
                     if (level == braid::log_level::error) std::fprintf(stderr, "%s\n", message);
                 },
                 nullptr};
        braid::scheduler s(o);
        const braid::task_id parent = s.spawn([] {});
        s.wait(parent);
        if (!s.spawn({.parent = parent}, [] {})) std::_Exit(7);
    };
    const auto ended = [](int status) { return status != 0; };
    EXPECT_EXIT(make_a_mistake(), ended, "add children only to a task that is open");
}

/// What a program prints that loses an exception and posts too late, with that log.
std::string printed(braid::scheduler_options o, const braid::log_handler& log) {
    o.log = log;
    o.unobserved_exception = {};
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    {
        braid::scheduler s(o);
        s.post({.name = "lost"}, [] { throw 1; });
        s.shut_down();
        s.post({.name = "too late"}, [] {});
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    return testing::internal::GetCapturedStderr();
}

TEST_P(Handlers, WithoutALogHandlerWarningsAndErrorsGoToStandardError) {
    braid::scheduler_options o = options();
    o.name = "app";
    const std::string text = printed(o, {});
    EXPECT_EQ(text.find("braid: app: "), 0U) << text;
    EXPECT_NE(text.find("'lost'"), std::string::npos) << text;
    EXPECT_NE(text.find("'too late'"), std::string::npos) << text;
}

TEST_P(Handlers, ANumberOutOfRangeIsSaidWithoutALogHandler) {
    braid::scheduler_options o = options();
    o.log = {};
    o.ring = 1;
    testing::internal::CaptureStderr();
    {
        braid::scheduler s(o);
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("scheduler_options::ring = 1 is out of range"), std::string::npos) << text;
}

TEST_P(Handlers, ASilentLogPrintsNothing) {
    EXPECT_EQ(printed(options(), braid::log_handler::silent()), "");
}

/// The first of them that `line` calls or includes, or nothing.
std::string printing_or_ending(const std::string& line) {
    for (const char* text : {"std::cout", "std::cerr", "std::clog", "<iostream>"}) {
        if (line.find(text) != std::string::npos) return text;
    }
    const auto in_a_name = [](char c) { return std::isalnum(c) != 0 || c == '_'; };
    for (const std::string name : {"printf", "fprintf", "puts", "fputs", "putchar", "perror",
                                   "abort", "exit", "_exit", "quick_exit", "assert"}) {
        for (std::size_t at = 0; (at = line.find(name, at)) != std::string::npos; ++at) {
            const std::size_t after = line.find_first_not_of(' ', at + name.size());
            const bool begins = at == 0 || !in_a_name(line[at - 1]);
            if (begins && after != std::string::npos && line[after] == '(') return name;
        }
    }
    return "";
}

std::string without_strings(const std::string& line) {
    std::string rest;
    bool inside = false;
    char before = 0;
    for (const char c : line) {
        const bool quote = c == '"' && before != '\'' && before != '\\';
        if (quote) inside = !inside;
        if (!quote && !inside) rest += c;
        before = c;
    }
    return rest;
}

TEST(HandlersRule, FindsWhatItForbids) {
    EXPECT_EQ(printing_or_ending("    std::printf(\"x\");"), "printf");
    EXPECT_EQ(printing_or_ending("if (bad) abort ();"), "abort");
    EXPECT_EQ(printing_or_ending("#include <iostream>"), "<iostream>");
    EXPECT_EQ(printing_or_ending("std::snprintf(text, n); on_exit(x); exits = 3;"), "");
    EXPECT_EQ(printing_or_ending(without_strings("note(\"exit(1)\"); exit(1);")), "exit");
    EXPECT_EQ(printing_or_ending(without_strings("note(\"exit(1)\");")), "");
}

// std::terminate is allowed where a contract in a header says so, and nowhere else. A process that
// the library has made for a trial ends itself.
TEST(HandlersRule, TheSourcesNeitherPrintNorEndTheProgram) {
    const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    std::map<std::string, int> terminates, ends;
    for (const char* folder : {"src", "include"}) {
        for (const auto& file : std::filesystem::recursive_directory_iterator(root / folder)) {
            if (!file.is_regular_file()) continue;
            std::ifstream text(file.path());
            int number = 0;
            for (std::string line; std::getline(text, line);) {
                ++number;
                line = without_strings(line.substr(0, line.find("//")));
                const std::string found = printing_or_ending(line);
                const std::string name = file.path().filename().string();
                if (found == "_exit") {
                    ++ends[name];
                } else {
                    EXPECT_EQ(found, "") << file.path() << ":" << number << ": " << line;
                }
                if (line.find("std::terminate") != std::string::npos) {
                    ++terminates[name];
                }
            }
        }
    }
    const std::map<std::string, int> documented = {
        {"assert.cpp", 1},  // a caller's mistake in the `checked` build without a handler
        // No memory for the scheduler itself: nothing could be returned.
        {"accounted_memory.cpp", 1},
        {"fork_doors.cpp", 1},  // nor for a join, neither of the scheduler nor of the process
        // A scope that one of its own tasks destroys; and with -fno-exceptions a failure that would
        {"scope.cpp", 2},          // have to be thrown,
        {"outcome_table.cpp", 1},  // and here, too
        {"future.hpp", 1},         // -fno-exceptions: get() without a value
        {"co.hpp", 1},          // -fno-exceptions: a coroutine that is awaited twice has no value
        {"per_worker.hpp", 1},  // -fno-exceptions: no memory for scratch
    };
    EXPECT_EQ(terminates, documented);
    EXPECT_EQ(ends, (std::map<std::string, int>{{"child_process.cpp", 3}}));
}

}  // namespace
