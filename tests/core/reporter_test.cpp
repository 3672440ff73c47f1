// The reporter alone, without a scheduler: handlers, events, durations of tasks and their rows.
#include "core/report/reporter.hpp"
#include "refusing_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace braid;
using detail::report_part;

class log_of_lines {
public:
    log_handler handler() {
        return {[](void* user, log_level, const char* message) {
                    static_cast<log_of_lines*>(user)->lines.emplace_back(message);
                },
                this};
    }
    std::vector<std::string> lines;
};

class events final : public observer {
public:
    void on_event(const task_event& e) override { all.push_back(e); }
    using observer::listen;
    std::vector<task_event> all;
};

/// What a scheduler has beside its reporter.
struct reporter_alone {
    explicit reporter_alone(const scheduler_options& o, bool identified = false)
        : options(handlers.complete(o)),
          memory(o.memory, 0, o.out_of_memory),
          report(options, memory, identified) {}

    detail::default_handlers handlers;
    const scheduler_options options;
    detail::accounted_memory memory;
    detail::reporter report;
};

class Reporter : public testing::Test {
protected:
    static constexpr nanoseconds limit = milliseconds(10);

    scheduler_options options() {
        scheduler_options o;
        o.name = "alone";
        o.log = log_.handler();
        o.long_task = limit;
        return o;
    }
    /// Notes tasks that have run for `time` and are ending now.
    static void note(reporter_alone& r, report_part& w, const char* name, nanoseconds time,
                     bool quiet = false, unsigned count = 1) {
        r.report.note_duration(w, name, quiet, r.report.task_clock() - time.value, count);
    }
    /// The options with which each name gets a row.
    scheduler_options with_statistics() {
        scheduler_options o = options();
        o.statistics = true;
        return o;
    }
    static void note_each(reporter_alone& r, report_part& w,
                          const std::vector<std::string>& names) {
        for (const std::string& name : names) note(r, w, name.c_str(), nanoseconds(0), true);
    }
    static std::uint64_t rows_of(report_part& w, const std::string& name) {
        const detail::locked lock(w.types_mutex);
        std::uint64_t count = 0;
        for (unsigned n = 0; w.types != nullptr && n < detail::type_rows; ++n) {
            if (w.types[n].name != nullptr && w.types[n].name == name) count += w.types[n].count;
        }
        return count;
    }

    log_of_lines log_;
};

TEST_F(Reporter, OptionsWithoutHandlersGetALogAndAssertionsThatGoToIt) {
    scheduler_options none;
    EXPECT_EQ(reporter_alone(none).options.log.function, &detail::standard_error::say);
    none.log = log_.handler();
    const reporter_alone r(none);
    EXPECT_EQ(r.options.assertion.function, &detail::log_misuse);
    const auto* const said = static_cast<const log_handler*>(r.options.assertion.user);
    said->function(said->user, log_level::error, "give more");
    ASSERT_EQ(log_.lines.size(), 1U);
    EXPECT_EQ(log_.lines[0], "give more");
}

TEST_F(Reporter, HandlersOfTheProgramStay) {
    scheduler_options given = options();
    given.assertion = {[](void*, const char*, const char*, const char*, int) {}, &given};
    const reporter_alone r(given);
    EXPECT_EQ(r.options.log.user, &log_);
    EXPECT_EQ(r.options.assertion.function, given.assertion.function);
}

TEST_F(Reporter, ATaskThatTookLongIsLoggedWithNameThreadAndTime) {
    reporter_alone r(options());
    report_part w(seat_kind::worker);
    std::snprintf(w.name, sizeof w.name, "worker 3");
    note(r, w, "path finding", milliseconds(20));
    ASSERT_EQ(log_.lines.size(), 1U);
    EXPECT_EQ(log_.lines[0].find("alone: task 'path finding' took "), 0U) << log_.lines[0];
    EXPECT_NE(log_.lines[0].find(" ms on worker 3; split it"), std::string::npos) << log_.lines[0];
    EXPECT_GE(
        std::atof(log_.lines[0].c_str() + std::string("alone: task 'path finding' took ").size()),
        20.0);
    EXPECT_EQ(w.counters.long_tasks.load(), 1U);
    note(r, w, "step", milliseconds(20), false, 7);
    EXPECT_NE(log_.lines.at(1).find("7 tasks 'step' in a row took "), std::string::npos);
}

TEST_F(Reporter, OfALongTaskNothingIsSaidWhereItIsExpected) {
    scheduler_options o = options();
    reporter_alone r(o);
    report_part worker(seat_kind::worker), background(seat_kind::background);
    note(r, worker, "load", milliseconds(20), true);
    note(r, background, "load", milliseconds(20));
    o.long_task = nanoseconds(0);
    reporter_alone never(o);
    note(never, worker, "load", milliseconds(20));
    EXPECT_EQ(log_.lines, std::vector<std::string>());
    EXPECT_EQ(worker.counters.long_tasks.load() + background.counters.long_tasks.load(), 0U);
}

TEST_F(Reporter, TimeElsewhereIsNoTimeOfTheTask) {
    reporter_alone r(options());
    report_part w(seat_kind::worker);
    w.elsewhere = std::int64_t{1} << 62;
    note(r, w, "waits", milliseconds(20));
    EXPECT_EQ(log_.lines, std::vector<std::string>());
}

