// F7, F8: where a frame's time went, and faults that make it go there.
#include <braid/frame/fault_injector.hpp>
#include <braid/frame/frame_loop.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

using braid::microseconds;
using braid::milliseconds;
using braid::nanoseconds;

BRAID_SCHEDULER_TEST(FrameRecord);

void expect_sum(const braid::frame_record& r) {
    std::int64_t sum = 0;
    for (unsigned i = 0; i < r.stages; ++i) {
        EXPECT_GE(r.stage[i].waited.value, 0);
        EXPECT_GE(r.stage[i].ran.value, 0);
        sum += r.stage[i].waited.value + r.stage[i].ran.value;
    }
    EXPECT_EQ(sum, r.time.value) << "frame " << r.frame;
    EXPECT_EQ(r.ended - r.began, r.time.value);
    EXPECT_GE(r.began, r.submitted);
}

TEST_P(FrameRecord, StagesAddUpToTheFrameAtEveryDepth) {
    for (unsigned depth = 0; depth <= 3; ++depth) {
        braid::scheduler s(options());
        braid::fault_injector faults;
        faults.slow("draw", microseconds(300), {.first = 1, .every = 2});
        braid::frame_loop loop(s, {.depth = depth, .faults = &faults});
        braid::frame_stage simulate(loop, {.name = "simulate"}), draw(loop, {.name = "draw"}),
            render(loop, {.name = "render"});
        for (braid::frame_stage* stage : {&simulate, &draw, &render}) {
            for (int i = 0; i < 3; ++i) stage->add([] {});
        }
        EXPECT_EQ(loop.record().frame, 0U);
        for (int i = 0; i < 80; ++i) loop.advance();
        loop.finish();
        std::array<braid::frame_record, 100> records;
        ASSERT_EQ(loop.records(records.data(), records.size()), 64U);
        EXPECT_EQ(loop.record().frame, 80U);
        for (std::uint64_t i = 0; i < 64; ++i) {
            const braid::frame_record& r = records[i];
            ASSERT_EQ(r.frame, 80 - i);
            ASSERT_EQ(r.stages, 3U);
            EXPECT_STREQ(r.stage[1].name, "draw");
            expect_sum(r);
            EXPECT_GE(r.stage[1].ran, microseconds(r.frame % 2 == 1 ? 300 : 0));
        }
        EXPECT_EQ(faults.slowed(), 40U);
        EXPECT_EQ(loop.records(records.data(), 3), 3U);
    }
}

TEST_P(FrameRecord, MarksFramesAndStagesThatAreOverTheirBudget) {
    braid::scheduler s(options());
    braid::fault_injector faults;
    faults.slow("render", milliseconds(3), {.first = 2, .every = 0});
    // Budgets that no empty frame exceeds, however busy the machine is, but the slow one does.
    const nanoseconds budget = milliseconds(2), endless = braid::seconds(50);
    braid::frame_loop loop(s, {.depth = 0, .budget = budget, .faults = &faults});
    braid::frame_stage simulate(loop, {.name = "simulate", .budget = endless}),
        render(loop, {.name = "render", .budget = budget});
    for (int i = 0; i < 3; ++i) {
        loop.advance();
        loop.finish();
        const braid::frame_record& r = loop.record();
        EXPECT_FALSE(r.stage[0].over_budget);
        if (r.frame == 2) {
            EXPECT_TRUE(r.over_budget && r.stage[1].over_budget);
            EXPECT_GE(r.time, milliseconds(3));
        }
        EXPECT_EQ(r.over_budget, r.time > budget);
        EXPECT_EQ(r.stage[1].over_budget, r.stage[1].ran > budget);
    }
    EXPECT_GE(loop.over_budget(), 1U);
}

