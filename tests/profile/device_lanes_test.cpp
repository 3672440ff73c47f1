// What processors that are none of our threads did is in a capture, as lanes.
#include <braid/device.hpp>

#include "braid/braid.hpp"
#include "braid/profile/recorder.hpp"
#include "memory_sink.hpp"
#include "profile/device_lanes.hpp"
#include "scale.hpp"
#include "seeded_chooser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

namespace {

namespace device = braid::device;
namespace profile = braid::profile;
using braid::milliseconds;
using braid_test::memory_sink;
using profile::capture;
using profile::lane;
using profile::record;
using profile::record_kind;

void nothing_group(const device::group&) {}
constexpr device::kernel skin{"skin", &nothing_group};

std::vector<const lane*> device_lanes(const capture& c) {
    std::vector<const lane*> found;
    for (const lane& l : c.lanes) {
        if (l.kind == profile::lane_kind::device) found.push_back(&l);
    }
    return found;
}

std::vector<record> records_of(const std::vector<const lane*>& lanes, record_kind kind) {
    std::vector<record> found;
    for (const lane* const l : lanes) {
        std::copy_if(l->records.begin(), l->records.end(), std::back_inserter(found),
                     [&](const record& r) { return r.kind == kind; });
    }
    return found;
}

/// Times at which each completion was deferred and settled.
std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> lives_of(const capture& c) {
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> lives;
    for (const lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == record_kind::deferred) lives[r.task].first = r.time;
            if (r.kind == record_kind::settled) lives[r.task].second = r.time;
        }
    }
    return lives;
}

/// What is recorded while so many tasks submit to a processor that `make(scheduler)` gives.
template <class Make>
capture record_of(int submissions, Make&& make, const profile::recorder_options& options = {},
                  braid::chooser* chooser = nullptr) {
    memory_sink sink;
    profile::recorder recorder(options);
    {
        braid::scheduler s({.workers = 2, .observer = &recorder, .chooser = chooser});
        EXPECT_TRUE(recorder.start(sink));
        auto processor = make(s);
        braid::scope all(s);
        for (int i = 0; i < submissions; ++i) {
            s.spawn({.name = "submits", .within = &all}, [&](braid::task_context& task) {
                processor->submit(task, {.kernel = skin, .retry = 9, .idempotent = true});
            });
        }
        all.wait();
    }
    EXPECT_TRUE(recorder.stop());
    return sink.read();
}

TEST(DeviceLanes, HaveARunForEachSubmissionBetweenItsDeferAndItsEnd) {
    const capture c = record_of(20, [](braid::scheduler& s) {
        return std::make_unique<device::fake>(s, device::fake_options{.latency = milliseconds(1)});
    });
    const auto lanes = device_lanes(c);
    ASSERT_FALSE(lanes.empty());
    EXPECT_EQ(lanes.front()->name, "fake");
    const std::vector<record> begins = records_of(lanes, record_kind::started);
    EXPECT_EQ(begins.size(), 20U);
    EXPECT_EQ(records_of(lanes, record_kind::ended).size(), 20U);
    auto lives = lives_of(c);
    constexpr std::uint64_t apart = 100'000;  // ns, by which two clocks differ at most
    for (const record& r : begins) {
        ASSERT_TRUE(lives.contains(r.task));
        EXPECT_GE(r.time + apart, lives[r.task].first);
        EXPECT_LE(r.time, lives[r.task].second + apart);
        EXPECT_EQ(c.types[r.aux].name, "skin");
        EXPECT_NE(c.types[r.aux].file.find("device_lanes_test"), std::string::npos);
    }
    for (const lane* const l : lanes) {
        EXPECT_TRUE(
            std::is_sorted(l->records.begin(), l->records.end(),
                           [](const record& a, const record& b) { return a.time < b.time; }));
        for (std::size_t i = 0; i + 1 < l->records.size(); i += 2) {  // one after the other
            EXPECT_EQ(l->records[i].kind, record_kind::started);
            EXPECT_EQ(l->records[i + 1].kind, record_kind::ended);
            EXPECT_EQ(l->records[i].task, l->records[i + 1].task);
        }
    }
}

