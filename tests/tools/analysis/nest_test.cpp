// What is open on a thread when begins and ends are lost: one rule, for exports and analysis.
#include "profile/nest.hpp"

#include "scenes.hpp"

#include "profile/analysis/history.hpp"
#include "profile/export/steps.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

namespace profile = braid::profile;
using braid_test::record_kind;

/// Begins are capital letters, ends small ones; '!' stands after what lost its end, and what has
/// only an end stands in brackets.
class Nest : public testing::Test {
protected:
    std::string closed(const std::string& said) {
        std::string text;
        const auto close = [&](char item, bool lost) {
            text += item;
            if (lost) text += '!';
        };
        for (const char c : said) {
            const bool begins = c < 'a';
            const char key = begins ? c : static_cast<char>(c - 'a' + 'A');
            if (begins) {
                open_.begin(key, key);
            } else if (!open_.end(key, close)) {
                text += {'(', key, ')'};
            }
        }
        text += '|';
        open_.end_all(close);
        EXPECT_TRUE(open_.empty());
        return text;
    }
    profile::nest<char, char> open_;
};

TEST_F(Nest, EndsInTheReverseOrderOfBegins) { EXPECT_EQ(closed("ABCcba"), "CBA|"); }

TEST_F(Nest, AnEndWithoutItsBeginEndsNothing) {
    EXPECT_EQ(closed("AbBba"), "(B)BA|");
    EXPECT_EQ(closed("a"), "(A)|");
}

TEST_F(Nest, WhatLiesOnTopOfAnEndHasLostItsOwn) { EXPECT_EQ(closed("ABCDb"), "D!C!B|A!"); }

TEST_F(Nest, WhatOverlapsIsCutAtTheEndOfTheOuterOneAndItsEndIsWithoutBegin) {
    EXPECT_EQ(closed("ABab"), "B!A(B)|");
}

TEST_F(Nest, TheInnermostOfOneKeyEndsFirst) { EXPECT_EQ(closed("ABAa"), "A|B!A!"); }

TEST_F(Nest, WhatIsOpenAtLastHasLostItsEnd) { EXPECT_EQ(closed("ABC"), "|C!B!A!"); }

TEST_F(Nest, AKeyThatEndedIsOpenNoMore) { EXPECT_EQ(closed("AaBab"), "A(A)B|"); }

/// Task 2 runs on top of a wait of task 1; at one moment first the end of 1 is said, then that
/// of 2.
profile::capture ends_out_of_order() {
    braid_test::scene_builder b(1);
    b.spawn(0, 5, 1, b.skin).spawn(0, 5, 2, b.other).say(1, 10, record_kind::started, 1);
    b.say(1, 20, record_kind::wait_begin, 1, 2).say(1, 20, record_kind::started, 2);
    b.say(1, 30, record_kind::ended, 1).say(1, 30, record_kind::ended, 2);
    return b.whole(40, 1);
}

TEST(BrokenLane, IsReadByAnalysisAndExportAlike) {
    const profile::capture c = ends_out_of_order();
    const profile::history t = make_history(c);
    std::map<std::uint64_t, bool> lost;
    for (const profile::body_row& body : t.bodies) {
        if (body.kind != profile::body_kind::task) continue;
        EXPECT_EQ(body.end, 30 * braid_test::us);
        lost[t.tasks[body.task].id] = body.open;
    }
    EXPECT_EQ(lost, (std::map<std::uint64_t, bool>{{1, false}, {2, true}}));

    profile::lane_steps steps(c.lanes[1], 1, c.duration);
    std::map<std::uint32_t, std::uint64_t> task_of;  // by slice
    std::map<std::uint64_t, std::string> ends;
    for (profile::step at; steps.next(at);) {
        if (at.about != profile::slice_kind::task || at.kind > profile::step_kind::end) continue;
        if (at.kind == profile::step_kind::begin) task_of[at.slice] = at.from->task;
        if (at.kind == profile::step_kind::end) {
            EXPECT_EQ(at.time, 30 * braid_test::us);
            ends[task_of[at.slice]] += at.cut == 0                  ? "whole "
                                       : at.cut == profile::cut_end ? "lost its end "
                                                                    : "lost its begin ";
        }
    }
    EXPECT_EQ(ends[1], "whole ");
    EXPECT_EQ(ends[2], "lost its end lost its begin ");
}

}  // namespace
