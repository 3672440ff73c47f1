// What every foreign format is made of: steps that nest, in order of time, whatever is missing.
#include "profile/export/timeline.hpp"

#include "hand_made.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace hand_made;
using profile::slice_kind;
using profile::step;
using profile::step_kind;

/// One step as a line: "12 begin task 0.1 cut1 label".
std::string line(const profile::timeline& of, const step& at) {
    static constexpr const char* kinds[] = {"begin", "end", "instant", "counter"};
    static constexpr const char* slices[] = {"task",   "job",       "scope",    "wait", "searching",
                                             "parked", "preempted", "off_core", "frame"};
    std::string said = std::to_string(at.time) + " " + kinds[static_cast<int>(at.kind)];
    const bool slice = at.kind == step_kind::begin || at.kind == step_kind::end;
    if (slice) said += std::string(" ") + slices[static_cast<int>(at.about)];
    said += " " + std::to_string(at.row);
    if (at.cut != 0) said += " cut" + std::to_string(at.cut);
    if (at.kind != step_kind::end) said += " " + of.label(at);
    return said;
}

std::vector<std::string> lines(const capture& of) {
    profile::timeline all(of);
    std::vector<std::string> said;
    for (step at; all.next(at);) said.push_back(line(all, at));
    return said;
}

using said = std::vector<std::string>;

TEST(Timeline, WhatRunsOnTopOfAWaitNestsInIt) {
    scene s;
    const auto skin = s.type("skin");
    s.at(0, 1, record_kind::started, 1, 0, skin);
    s.at(0, 2, record_kind::wait_begin, 1, 2);
    s.at(0, 3, record_kind::started, 2, 0, skin);
    s.at(0, 4, record_kind::ended, 2);
    s.at(0, 5, record_kind::wait_end, 1, 2);
    s.at(0, 6, record_kind::ended, 1);
    EXPECT_EQ(lines(s.made),
              (said{"1 begin task 0 skin", "2 begin wait 0 wait for skin", "3 begin task 0 skin",
                    "4 end task 0", "5 end wait 0", "6 end task 0"}));
}

TEST(Timeline, WhatIsOpenAtTheEndEndsThere) {
    EXPECT_EQ(lines(open_at_the_end()),
              (said{"10 begin task 0 skin", "20 begin wait 0 wait for task", "30 begin task 0 skin",
                    "90 end task 0 cut2", "90 end wait 0 cut2", "90 end task 0 cut2",
                    "90 begin parked 1 parked", "90 end parked 1 cut2"}));
}

TEST(Timeline, AnEndWithoutItsBeginIsASliceWithoutLength) {
    scene s;
    s.at(0, 10, record_kind::ended, 1);
    s.at(0, 12, record_kind::switched_in);
    s.at(0, 16, record_kind::frame_end, 0, 4);
    EXPECT_EQ(lines(s.made), (said{"10 begin task 0 cut1 task", "10 end task 0 cut1",
                                   "12 begin off_core 0 cut1 off core", "12 end off_core 0 cut1",
                                   "16 begin frame 0 cut1 frame 4", "16 end frame 0 cut1"}));
}

TEST(Timeline, AnEndThatWasLostIsThatOfWhatLiesBelow) {
    EXPECT_EQ(
        lines(dropped()),
        (said{"10 begin task 0 skin", "20 begin wait 0 wait for skin", "30 begin task 0 skin",
              "60 end task 0 cut2", "60 end wait 0 cut2", "60 end task 0",
              "70 begin task 0 cut1 skin", "70 end task 0 cut1", "70 instant 0 records dropped"}));
}

TEST(Timeline, ASearchEndsWithWhatTheThreadDoesNext) {
    scene s;
    s.at(0, 1, record_kind::searching);
    s.at(0, 2, record_kind::switches, 0, 1, 0);
    s.at(0, 3, record_kind::parked);
    s.at(0, 4, record_kind::unparked);
    EXPECT_EQ(lines(s.made),
              (said{"1 begin searching 0 searching", "2 counter 0 switches", "3 end searching 0",
                    "3 begin parked 0 parked", "4 end parked 0"}));
}

TEST(Timeline, ATaskThatNeverRanIsToldWhereItWasSpawned) {
    scene s;
    const auto skin = s.type("skin");
    s.at(0, 1, record_kind::spawned, 1, 0, skin);
    s.at(0, 2, record_kind::spawned, 2, 0, skin);
    s.at(0, 3, record_kind::started, 2, 0, skin);
    s.at(0, 4, record_kind::ended, 2);
    EXPECT_EQ(lines(s.made),
              (said{"1 instant 0 never started: skin", "3 begin task 0 skin", "4 end task 0"}));
}

