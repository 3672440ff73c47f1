// What a back end may count on that collects what starts in one moment, and sends it together.
#include "braid/graph/graph.hpp"
#include "core/extension.hpp"
#include "device/outside_back_end.hpp"
#include "device_fixture.hpp"
#include "seeded_chooser.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace {

using namespace braid_test;
using braid::task_context;
using device::ticket;
using device::detail::record;

class collecting final : public device::detail::outside_back_end {
public:
    explicit collecting(bool refuses) : refuses_(refuses) {}
    const char* kind() const override { return "collecting"; }
    std::size_t size() const override { return sizeof(collecting); }
    bool start(record& r) override {
        const braid::detail::locked l(lock());
        collected_.push_back(&r);
        return true;
    }
    bool has_collected() const override { return !collected_.empty(); }
    void flush() override {
        std::vector<record*> all;
        bool refuses = false;
        {
            const braid::detail::locked l(lock());
            all.swap(collected_);
            sent_.push_back(all.size());
            refuses = refuses_ && sent_.size() == 2;
            if (!refuses) flying_.insert(flying_.end(), all.begin(), all.end());
        }
        if (refuses) refused_ = numbers_of(all);
        if (refuses && before_refusal) before_refusal(all);
        while (refuses && !all.empty()) {
            record& newest = *all.back();
            all.pop_back();
            refused(newest);
        }
    }

    std::function<void(const std::vector<record*>&)> before_refusal;
    bool are_unwanted(const std::vector<record*>& all) const {
        const braid::detail::locked l(lock());
        return std::all_of(all.begin(), all.end(), [](const record* r) { return r->is_unwanted; });
    }

    void end_all() {
        std::vector<record*> all;
        {
            const braid::detail::locked l(lock());
            all.swap(flying_);
        }
        ended(all, device::detail::attempt::went_well);
    }
    std::vector<std::uint64_t> flying() const {
        const braid::detail::locked l(lock());
        return numbers_of(flying_);
    }
    /// In the order in which they were to start.
    std::vector<std::uint64_t> were_refused() const { return refused_; }
    std::vector<std::size_t> sent() const {
        const braid::detail::locked l(lock());
        return sent_;
    }

private:
    static std::vector<std::uint64_t> numbers_of(const std::vector<record*>& all) {
        std::vector<std::uint64_t> numbers;
        for (const record* const r : all) numbers.push_back(r->number);
        return numbers;
    }

    const bool refuses_;
    std::vector<std::uint64_t> refused_;
    std::vector<record*> collected_, flying_;
    std::vector<std::size_t> sent_;  // how many at once
};

class collecting_processor : public device::processor {
public:
    explicit collecting_processor(braid::scheduler& s, bool refuses = false) {
        void* const room = collecting::room(s, sizeof(collecting));
        how = ::new (room) collecting(refuses);
        start(s, {}, how);
    }
    collecting* how = nullptr;
};

using counts = std::vector<std::size_t>;

BRAID_SCHEDULER_TEST(DeviceBackEnd);

/// One, then eight that come after it, then eight that come after one of them each.
TEST_P(DeviceBackEnd, WhatStartsInOneMomentIsSentTogether) {
    braid::scheduler s(options());
    collecting_processor p(s);
    std::atomic<bool> submitted{false};
    const braid::task_id task = s.spawn([&](task_context& t) {
        const ticket first = p.submit(t, {.kernel = nothing});
        for (int i = 0; i < 8; ++i) {
            const ticket next = p.submit(t, {.kernel = nothing, .after = {first}});
            p.submit(t, {.kernel = nothing, .after = {next}});
        }
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    p.how->end_all();
    p.how->end_all();
    EXPECT_EQ(p.how->sent(), (counts{1, 8, 8}));
    p.how->end_all();
    s.wait(task);
    EXPECT_EQ(p.report().completed, 17U);
    expect_account(p.report());
}

/// Notes how many threads have been woken so far, each time when the test's thread settles one.
class wake_counter final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        if (e.kind == braid::event_kind::settled && std::this_thread::get_id() == thread_) {
            wakes.push_back(of->statistics().wakes);
        }
    }
    const braid::scheduler* of = nullptr;
    std::vector<std::uint64_t> wakes;

private:
    const std::thread::id thread_ = std::this_thread::get_id();
};