TEST_P(FrameRecord, AFailedFrameAddsUpToo) {
    braid::scheduler s(options());
    braid::fault_injector faults;
    braid::frame_loop loop(s, {.depth = 1, .faults = &faults});
    braid::frame_stage a(loop, {.name = "a"}), b(loop, {.name = "b"}), c(loop, {.name = "c"});
    faults.fail("b", {.first = 2, .every = 0});
    faults.fail("a", {.first = 3, .every = 0});
    int failed = 0;
    for (int i = 0; i < 3; ++i) {
        loop.advance();
        try {
            loop.finish();
        } catch (const braid::injected_fault&) {
            ++failed;
        }
        expect_sum(loop.record());
        EXPECT_EQ(loop.record().failed, i != 0);
        EXPECT_EQ(loop.record().stage[2].ran.value == 0, i != 0);
    }
    EXPECT_EQ(failed, 2);
    EXPECT_EQ(faults.failed(), 2U);
}

TEST(FrameRecordText, IsOneLineWithWhatIsOver) {
    braid::frame_record r;
    r.frame = 7;
    r.stages = 2;
    r.time = microseconds(9200);
    r.over_budget = true;
    r.stage[0].name = "simulate";
    r.stage[0].ran = microseconds(4100);
    r.stage[0].serial = true;
    r.stage[1].name = "draw";
    r.stage[1].waited = microseconds(300);
    r.stage[1].ran = microseconds(4800);
    r.stage[1].over_budget = true;
    const std::string line =
        "frame 7: 9.20 of 8.00 ms OVER = simulate 4.10 serial + (0.30) draw 4.80 OVER";
    char text[128];
    EXPECT_EQ(braid::describe(r, milliseconds(8), text, sizeof text), line.size());
    EXPECT_EQ(text, line);
    char little[10];
    EXPECT_EQ(braid::describe(r, milliseconds(8), little, sizeof little), line.size());
    EXPECT_STREQ(little, "frame 7: ");
    EXPECT_EQ(braid::describe(r, milliseconds(8), nullptr, 0), line.size());
    r.failed = true;
    braid::describe(r, nanoseconds{0}, text, sizeof text);
    EXPECT_EQ(std::string(text).find("frame 7: 9.20 ms OVER FAILED = "), 0U);
}

TEST(FaultInjector, HitsTheFramesItWasGivenAndDrawsYieldsFromItsSeed) {
    braid::fault_injector faults;
    EXPECT_TRUE(faults.slow("a", nanoseconds{1}, {.first = 3, .every = 4}));
    EXPECT_TRUE(faults.fail("b", {.first = 5, .every = 0}));
    std::vector<std::uint64_t> thrown;
    for (std::uint64_t frame = 1; frame <= 12; ++frame) {
        faults.begin_stage("a", frame);
        faults.begin_stage("c", frame);
        try {
            faults.begin_stage("b", frame);
        } catch (const braid::injected_fault& fault) {
            EXPECT_STREQ(fault.what(), "braid: a fault that was injected");
            thrown.push_back(frame);
        }
    }
    EXPECT_EQ(faults.slowed(), 3U) << "3, 7, 11";
    EXPECT_EQ(thrown, std::vector<std::uint64_t>{5});
    const auto drawn = [](unsigned percent, std::uint64_t seed) {
        braid::fault_injector f;
        f.yields(percent, seed);
        std::string who;
        for (std::uint64_t i = 0; i < 400; ++i) {
            const std::uint64_t before = f.yielded();
            f.begin_body(i / 20, i % 20);
            who += f.yielded() != before ? '1' : '0';
        }
        return who;
    };
    EXPECT_EQ(drawn(30, 1), drawn(30, 1));
    EXPECT_NE(drawn(30, 1), drawn(30, 2));
    EXPECT_EQ(drawn(0, 1), std::string(400, '0'));
    EXPECT_EQ(drawn(100, 1), std::string(400, '1'));
    const std::string some = drawn(30, 3);
    EXPECT_NEAR(static_cast<double>(std::count(some.begin(), some.end(), '1')), 120, 40);
    while (faults.slow("x", nanoseconds{1})) {
    }
    EXPECT_FALSE(faults.fail("x", {}));
    faults.clear();
    EXPECT_TRUE(faults.fail("x", {}));
}

}  // namespace