/// All are laid into rows together: a run of which the recorder hears after others that began later
/// may need one more.
TEST(DeviceLanes, AreAsManyAsRunAtOnce) {
    const auto make = [](braid::scheduler& s) {
        return std::make_unique<device::fake>(s, device::fake_options{.latency = milliseconds(200)},
                                              device::processor_options{.max_in_flight = 3});
    };
    braid_test::seeded_chooser chooser(1);  // all are submitted before one ends, in virtual time
    const capture c = record_of(6, make, {.flush_every = braid::seconds(600)}, &chooser);
    const auto lanes = device_lanes(c);
    ASSERT_EQ(lanes.size(), 3U);
    EXPECT_EQ(lanes[1]->name, "fake 2");
    EXPECT_EQ(lanes[0]->seat, lanes[2]->seat);
}

TEST(DeviceLanes, HaveWhatWasLostAndRanAgain) {
    const capture c = record_of(30, [](braid::scheduler& s) {
        return std::make_unique<device::fake>(
            s, device::fake_options{.seed = 4, .latency = milliseconds(1), .loss = 0.03},
            device::processor_options{.back_off = milliseconds(1)});
    });
    std::map<std::uint64_t, std::vector<record>> ends;  // of each completion
    for (const record& r : records_of(device_lanes(c), record_kind::ended)) {
        ends[r.task].push_back(r);
    }
    int again = 0;
    for (auto& [work, runs] : ends) {
        std::sort(runs.begin(), runs.end(),
                  [](const record& a, const record& b) { return a.time < b.time; });
        // Each but the last was lost, or it would not have run again.
        for (std::size_t i = 0; i + 1 < runs.size(); ++i, ++again) {
            EXPECT_NE(runs[i].flags & profile::end_failed, 0);
        }
    }
    EXPECT_GT(again, 0);
}

TEST(DeviceLanes, HaveTheTransfersOfALocalStore) {
    const capture c = record_of(4, [](braid::scheduler& s) {
        return std::make_unique<device::local_store>(
            s, device::local_store_options{.transfer_latency = milliseconds(2)});
    });
    const auto lanes = device_lanes(c);
    const std::vector<record> begins = records_of(lanes, record_kind::scope_begin);
    const std::vector<record> ends = records_of(lanes, record_kind::scope_end);
    ASSERT_EQ(begins.size(), ends.size());
    ASSERT_GE(begins.size(), 4U);  // each brings its results back
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < begins.size(); ++i) {
        EXPECT_EQ(c.types[begins[i].aux].name, "transfer");
        sum += ends[i].time - begins[i].time;
    }
    EXPECT_GE(sum, 4U * 1'900'000);
}

TEST(DeviceLanes, AreNoneWhereTheCoresDoTheWork) {
    const capture c =
        record_of(5, [](braid::scheduler& s) { return std::make_unique<device::cpu>(s); });
    EXPECT_TRUE(device_lanes(c).empty());
}

/// Of two runs all that a ring takes which drops its k-th place and those after it up to `until`.
std::vector<profile::device_run> runs_through(int k, int until) {
    profile::type_table types;
    profile::type_cache cache(types);
    std::vector<record> ring;
    int place = 0;
    const auto push = [&](const record& r) {
        const int here = place++;
        if (here >= k && here < until) return false;
        ring.push_back(r);
        return true;
    };
    const braid::external_run one{.processor = 7,
                                  .processor_name = "gpu",
                                  .work = {11},
                                  .name = "a",
                                  .begin = 1,
                                  .end = 2,
                                  .arrived = 1,
                                  .left = 2};
    const braid::external_run other{
        .processor = 8, .processor_name = "dsp", .work = {12}, .name = "b", .begin = 3, .end = 4};
    profile::push_external(one, cache, push);
    profile::push_external(other, cache, push);
    std::vector<profile::device_run> runs;
    profile::device_run_parts parts;
    profile::device_run run;
    for (const record& r : ring) {
        if (parts.take(r, run)) runs.push_back(run);
    }
    return runs;
}