/// Each releases a task on the cores, and the only worker sleeps. A worker that has said so, but
/// looks once more before it does, sees the first of them by itself: then nobody is woken, and it
/// is tried again.
TEST_P(DeviceBackEnd, WhatEndsInOneMomentWakesOneThreadAfterAllOfItIsSettled) {
    constexpr std::size_t count = 16;
    wake_counter counter;
    braid::scheduler_options o = options();
    o.workers = 1;
    o.observer = &counter;
    braid::scheduler s(o);
    counter.of = &s;
    collecting_processor p(s);
    std::uint64_t woken = 0;
    while (woken == 0) {
        std::vector<braid::task_id> after;
        for (std::size_t i = 0; i < count; ++i) {
            const braid::task_id task =
                s.spawn([&](task_context& t) { p.submit(t, {.kernel = nothing}); });
            after.push_back(s.spawn({.after = {task}}, [] {}));
        }
        until([&] { return p.how->flying().size() == count; });
        const auto& asleep = s.internals().asleep();
        until([&] {
            return asleep.first_asleep(braid::detail::searcher::idle) != asleep.capacity &&
                   !asleep.anybody_searching();
        });
        counter.wakes.clear();
        const std::uint64_t before = s.statistics().wakes;
        p.how->end_all();
        woken = s.statistics().wakes - before;
        EXPECT_LE(woken, 1U);
        EXPECT_EQ(counter.wakes, std::vector<std::uint64_t>(count, before));
        for (const braid::task_id task : after) s.wait(task);
    }
    expect_account(p.report());
}