TEST(Timeline, AtOneTimeEndsComeBeforeBegins) {
    scene s(2);
    s.at(0, 5, record_kind::started, 2);
    s.at(0, 9, record_kind::ended, 2);
    s.at(1, 1, record_kind::started, 1);
    s.at(1, 5, record_kind::ended, 1);
    EXPECT_EQ(lines(s.made),
              (said{"1 begin task 1 task", "5 end task 1", "5 begin task 0 task", "9 end task 0"}));
}

TEST(Timeline, TimesAscendAndSlicesNestInEveryCapture) {
    for (const auto& [name, made] : all()) {
        profile::timeline told(made);
        std::uint64_t last = 0;
        std::map<std::pair<bool, std::uint32_t>, std::vector<std::uint32_t>> open;
        for (step at; told.next(at);) {
            ASSERT_GE(at.time, last) << name;
            last = at.time;
            if (at.kind > step_kind::end || at.about == slice_kind::off_core) continue;
            auto& row = open[{at.about == slice_kind::frame, at.row}];
            if (at.kind == step_kind::begin) {
                row.push_back(at.slice);
            } else {
                ASSERT_FALSE(row.empty()) << name;
                ASSERT_EQ(row.back(), at.slice) << name;
                row.pop_back();
            }
        }
        for (const auto& [row, slices] : open) EXPECT_TRUE(slices.empty()) << name;
    }
}

TEST(Timeline, AnArrowLeavesAtTheEndAndArrivesAtTheBegin) {
    for (const auto& [name, made] : all()) {
        profile::timeline told(made);
        std::set<std::uint64_t> on_the_way, seen;
        for (step at; told.next(at);) {
            for (const profile::flow& one : told.flows(at)) {
                if (at.kind == step_kind::end) {
                    EXPECT_TRUE(on_the_way.insert(one.id).second) << name;
                    EXPECT_TRUE(seen.insert(one.id).second) << name;
                } else {
                    EXPECT_EQ(on_the_way.erase(one.id), 1U) << name << " " << one.id;
                }
            }
        }
        EXPECT_TRUE(on_the_way.empty()) << name;
        EXPECT_TRUE(name != "many" || seen.size() > 5000U) << seen.size();
    }
}

std::size_t arrows(const capture& of) {
    profile::timeline told(of);
    std::size_t found = 0;
    for (step at; told.next(at);) found += told.flows(at).size();
    return found;
}

TEST(Timeline, AnEdgeIsOneArrowAndOnlyWhereBothRanInThatOrder) {
    scene s;
    for (const std::uint64_t task : {1U, 2U}) {
        s.at(0, task * 10, record_kind::started, task);
        s.at(0, task * 10 + 5, record_kind::ended, task);
    }
    const auto with = [&](std::uint64_t later, std::uint64_t earlier) {
        capture made = s.made;
        record edge;
        edge.time = 30;
        edge.task = later;
        edge.other = earlier;
        edge.kind = record_kind::edge;
        made.lanes[0].records.insert(made.lanes[0].records.end(), 2, edge);
        return made;
    };
    EXPECT_EQ(arrows(with(2, 1)), 2U) << "one that leaves and one that arrives, said twice or not";
    EXPECT_EQ(arrows(with(1, 2)), 0U) << "into the past";
    EXPECT_EQ(arrows(with(1, 1)), 0U) << "to itself";
    EXPECT_EQ(arrows(with(3, 1)), 0U) << "to one that never ran";
    EXPECT_EQ(arrows(with(2, 3)), 0U) << "from one that never ran";
    s.at(0, 30, record_kind::started, 0);
    EXPECT_EQ(arrows(with(2, 1)), 2U) << "no task has the number 0, but a broken capture may";
}

