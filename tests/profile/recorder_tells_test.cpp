// What a capture says of events, joins and failures: the recorder's part of design/seams.md.
#include "braid/braid.hpp"
#include "braid/fork_join.hpp"
#include "braid/profile/recorder.hpp"
#include "memory_sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>

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

/// What comes next on the lane that has the first of a kind.
record_kind kind_after(const capture& c, record_kind first) {
    for (const profile::lane& l : c.lanes) {
        const auto found = std::find_if(l.records.begin(), l.records.end(),
                                        [&](const record& r) { return r.kind == first; });
        if (found != l.records.end() && found + 1 != l.records.end()) return found[1].kind;
    }
    return {};
}

TEST(ObserverTells, TheRecorderWhichEventWasSetAndTaken) {
    memory_sink sink;
    profile::recorder recorder;
    std::uint64_t address = 0, setter = 0;
    {
        braid::scheduler s({.workers = 0, .observer = &recorder});
        ASSERT_TRUE(recorder.start(sink));
        braid::event done(s);
        address = reinterpret_cast<std::uintptr_t>(&done);
        setter = s.spawn([&] { done.set(); }).value;
        s.work_until(done);
    }
    ASSERT_TRUE(recorder.stop());
    const capture c = sink.read();
    ASSERT_EQ(count_of(c, record_kind::event_set), 1U);
    ASSERT_EQ(count_of(c, record_kind::event_taken), 1U);
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == record_kind::event_set) {
                EXPECT_EQ(r.other, address);
                EXPECT_EQ(r.task, setter);
            } else if (r.kind == record_kind::event_taken) {
                EXPECT_EQ(r.other, address);
            }
        }
    }
    EXPECT_EQ(kind_after(c, record_kind::event_taken), record_kind::wait_end);
}

/// What is recorded of one join in a scheduler with so many workers.
template <class Body>
capture record_of_join(int workers, Body&& body) {
    memory_sink sink;
    profile::recorder recorder;
    {
        braid::scheduler s({.workers = workers, .observer = &recorder});
        EXPECT_TRUE(recorder.start(sink));
        braid::fork_join(s, "joins", body);
    }
    EXPECT_TRUE(recorder.stop());
    return sink.read();
}

record end_of_join(const capture& c) {
    EXPECT_EQ(count_of(c, record_kind::joined), 1U);
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == record_kind::joined) return r;
        }
    }
    return {};
}

TEST(ObserverTells, TheRecorderWhetherTheSecondPartOfAJoinWasTaken) {
    const capture taken = record_of_join(1, [](braid::fork_context c) {
        std::atomic<bool> began{false};
        const auto until_taken = [&] {
            while (!began.load()) std::this_thread::yield();
        };
        braid::join(c, until_taken, [&] { began.store(true); });
    });
    const record end = end_of_join(taken);
    EXPECT_EQ(end.flags & profile::join_kept, 0);
    EXPECT_EQ(count_of(taken, record_kind::job_started), 1U);
    const auto thief = [&](const profile::lane& o) { return o.seat == end.aux; };
    const auto by = std::find_if(taken.lanes.begin(), taken.lanes.end(), thief);
    ASSERT_NE(by, taken.lanes.end());
    EXPECT_EQ(by->kind, profile::lane_kind::worker);

    const capture kept =
        record_of_join(0, [](braid::fork_context c) { braid::join(c, [] {}, [] {}); });
    EXPECT_NE(end_of_join(kept).flags & profile::join_kept, 0);
    EXPECT_EQ(count_of(kept, record_kind::job_started), 0U);
}

/// Hears what the recorder hears.
struct between final : braid::observer {
    explicit between(profile::recorder& r) : to(r) {}
    void on_event(const braid::task_event& e) override {
        to.on_event(e);
        const std::lock_guard lock(mutex);
        if (e.kind == braid::event_kind::helped) helped.push_back(e.other.value);
        if (e.kind == braid::event_kind::failed) failed.push_back(e.task.value);
        if (e.kind == braid::event_kind::seated) seats[e.seat] = e.holder;
    }
    profile::recorder& to;
    std::mutex mutex;
    std::vector<std::uint64_t> helped, failed;
    std::map<std::uint16_t, braid::seat_kind> seats;
};

TEST(ObserverTells, TheRecorderWhoFailedHelpedAndSatByOtherRecords) {
    memory_sink sink;
    profile::recorder recorder;
    between seen(recorder);
    {
        braid::scheduler s({.workers = 2, .observer = &seen});
        ASSERT_TRUE(recorder.start(sink));
        for (int i = 0; i < 20; ++i) {
            s.wait(s.spawn([](braid::task_context& task) { task.wait(task.spawn([] {})); }));
        }
        s.wait(s.spawn({.after_any = {s.spawn([] { throw std::runtime_error("on purpose"); })}},
                       [] {}));
    }
    ASSERT_TRUE(recorder.stop());
    const capture c = sink.read();
    std::vector<std::uint64_t> helped, failed;
    for (const profile::lane& l : c.lanes) {
        std::vector<std::size_t> open_bodies{0};  // from the outermost: its open waits
        for (const record& r : l.records) {
            if (r.kind == record_kind::wait_begin) ++open_bodies.back();
            if (r.kind == record_kind::wait_end) --open_bodies.back();
            if (r.kind == record_kind::started) {
                if (open_bodies.back() != 0) helped.push_back(r.task);
                open_bodies.push_back(0);
            }
            if (r.kind != record_kind::ended) continue;
            open_bodies.pop_back();
            if ((r.flags & profile::end_failed) != 0) failed.push_back(r.task);
        }
        if (l.kind == profile::lane_kind::worker) {
            EXPECT_EQ(seen.seats[static_cast<std::uint16_t>(l.seat)], braid::seat_kind::worker);
        }
    }
    EXPECT_EQ(seen.failed.size(), 1U);
    EXPECT_EQ(failed, seen.failed);
    EXPECT_FALSE(seen.helped.empty());
    std::sort(helped.begin(), helped.end());
    std::sort(seen.helped.begin(), seen.helped.end());
    // Tasks that the helped one makes ready may run on top of the same wait.
    EXPECT_TRUE(
        std::includes(helped.begin(), helped.end(), seen.helped.begin(), seen.helped.end()));
}

}  // namespace