TEST_P(DeviceBackEnd, WhatComesAfterOneStartsInTheOrderInWhichItWasSubmitted) {
    braid::scheduler s(options());
    collecting_processor p(s);
    std::atomic<bool> submitted{false};
    const braid::task_id task = s.spawn([&](task_context& t) {
        const ticket first = p.submit(t, {.kernel = nothing});
        for (int i = 0; i < 6; ++i) p.submit(t, {.kernel = nothing, .after = {first}});
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    p.how->end_all();
    const std::vector<std::uint64_t> flying = p.how->flying();
    EXPECT_EQ(flying.size(), 6U);
    EXPECT_TRUE(std::is_sorted(flying.begin(), flying.end()));
    p.how->end_all();
    s.wait(task);
    expect_account(p.report());
}

TEST_P(DeviceBackEnd, WhatIsRefusedAndNotWantedAnyMoreIsNotTriedAgain) {
    braid::scheduler s(options());
    collecting_processor p(s, true);
    std::atomic<bool> submitted{false};
    braid::scope all(s);
    p.how->before_refusal = [&](const std::vector<record*>& refused) {
        all.cancel();
        work_until(s, [&] { return p.how->are_unwanted(refused); });
    };
    s.spawn({.within = &all}, [&](task_context& t) {
        const ticket first = p.submit(t, {.kernel = nothing});
        for (int i = 0; i < 4; ++i) p.submit(t, {.kernel = nothing, .after = {first}});
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    p.how->end_all();
    wait_for_all(all);
    EXPECT_EQ(p.how->sent(), (counts{1, 4}));
    const device::processor_report r = p.report();
    EXPECT_EQ(r.refused, 4U);
    EXPECT_EQ(r.cancelled, 4U);
    EXPECT_EQ(r.completed, 1U);
    expect_account(r);
}

/// The oldest runs on the cores, as nothing else could end; the others start again in their order.
TEST_P(DeviceBackEnd, WhatIsRefusedTogetherIsTriedAgainInItsOrder) {
    braid::scheduler s(options());
    collecting_processor p(s, true);
    std::atomic<bool> submitted{false};
    const braid::task_id task = s.spawn([&](task_context& t) {
        const ticket first = p.submit(t, {.kernel = nothing});
        for (int i = 0; i < 4; ++i) p.submit(t, {.kernel = nothing, .after = {first}});
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    p.how->end_all();
    work_until(s, [&] { return p.how->flying().size() == 3; });
    std::vector<std::uint64_t> rest = p.how->were_refused();
    ASSERT_EQ(rest.size(), 4U);
    rest.erase(rest.begin());
    EXPECT_EQ(p.how->flying(), rest);
    EXPECT_EQ(p.how->sent(), (counts{1, 4, 3}));
    p.how->end_all();
    s.wait(task);
    const device::processor_report r = p.report();
    EXPECT_EQ(r.refused, 4U);
    EXPECT_EQ(r.moved_to_cores, 1U);
    EXPECT_EQ(r.completed, 4U);
    expect_account(r);
}

/// Busy while something is in flight, which ends when the test says so, or with the alarm, before
/// which nobody has said so.
class ended_late final : public device::detail::outside_back_end {
public:
    explicit ended_late(bool by_alarm) : by_alarm_(by_alarm) {}
    const char* kind() const override { return "ended late"; }
    std::size_t size() const override { return sizeof(ended_late); }
    bool start(record& r) override {
        const braid::detail::locked l(lock());
        flying_.push_back(&r);
        ++starts_;
        return true;
    }
    bool is_busy() const override { return !flying_.empty(); }
    void serve(std::int64_t) override {
        if (by_alarm_) end_all();
    }
    void give_up() override { end_all(device::detail::attempt::lost); }

    void end_all(device::detail::attempt how = device::detail::attempt::went_well) {
        std::vector<record*> all;
        {
            const braid::detail::locked l(lock());
            all.swap(flying_);
        }
        ended(all, how);
    }
    /// The last of them flies, or has been ended.
    unsigned starts() const {
        const braid::detail::locked l(lock());
        return starts_;
    }

private:
    const bool by_alarm_;
    unsigned starts_ = 0;
    std::vector<record*> flying_;
};

class processor_ended_late : public device::processor {
public:
    processor_ended_late(braid::scheduler& s, bool by_alarm, braid::nanoseconds hang_after) {
        void* const room = ended_late::room(s, sizeof(ended_late));
        how = ::new (room) ended_late(by_alarm);
        start(s, {.hang_after = hang_after}, how);
    }
    ended_late* how = nullptr;
};

TEST_P(DeviceBackEnd, WhatEndsWithTheAlarmDoesNotHang) {
    braid::scheduler s(options());
    processor_ended_late p(s, true, braid::microseconds(100));
    const device::buffer b = p.buffer({.bytes = 64});
    for (int i = 0; i < 5; ++i) {
        s.wait(s.spawn([&](task_context& t) {
            EXPECT_TRUE(p.submit(t, {.kernel = nothing, .writes = {b}}));
        }));
    }
    EXPECT_EQ(p.report().completed, 5U);
    EXPECT_EQ(p.report().losses, 0U);
    EXPECT_FALSE(p.map<std::uint32_t>(b).empty());
    expect_account(p.report());
}

/// However long the test is kept: what counts is how long ago the second one was submitted. The
/// first one may have been lost by then.
TEST_P(DeviceBackEnd, WhatStartsAfterAPauseHasAllOfHangAfter) {
    constexpr std::chrono::milliseconds hang_after{20}, pause{15};
    braid::scheduler s(options());
    processor_ended_late p(s, false, hang_after);
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto submit = [&](unsigned starts) {
        s.spawn([&](task_context& t) { p.submit(t, {.kernel = nothing}); });
        work_until(s, [&] { return p.how->starts() == starts; });
    };
    submit(1);
    p.how->end_all();
    const std::uint64_t losses = p.report().losses;
    const auto ended = now();
    work_until(s, [&] { return now() - ended >= pause; });
    const auto begun = now();
    submit(2);
    const auto is_lost = [&] { return p.report().losses != losses; };
    work_until(s, [&] { return is_lost() || now() - begun >= pause; });
    EXPECT_TRUE(!is_lost() || now() - begun >= hang_after);
    p.how->end_all();
}

/// 100 tasks with a submission each, in a chain that begins when all of them have returned: this
/// thread runs them, so that they have when it looks.
void expect_one_waking_edge(braid::scheduler& s, device::processor& p) {
    collecting_processor gate(s);
    ticket last;
    std::atomic<int> returned{0};
    const auto submit_next = [&](bool first) {
        return s.spawn({.on = s.this_thread()}, [&, first](task_context& t) {
            last = first ? gate.submit(t, {.kernel = nothing})
                         : p.submit(t, {.kernel = nothing, .after = {last}});
            ++returned;
        });
    };
    braid::task_id task;
    for (int i = 0; i <= 100; ++i) {
        task = submit_next(i == 0);
        work_until(s, [&] { return returned == i + 1; });
    }
    const braid::task_id successor = s.spawn({.after = {task}}, [] {});
    EXPECT_EQ(p.report().waking_edges, 0U);
    gate.how->end_all();
    s.wait(successor);
    EXPECT_EQ(p.report().completed, 100U);
    EXPECT_EQ(p.report().waking_edges, 1U);
    EXPECT_EQ(gate.report().waking_edges, 1U);  // what passes its end on to the other processor
}

class DeviceEdges : public scheduler_test {};
INSTANTIATE_TEST_SUITE_P(Workers, DeviceEdges, testing::Values(0),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(DeviceEdges, AChainWakesACoreOnceHoweverManyTasksItBelongsTo) {
    braid::scheduler s(options());
    device::fake fake(s, {.latency = braid::microseconds(20)});
    expect_one_waking_edge(s, fake);
    device::local_store local(s, {.units = 2});
    expect_one_waking_edge(s, local);
}

/// With a chooser time passes only when everybody waits.
TEST_P(DeviceEdges, AreCountedForWhateverWaitsForTheTask) {
    seeded_chooser chooser(5);
    braid::scheduler_options o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    device::fake p(s, {.latency = braid::milliseconds(30)});
    std::uint64_t before = 0;
    const auto edges = [&] {
        const std::uint64_t now = p.report().waking_edges;
        return now - std::exchange(before, now);
    };
    const auto body = [&](task_context& t) {
        p.submit(t, {.kernel = nothing});
        p.submit(t, {.kernel = nothing});
    };
    s.wait(s.spawn(body));
    EXPECT_EQ(edges(), 1U) << "a wait";
    s.wait(s.spawn([&](task_context& t) { s.spawn({.parent = t.id()}, body); }));
    EXPECT_EQ(edges(), 1U) << "a parent";
    braid::graph g(s);
    const auto node = g.add({.name = "node"}, body);
    EXPECT_TRUE(g.precede(node, g.add({.name = "after"}, [] {})));
    g.run_and_wait();
    EXPECT_EQ(edges(), 1U) << "a node";
    const braid::task_id unwanted = s.spawn(body);
    work_until(s, [&] { return p.report().completed == 8; });
    EXPECT_EQ(edges(), 0U) << "nobody";
    s.wait(unwanted);
}

}  // namespace