TEST(Timeline, ArrowsGoFromASubmitToTheProcessorAndFromThereToTheSuccessor) {
    scene s(2);
    s.made.lanes[1].kind = profile::lane_kind::device;
    const std::uint32_t kernel = s.type("kernel");
    s.at(0, 0, record_kind::started, 1);
    s.at(0, 10, record_kind::deferred, 9, 1, kernel);
    s.at(0, 20, record_kind::ended, 1);
    s.at(0, 25, record_kind::edge, 2, 1);
    s.at(1, 15, record_kind::started, 9, 0, kernel);
    s.at(1, 90, record_kind::ended, 9);
    s.at(0, 95, record_kind::settled, 9, 1, kernel);
    s.at(0, 100, record_kind::started, 2);
    s.at(0, 110, record_kind::ended, 2);
    profile::timeline told(s.made);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;  // from when to when
    std::map<std::uint64_t, std::uint64_t> left;
    for (step at; told.next(at);) {
        for (const profile::flow& one : told.flows(at)) {
            if (at.kind == step_kind::begin) {
                found.emplace_back(left.at(one.id), at.time);
            } else {
                left[one.id] = at.time;
            }
        }
    }
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted = {{10, 15}, {90, 100}};
    EXPECT_EQ(found, wanted);
}

TEST(Timeline, FramesThatOverlapHaveRowsOfTheirOwn) {
    const capture made = pipelined();
    profile::timeline told(made);
    EXPECT_EQ(told.frame_rows(), 3U);
    std::map<std::uint32_t, std::string> row;
    std::size_t frames = 0;
    for (step at; told.next(at);) {
        ASSERT_EQ(at.about, slice_kind::frame);
        if (at.kind == step_kind::begin) {
            EXPECT_EQ(row[at.row], "") << told.label(at);
            row[at.row] = told.label(at);
            ++frames;
        } else {
            row[at.row] = "";
        }
    }
    EXPECT_EQ(frames, 9U);
}

TEST(Timeline, AFrameWhoseEndWasLostEndsBeforeThoseAfterIt) {
    scene s;
    for (std::uint64_t i = 0; i < 100; ++i) {
        s.at(0, 100 * i, record_kind::frame_begin, 0, i);
        if (i % 10 == 9) s.at(0, 100 * i + 90, record_kind::frame_end, 0, i);
    }
    profile::timeline told(s.made);
    EXPECT_EQ(told.frame_rows(), 10U);
    EXPECT_EQ(lines(s.made).back(), "9990 end frame 9");
}

TEST(Timeline, ATaskThatIsCompleteHasEnded) {
    scene s;
    s.at(0, 1, record_kind::started, 1);
    s.at(0, 4, record_kind::completed, 1);
    s.at(0, 5, record_kind::started, 2);
    s.at(0, 6, record_kind::ended, 2);
    EXPECT_EQ(lines(s.made), (said{"1 begin task 0 task", "4 end task 0 cut2",
                                   "5 begin task 0 task", "6 end task 0"}));
}

TEST(Timeline, FramesWithoutLengthStayInOrder) {
    scene s;
    for (const std::uint64_t number : {1U, 2U, 3U}) {
        s.at(0, 5, record_kind::frame_begin, 0, number);
        s.at(0, 5, record_kind::frame_end, 0, number);
    }
    s.at(0, 5, record_kind::frame_begin, 0, 4);
    s.at(0, 9, record_kind::frame_end, 0, 4);
    profile::timeline told(s.made);
    std::map<std::uint32_t, std::uint32_t> open;
    std::size_t ends = 0;
    for (step at; told.next(at);) {
        if (at.kind == step_kind::begin) {
            EXPECT_TRUE(open.emplace(at.row, at.slice).second);
        } else {
            ASSERT_EQ(open.count(at.row), 1U);
            EXPECT_EQ(open[at.row], at.slice);
            open.erase(at.row);
            ++ends;
        }
    }
    EXPECT_EQ(ends, 4U);
}

TEST(Timeline, TellsWhatIsKnownOfATask) {
    const capture made = whole();
    profile::timeline told(made);
    std::map<std::string, std::uint64_t> known;
    for (step at; told.next(at);) {
        const bool wanted = at.kind == step_kind::begin && at.about == slice_kind::task;
        if (!wanted || at.from->task != 102) continue;
        EXPECT_EQ(told.label(at), "cull");
        ASSERT_NE(told.type(at), nullptr);
        EXPECT_EQ(told.type(at)->line, 7U);
        for (const profile::detail& one : told.details(at)) known[one.name] = one.number;
    }
    const std::map<std::string, std::uint64_t> expected = {
        {"task", 102},        {"spawned_at", 21},   {"ready_at", 62},
        {"completed_at", 79}, {"released_by", 101},
    };
    EXPECT_EQ(known, expected);
}

}  // namespace