TEST_F(Reporter, WithoutStatisticsNoRowIsMade) {
    reporter_alone r(options());
    report_part w(seat_kind::worker);
    note(r, w, "step", nanoseconds(0));
    EXPECT_EQ(rows_of(w, "step"), 0U);
    EXPECT_EQ(r.memory.allocations(), 0U);
}

TEST_F(Reporter, EachTextHasItsCountAlsoWhereItLiesAtManyAddresses) {
    reporter_alone r(with_statistics());
    report_part w(seat_kind::worker);
    // More addresses than rows, and fewer texts.
    std::vector<std::string> names;
    for (unsigned n = 0; n != 3 * detail::type_rows; ++n)
        names.push_back("t" + std::to_string(n % 100));
    note_each(r, w, names);
    for (unsigned t = 0; t != 100; ++t) {
        const unsigned times = 3 * detail::type_rows / 100 + (t < 3 * detail::type_rows % 100);
        EXPECT_EQ(rows_of(w, "t" + std::to_string(t)), times) << t;
    }
    EXPECT_NE(r.memory.bytes(memory_tag::worker), 0U);
    r.report.release(w);
    EXPECT_EQ(r.memory.bytes(memory_tag::worker), 0U);
    r.report.release(w);
}

TEST_F(Reporter, TextsBeyondTheRowsAreLeftOutAndTheOthersStay) {
    reporter_alone r(with_statistics());
    report_part w(seat_kind::worker);
    std::vector<std::string> names;
    for (unsigned n = 0; n != detail::type_rows + 1; ++n) names.push_back(std::to_string(n));
    note_each(r, w, names);
    for (unsigned n = 0; n != detail::type_rows; ++n) EXPECT_EQ(rows_of(w, names[n]), 1U) << n;
    EXPECT_EQ(rows_of(w, names.back()), 0U);
    r.report.release(w);
}

TEST_F(Reporter, WithoutMemoryForRowsTheTimeIsCountedAllTheSame) {
    braid_test::refusing_memory memory(
        {[](void*, std::size_t bytes, std::size_t, memory_tag) { return std::malloc(bytes); },
         [](void*, void* bytes, std::size_t, std::size_t, memory_tag) { std::free(bytes); }});
    scheduler_options o = with_statistics();
    o.memory = memory.hooks();
    o.out_of_memory = {[](void*, std::size_t, const char*) {}};
    reporter_alone r(o);
    report_part w(seat_kind::worker);
    memory.refuse_after(0);
    note(r, w, "step", milliseconds(1), true);
    EXPECT_EQ(memory.refused(), 1);
    EXPECT_GE(w.counters.busy_ns.load(), 1'000'000U);
    memory.give_back();
    note(r, w, "step", milliseconds(1), true);
    EXPECT_EQ(rows_of(w, "step"), 1U);
    r.report.release(w);
}

TEST_F(Reporter, AnObserverThatListensIsObservedAndEndsThePlainPath) {
    events log;
    scheduler_options o = options();
    reporter_alone without(o);
    EXPECT_FALSE(without.report.observed());
    EXPECT_TRUE(without.report.unwatched());
    EXPECT_TRUE(without.report.plain_ways());
    o.observer = &log;
    reporter_alone r(o);
    EXPECT_TRUE(r.report.observed());
    EXPECT_FALSE(r.report.unwatched());
    log.listen(false);
    EXPECT_FALSE(r.report.observed());
    EXPECT_TRUE(r.report.unwatched());
    EXPECT_FALSE(reporter_alone(o, true).report.unwatched()) << "with stable ids";
    o.deadlock.lines = true;
    EXPECT_FALSE(reporter_alone(o).report.unwatched()) << "with lines";
    o.deadlock.lines = false;
    o.statistics = true;
    EXPECT_FALSE(reporter_alone(o).report.unwatched()) << "with statistics";
    EXPECT_FALSE(reporter_alone(o).report.plain_ways());
}

TEST_F(Reporter, EventsHaveTheSeatAndWhatTheyAreAbout) {
    events log;
    scheduler_options o = options();
    o.observer = &log;
    reporter_alone r(o);
    report_part w(seat_kind::main);
    std::snprintf(w.name, sizeof w.name, "main");
    const task_id a{1}, b{2};
    int object = 0;
    r.report.event(7, event_kind::edge, a, b, "edge");
    r.report.resource(8, event_kind::acquired, a, &object, "file");
    r.report.seated(9, seat_kind::main, w);
    ASSERT_EQ(log.all.size(), 3U);
    EXPECT_EQ(log.all[0].kind, event_kind::edge);
    EXPECT_EQ(log.all[0].seat, 7);
    EXPECT_EQ(log.all[0].task, a);
    EXPECT_EQ(log.all[0].other, b);
    EXPECT_STREQ(log.all[0].name, "edge");
    EXPECT_EQ(log.all[1].seat, 8);
    EXPECT_EQ(log.all[1].object, &object);
    EXPECT_STREQ(log.all[1].name, "file");
    EXPECT_EQ(log.all[2].seat, 9);
    EXPECT_EQ(log.all[2].holder, seat_kind::main);
    EXPECT_STREQ(log.all[2].name, "main");
}

}  // namespace