TEST(DeviceLanes, ARunIsWholeOrNotThereWhateverTheRingDrops) {
    EXPECT_EQ(runs_through(9, 9).size(), 2U);
    for (int k = 0; k < 5; ++k) {
        for (int until = k + 1; until <= 6; ++until) {
            for (const profile::device_run& r : runs_through(k, until)) {
                EXPECT_EQ(r.processor, r.work == 11 ? 7U : 8U);
                EXPECT_EQ(r.begin, r.work == 11 ? 1 : 3);
                EXPECT_EQ(r.end, r.work == 11 ? 2 : 4);
                EXPECT_EQ(r.left, r.work == 11 ? 2 : 0);
            }
        }
    }
}

TEST(DeviceLanes, MoreAtOnceThanThereAreRowsAreCountedAsDropped) {
    profile::device_lanes lanes;
    profile::type_table types;
    profile::tick_clock clock;
    clock.begin({.ticks = 1, .ns = 1});
    constexpr std::size_t most = profile::device_lanes::most_rows;
    for (std::size_t i = 0; i < most + 5; ++i) {
        lanes.add({.work = i + 1, .begin = 10, .end = 20, .processor = 3});
    }
    lanes.add({.work = 999, .begin = 20, .end = 30, .processor = 3});
    std::size_t records = 0, rows = 0;
    std::uint64_t dropped = 0;
    for (const profile::device_row& r : lanes.lay(clock, types, 0)) {
        ++rows;
        records += r.taken.size();
        dropped += r.dropped;
    }
    EXPECT_EQ(rows, most);
    EXPECT_EQ(records, 2 * (most + 1));
    EXPECT_EQ(dropped, 5U);
}

/// Says when bytes have come that have a word.
struct waiting_sink final : profile::capture_sink {
    bool take(std::span<const std::byte> chunks) override {
        const std::lock_guard lock(mutex);
        all.bytes.insert(all.bytes.end(), chunks.begin(), chunks.end());
        return true;
    }
    void wait_for(std::string_view word) {
        const auto deadline = std::chrono::steady_clock::now() + braid_test::hang_limit;
        while (!has(word) && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
    }
    bool has(std::string_view word) {
        const std::lock_guard lock(mutex);
        const auto* const first = reinterpret_cast<const char*>(all.bytes.data());
        return std::string_view(first, all.bytes.size()).find(word) != std::string_view::npos;
    }
    std::mutex mutex;
    memory_sink all;
};

/// The largest of a lane, which is told again when it grows; that of our own clock is 0.
TEST(DeviceLanes, SayByHowMuchTheirTimesMayBeWrong) {
    waiting_sink sink;
    profile::recorder recorder;
    braid::scheduler s({.workers = 0, .observer = &recorder});
    ASSERT_TRUE(recorder.start(sink));
    const auto report = [&](std::uint32_t processor, const char* name, std::int64_t error) {
        const std::int64_t now = braid::active_policy::now();
        recorder.on_external({.processor = processor,
                              .processor_name = name,
                              .work = braid::task_id{7},
                              .name = "skin",
                              .begin = now - 1'000,
                              .end = now,
                              .clock_error = error});
    };
    report(1, "gpu", 40);
    report(2, "cores", 0);
    sink.wait_for("gpu");
    report(1, "gpu", 5'012);
    report(4, "between", 0);
    sink.wait_for("between");
    report(1, "gpu", 60);
    report(3, "broken", INT64_MAX);
    ASSERT_TRUE(recorder.stop());
    capture c = sink.all.read();
    for (int round = 0; round < 2; ++round) {
        std::map<std::string, std::uint32_t> errors;
        for (const lane* const l : device_lanes(c)) {
            errors[l->name] = std::max(errors[l->name], l->clock_error);
        }
        EXPECT_EQ(errors["gpu"], 5'012U);
        EXPECT_EQ(errors["cores"], 0U);
        EXPECT_EQ(errors["broken"], UINT32_MAX);
        EXPECT_EQ(records_of(device_lanes(c), record_kind::started).size(), 6U);
        // It is written again as it was read.
        capture again;
        ASSERT_TRUE(profile::read_capture(profile::bytes_of(c), again));
        c = std::move(again);
    }
}

}  // namespace
