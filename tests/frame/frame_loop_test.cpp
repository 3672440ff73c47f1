// F1: frames in a pipeline: order, depth, failures, what is refused.
#include <braid/core/observer.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"
#include "tiny_game.hpp"

#include <thread>

namespace {

using braid_test::scaled;
using braid_test::tiny_game;

BRAID_SCHEDULER_TEST(FrameLoop);

struct broken {};

TEST_P(FrameLoop, ComputesTheSameAtEveryDepth) {
    braid::scheduler s(options());
    const std::size_t frames = scaled(100);
    for (unsigned deepest = 0; deepest <= 3; ++deepest) {
        const auto expected = tiny_game::expected(frames, deepest + 1);
        for (unsigned depth = 0; depth <= deepest; ++depth) {
            const auto helps = depth % 2 == 0 ? braid::help::needed : braid::help::any;
            tiny_game game(s, {.depth = deepest, .while_waiting = helps}, frames);
            ASSERT_TRUE(game.loop.set_depth(depth));
            game.play(frames);
            EXPECT_EQ(game.hashes, expected) << "depth " << depth << " of " << deepest;
        }
    }
    EXPECT_EQ(notes_.misuse, std::vector<std::string>());
}

TEST_P(FrameLoop, ComputesTheSameWhileDepthAndSwitchesChange) {
    braid::scheduler s(options());
    const std::size_t frames = scaled(200);
    braid::fault_injector faults;
    faults.yields(30, 5);
    tiny_game game(s, {.depth = 3, .faults = &faults}, frames);
    braid::frame_stage* const stages[] = {&game.simulate, &game.draw, &game.render};
    for (std::size_t i = 0; i < frames; ++i) {
        if (i % 5 == 0) game.loop.set_depth(static_cast<unsigned>(i / 5 % 4));
        stages[i % 3]->set_serial(i % 7 < 3);
        game.loop.advance();
    }
    game.loop.finish();
    EXPECT_EQ(game.hashes, tiny_game::expected(frames, 4));
    EXPECT_GT(faults.yielded(), 0U);
}

/// Counts the frames that begin and end.
class frame_counts final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        begun += e.kind == braid::event_kind::frame_begin;
        ended += e.kind == braid::event_kind::frame_end;
    }
    std::atomic<std::size_t> begun{0}, ended{0};
};

TEST_P(FrameLoop, AnObserverHearsOfTheBeginningAndTheEndOfEachFrame) {
    constexpr std::size_t frames = 5;
    for (unsigned depth = 0; depth <= 1; ++depth) {
        frame_counts counts;
        {
            braid::scheduler_options o = options();
            o.observer = &counts;
            braid::scheduler s(o);
            braid::frame_loop loop(s, {.depth = depth});
            braid::frame_stage first(loop, {.name = "first"}), second(loop, {.name = "second"});
            first.add([&](const braid::frame_context& f) { EXPECT_GE(counts.begun, f.frame); });
            // Its own end has not come, and that of the frame before need not have: the last
            // stage begins after the same stage, and beside the task that reports the end.
            second.add([&](const braid::frame_context& f) {
                EXPECT_LT(counts.ended, f.frame);
                EXPECT_GE(counts.ended + depth + 1, f.frame);
            });
            for (std::size_t i = 0; i != frames; ++i) loop.advance();
            loop.finish();
        }
        EXPECT_EQ(counts.begun, frames);
        EXPECT_EQ(counts.ended, frames);
    }
}

TEST_P(FrameLoop, OverlapsTheNextSimulationWithThisRendering) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 1});
    braid::frame_stage simulate(loop, {.name = "simulate"}), render(loop, {.name = "render"});
    braid::event second_began(s, braid::reset::manual);
    int rendered = 0;
    simulate.add([&](const braid::frame_context& f) {
        if (f.frame == 2) second_began.set();
    });
    render.add([&](const braid::frame_context& f) {
        // Never ends unless the next frame begins meanwhile.
        if (f.frame == 1) s.do_work_while_waiting_for(second_began);
        ++rendered;
    });
    EXPECT_EQ(loop.advance(), 1U);
    EXPECT_EQ(loop.advance(), 2U) << "waits for no frame: there are two at a time";
    loop.finish();
    EXPECT_EQ(rendered, 2);
}

TEST_P(FrameLoop, KeepsTheOrderOfStagesAndTheDepth) {
    for (unsigned depth = 0; depth <= 3; ++depth) {
        braid::scheduler s(options());
        braid::fault_injector faults;
        faults.slow("render", braid::microseconds(200), {.first = 2, .every = 3});
        braid::frame_loop loop(s, {.depth = depth, .faults = &faults});
        braid::frame_stage a(loop, {.name = "simulate"}), b(loop, {.name = "draw"}),
            c(loop, {.name = "render"});
        // Each frame writes its own row; what is not ordered is a race for ThreadSanitizer.
        const std::size_t frames = scaled(60);
        std::vector<std::array<bool, 3>> over(frames + 1);
        std::atomic<int> early{0};
        const auto stage_of = [&](braid::frame_stage& stage, std::size_t index) {
            stage.add([&, index](const braid::frame_context& f) {
                const std::uint64_t n = f.frame;
                early += stage.frame() != n;
                if (index != 0) early += !over[n][index - 1];
                if (n > 1) early += !over[n - 1][index];
                if (index == 0 && n > depth + 1) early += !over[n - 1 - depth][2];
                over[n][index] = true;
            });
        };
        stage_of(a, 0);
        stage_of(b, 1);
        stage_of(c, 2);
        for (std::size_t i = 1; i <= frames; ++i) {
            EXPECT_EQ(loop.advance(), i);
            EXPECT_GE(loop.completed() + depth + 1, i);
        }
        loop.finish();
        EXPECT_EQ(early, 0) << "depth " << depth;
        EXPECT_EQ(loop.completed(), frames);
        EXPECT_TRUE(over[frames][2]);
        EXPECT_GT(faults.slowed(), 0U);
    }
}

TEST_P(FrameLoop, BodiesTakeWhatTheyWantAndSlotsAreTheirsAlone) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 2});
    braid::frame_stage work(loop), last(loop);
    std::array<std::atomic<std::uint64_t>, 3> owner{};
    std::atomic<int> plain{0}, tasks{0}, shared{0};
    work.add([&plain] { ++plain; });
    work.add([&tasks](braid::task_context& t) { tasks += static_cast<bool>(t.id()); });
    work.add([&](const braid::frame_context& f) {
        EXPECT_EQ(f.arena.frame(), f.frame);
        shared += owner[f.slot].exchange(f.frame) != 0;
    });
    last.add([&](const braid::frame_context& f) { owner[f.slot].exchange(0); });
    EXPECT_EQ(loop.slot_count(), 3U);
    for (int i = 0; i < 30; ++i) loop.advance();
    loop.finish();
    EXPECT_EQ(plain, 30);
    EXPECT_EQ(tasks, 30);
    EXPECT_EQ(shared, 0);
}

TEST_P(FrameLoop, AFailureEndsItsFrameAndNoOther) {
    for (unsigned depth = 0; depth <= 3; ++depth) {
        braid::scheduler s(options());
        braid::frame_loop loop(s, {.depth = depth});
        braid::frame_stage simulate(loop, {.name = "simulate"}), draw(loop, {.name = "draw"}),
            render(loop, {.name = "render"});
        std::vector<std::uint64_t> simulated, drawn, rendered;
        simulate.add([&](const braid::frame_context& f) { simulated.push_back(f.frame); });
        draw.add([&](const braid::frame_context& f) {
            if (f.frame == 3) throw broken();
            drawn.push_back(f.frame);
        });
        render.add([&](const braid::frame_context& f) { rendered.push_back(f.frame); });
        int caught = 0;
        std::uint64_t submitted = 0;
        for (int i = 0; i < 12; ++i) {
            try {
                submitted = loop.advance();
            } catch (const broken&) {
                ++caught;
                EXPECT_EQ(loop.completed(), 3U);
                EXPECT_TRUE(loop.record().failed);
                EXPECT_EQ(loop.submitted(), 3U + depth) << "instead of beginning a frame";
            }
        }
        loop.finish();
        EXPECT_EQ(caught, 1);
        EXPECT_EQ(submitted, 11U);
        EXPECT_EQ(simulated, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
        EXPECT_EQ(drawn, (std::vector<std::uint64_t>{1, 2, 4, 5, 6, 7, 8, 9, 10, 11}));
        EXPECT_EQ(rendered, drawn);
        EXPECT_EQ(notes_.lost, std::vector<std::string>());
    }
}

TEST_P(FrameLoop, AFailureBeforeTheNextStageIsSubmittedIsNotLost) {
    // The first body may have ended before advance() has made the tasks of the last stage.
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 3});
    std::vector<std::unique_ptr<braid::frame_stage>> stages;
    for (unsigned i = 0; i < braid::most_stages; ++i) {
        stages.push_back(std::make_unique<braid::frame_stage>(loop));
    }
    std::atomic<int> later{0};
    stages[0]->add([] { throw broken(); });
    for (unsigned i = 1; i < braid::most_stages; ++i) stages[i]->add([&later] { ++later; });
    std::size_t caught = 0;
    for (std::size_t i = 0; i < scaled(200); ++i) {
        try {
            loop.advance();
        } catch (const broken&) {
            ++caught;
        }
    }
    EXPECT_THROW(loop.finish(), broken);
    EXPECT_EQ(later, 0);
    EXPECT_GT(caught, 0U);
    while (!stages.empty()) stages.pop_back();
}

TEST_P(FrameLoop, FinishThrowsTheFirstFailureAndTheHandlerGetsTheOthers) {
    {
        braid::scheduler s(options());
        braid::fault_injector faults;
        faults.fail("simulate", {.first = 2, .every = 1});
        braid::frame_loop loop(s, {.depth = 3, .faults = &faults});
        braid::frame_stage simulate(loop, {.name = "simulate"});
        for (int i = 0; i < 4; ++i) loop.advance();
        EXPECT_THROW(loop.finish(), braid::injected_fault);
        EXPECT_EQ(loop.completed(), 4U);
        loop.finish();  // once
        faults.clear();
        loop.advance();
        loop.finish();
        faults.fail("simulate", {.first = 6, .every = 0});
        EXPECT_EQ(loop.advance(), 6U);
        EXPECT_EQ(faults.failed() >= 3, true);
    }
    // At the end, since the thread that drops a failure last calls the handler.
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 3U)
        << "of frames 3 and 4, and of frame 6, which nobody collected";
}

TEST_P(FrameLoop, ASerialStageRunsOnOneThreadInTheOrderOfAdding) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 1});
    braid::frame_stage stage(loop, {.name = "stage", .serial = true});
    std::string order;  // nothing but the stage keeps them apart
    std::vector<std::thread::id> threads;
    const auto note = [&](char c) {
        order += c;
        threads.push_back(std::this_thread::get_id());
    };
    const auto last = stage.add([&] { note('d'); });
    for (const char c : {'a', 'b', 'c'}) {
        const auto node = stage.add([&note, c](const braid::frame_context& f) {
            EXPECT_TRUE(f.serial);
            f.for_each(3, [&](std::size_t) { note(c); });
        });
        if (c != 'c') stage.precede(node, last);
    }
    stage.add([&] { note('e'); });
    for (int i = 0; i < 10; ++i) {
        loop.advance();
        loop.finish();
        EXPECT_EQ(order, "aaabbbdccce");
        for (const auto id : threads) EXPECT_EQ(id, threads[0]);
        EXPECT_TRUE(loop.record().stage[0].serial);
        order.clear();
        threads.clear();
    }
    EXPECT_TRUE(stage.set_serial(false));
    std::atomic<int> bodies{0};
    stage.add([&](const braid::frame_context& f) { bodies += !f.serial; });
}

TEST_P(FrameLoop, AFailureInASerialStageIsThatOfAGraph) {
    braid::scheduler s(options());
    braid::frame_loop loop(s);
    braid::frame_stage stage(loop), next(loop);
    struct of_first {};
    struct of_another {};
    int before = 0, after = 0, beside = 0, later = 0;
    const auto good = stage.add([&before] { ++before; });
    const auto first = stage.add([] { throw of_first(); });
    const auto another = stage.add([] { throw of_another(); });
    const auto behind = stage.add([&after] { ++after; });
    const auto further = stage.add([&after] { ++after; });
    stage.add([&beside] { ++beside; });
    stage.precede(good, another);
    stage.precede(another, first);  // in time, but the earlier one counts
    stage.precede(first, behind);
    stage.precede(behind, further);
    next.add([&later] { ++later; });
    EXPECT_TRUE(stage.set_serial(true));
    loop.advance();
    EXPECT_THROW(loop.finish(), of_another) << "the one that it comes after was not run";
    EXPECT_EQ(before, 1);
    EXPECT_EQ(after, 0);
    EXPECT_EQ(beside, 1);
    EXPECT_EQ(later, 0);
    stage.set_serial(false);
    loop.advance();
    EXPECT_THROW(loop.finish(), of_another);
    EXPECT_EQ(before, 2);
    EXPECT_EQ(after, 0);
    EXPECT_EQ(beside, 2);
}

TEST_P(FrameLoop, OfSeveralFailuresTheOneThatWasAddedFirstComesOut) {
    braid::scheduler s(options());
    braid::frame_loop loop(s);
    braid::frame_stage stage(loop);
    struct of_first {};
    struct of_another {};
    int good = 0;
    const auto first = stage.add([] { throw of_first(); });
    stage.add([] { throw of_another(); });
    stage.precede(stage.add([&good] { ++good; }), first);  // so that it runs between the others
    stage.add([] { throw of_another(); });
    for (int i = 0; i < 10; ++i) {
        stage.set_serial(i % 2 == 0);
        loop.advance();
        EXPECT_THROW(loop.finish(), of_first);
    }
    EXPECT_EQ(good, 10);
}

TEST_P(FrameLoop, BodiesOfTheMainThreadRunThereAndKeepTheStageParallel) {
    braid::scheduler s(options());
    const auto main = std::this_thread::get_id();
    braid::frame_loop loop(s, {.depth = 1});
    braid::frame_stage render(loop, {.name = "render"});
    int elsewhere = 0, ran = 0;
    render.add({.name = "present", .on = s.this_thread()}, [&] {
        ++ran;
        elsewhere += std::this_thread::get_id() != main;
    });
    for (int i = 0; i < 20; ++i) loop.advance();
    loop.finish();
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(elsewhere, 0);
    EXPECT_FALSE(render.set_serial(true));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a serial stage runs on whichever"), 1U);
}

TEST_P(FrameLoop, RefusesWhatCannotBeAndGoesOn) {
    braid::scheduler s(options());
    const auto reported = [&](const char* part) {
        return notes_.count(&braid_test::recorder::misuse, part);
    };
    braid::frame_loop loop(s, {.depth = 1});
    EXPECT_EQ(loop.advance(), 0U);
    EXPECT_EQ(reported("give the loop a stage"), 1U);
    EXPECT_FALSE(loop.set_depth(2));
    EXPECT_EQ(reported("the greatest depth that you want"), 1U);

    braid::event go(s, braid::reset::manual);
    int ran = 0;
    braid::frame_stage stage(loop, {.name = "stage"});
    const auto first = stage.add({.name = "first"}, [&] {
        s.do_work_while_waiting_for(go);
        ++ran;
    });
    EXPECT_EQ(loop.advance(), 1U);
    EXPECT_FALSE(stage.add([] {}));
    EXPECT_EQ(reported("finish() the loop before a stage is changed"), 1U);
    braid::frame_stage late(loop);
    EXPECT_FALSE(late.add([] {}));
    EXPECT_EQ(reported("finish() the loop before a stage is added"), 1U);
    go.set();
    loop.finish();
    EXPECT_EQ(ran, 1);

    {
        braid::frame_stage round(loop, {.name = "round"});
        const auto a = round.add({.name = "a"}, [&ran] { ++ran; });
        const auto b = round.add({.name = "b"}, [&ran] { ++ran; });
        EXPECT_FALSE(round.precede(first, a));
        EXPECT_EQ(reported("both nodes must be in this graph"), 1U);
        round.precede(a, b);
        round.precede(b, a);
        EXPECT_EQ(loop.advance(), 0U);
        EXPECT_EQ(reported("graph 'round' goes round"), 1U);
        EXPECT_EQ(loop.advance(), 0U);
        EXPECT_EQ(ran, 1) << "nothing of a refused frame runs";
    }
    EXPECT_EQ(loop.advance(), 2U) << "without the stage";
    loop.finish();
    EXPECT_EQ(ran, 2);

    std::vector<std::unique_ptr<braid::frame_stage>> more;
    for (unsigned i = 1; i <= braid::most_stages; ++i) {
        more.push_back(std::make_unique<braid::frame_stage>(loop));
    }
    EXPECT_EQ(reported("at most 8 stages"), 1U);
    EXPECT_FALSE(more.back()->add([] {}));
    while (!more.empty()) more.pop_back();

    s.shut_down();
    EXPECT_EQ(loop.advance(), 0U);
}

TEST_P(FrameLoop, AStageWaitsForItsFramesBeforeItEnds) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 3});
    int of_first = 0, of_second = 0;  // stages of different frames run at once
    braid::frame_stage first(loop);
    first.add([&of_first] { ++of_first; });
    {
        braid::frame_stage second(loop);
        second.add([&of_second] { ++of_second; });
        for (int i = 0; i < 3; ++i) loop.advance();
    }
    EXPECT_EQ(loop.completed(), 3U);
    EXPECT_EQ(of_first, 3);
    EXPECT_EQ(of_second, 3);
    loop.advance();
    loop.finish();
    EXPECT_EQ(of_first, 4);
    EXPECT_EQ(of_second, 3);
}

TEST_P(FrameLoop, ACallableLivesAsLongAsItsStage) {
    braid::scheduler s(options());
    const auto token = std::make_shared<int>(0);
    braid::frame_loop loop(s);
    {
        braid::frame_stage stage(loop);
        stage.add([token] { ++*token; });
        struct large {
            std::shared_ptr<int> kept;
            alignas(64) char more[200] = {};
        };
        stage.add([l = large{token}](const braid::frame_context&) { ++*l.kept; });
        EXPECT_EQ(token.use_count(), 3);
        struct throws_when_copied {
            throws_when_copied() = default;
            throws_when_copied(const throws_when_copied&) { throw broken(); }
            void operator()() const {}
        } bad;
        EXPECT_THROW(stage.add(bad), broken);
        EXPECT_EQ(stage.size(), 2U);
        stage.set_serial(true);
        loop.advance();
        loop.finish();
    }
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_EQ(*token, 2);
}

TEST_P(FrameLoop, LackOfMemoryRefusesFramesAndLosesNothing) {
    // One allocation after the other fails, and then all that follow; in the end all goes well.
    notes_.expects_misuse = true;  // of stages that were refused
    struct hungry {
        std::atomic<std::int64_t> left{INT64_MAX};
    } hungry;
    for (std::int64_t good = 0, frames_done = 0; frames_done < 6; ++good) {
        braid::scheduler_options o = options();
        o.memory = {
            .allocate = [](void* user, std::size_t bytes, std::size_t alignment,
                           braid::memory_tag) -> void* {
                auto& h = *static_cast<struct hungry*>(user);
                if (h.left.fetch_sub(1) <= 0) return nullptr;
                return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
            },
            .release = [](void*, void* p, std::size_t, std::size_t alignment,
                          braid::memory_tag) { ::operator delete(p, std::align_val_t{alignment}); },
            .user = &hungry};
        hungry.left = INT64_MAX;
        braid::scheduler s(o);
        hungry.left = good;
        std::atomic<int> ran{0};
        std::uint64_t begun = 0;
        {
            braid::frame_loop loop(s, {.depth = 1, .arena = {.block_bytes = 8192}});
            braid::frame_stage a(loop), b(loop);
            const auto first = a.add([&ran] { ++ran; });
            const auto second = a.add([&](const braid::frame_context& f) {
                ++ran;
                f.arena.allocate(100);
            });
            a.precede(first, second);
            b.add([&ran] { ++ran; });
            const int bodies = static_cast<int>(a.size() + b.size());
            for (int i = 0; i < 6; ++i) begun += loop.advance() != 0;
            loop.finish();
            EXPECT_EQ(ran, static_cast<int>(begun) * bodies) << good;
            frames_done = bodies == 3 ? static_cast<std::int64_t>(begun) : 0;
        }
        hungry.left = INT64_MAX;
        ASSERT_LT(good, 2000);
    }
}

TEST_P(FrameLoop, ComputesTheSameWhileItIsObservedAndCounted) {
    struct counter final : braid::observer {
        std::atomic<std::uint64_t> completed{0};
        void on_event(const braid::task_event& e) override {
            completed += e.kind == braid::event_kind::completed;
        }
    } seen;
    braid::scheduler_options o = options();
    o.observer = &seen;
    o.statistics = true;
    constexpr std::size_t frames = 20;
    {
        braid::scheduler s(o);
        tiny_game game(s, {.depth = 2}, frames);
        game.play(frames);
        EXPECT_EQ(game.hashes, tiny_game::expected(frames, 3));
    }
    // Gate, frame, three tasks of each of three stages, ten bodies.
    EXPECT_GE(seen.completed, frames * 21);
}

TEST_P(FrameLoop, ADiscardingShutdownEndsTheFramesInFlight) {
    for (int round = 0; round < 20; ++round) {
        braid::scheduler s(options());
        braid::frame_loop loop(s, {.depth = 3});
        braid::frame_stage simulate(loop), render(loop);
        std::atomic<int> simulated{0}, rendered{0};
        simulate.add([&simulated] { ++simulated; });
        render.add([&rendered] { ++rendered; });
        for (int i = 0; i < 4; ++i) EXPECT_NE(loop.advance(), 0U);
        s.shut_down(braid::shutdown::discard);
        bool thrown = false;
        try {
            loop.finish();
            EXPECT_EQ(rendered, 4) << "all had been run before it";
        } catch (const std::exception&) {
            thrown = true;
        }
        // All bodies may have been run, and what comes after the last of them no longer.
        braid::frame_record records[4];
        ASSERT_EQ(loop.records(records, 4), 4U);
        EXPECT_EQ(thrown, std::any_of(std::begin(records), std::end(records),
                                      [](const braid::frame_record& r) { return r.failed; }));
        EXPECT_LE(rendered, simulated);
        EXPECT_EQ(loop.completed(), 4U);
        EXPECT_EQ(loop.advance(), 0U);
    }
}

/// The frame's own task has run by then, or not.
TEST_P(FrameLoop, AFrameWhoseStagesWereDiscardedFails) {
    for (int round = 0; round < 50; ++round) {
        braid::scheduler s(options());
        braid::frame_loop loop(s, {.depth = 0});
        braid::frame_stage simulate(loop), render(loop);
        int rendered = 0;
        simulate.add([&s, round] {
            for (int i = 0; i < round * 20; ++i) braid::active_policy::relax();
            s.shut_down(braid::shutdown::discard);
        });
        render.add([&rendered] { ++rendered; });
        EXPECT_NE(loop.advance(), 0U);
        EXPECT_ANY_THROW(loop.finish());
        EXPECT_EQ(rendered, 0);
        EXPECT_TRUE(loop.record().failed);
    }
}

TEST_P(FrameLoop, DeeperThanThreeIsReportedAndThreeDeep) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 4});
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "0 to 3 frames deep"), 1U);
    EXPECT_EQ(loop.depth(), 3U);
}

TEST_P(FrameLoop, ThatEndsBeforeItsStagesIsReportedAndLosesNothing) {
    braid::scheduler s(options());
    std::unique_ptr<braid::frame_stage> one, two;
    int ran = 0;
    {
        braid::frame_loop loop(s);
        one = std::make_unique<braid::frame_stage>(loop);
        two = std::make_unique<braid::frame_stage>(loop);
        one->add([&ran] { ++ran; });
        loop.advance();
    }
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a loop ends after its stages"), 1U);
    one.reset();
    two.reset();
    EXPECT_EQ(s.bytes(braid::memory_tag::frame), 0U);
}

TEST_P(FrameLoop, NoSeedOfFiftyHangsOrComputesSomethingElse) {
    constexpr std::size_t frames = 5;
    const auto expected = tiny_game::expected(frames, 3);
    for (std::uint64_t seed = 0; seed < scaled(50); ++seed) {
        braid_test::seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.workers = std::min(o.workers, 4);
        o.chooser = &chooser;
        braid::scheduler s(o);
        tiny_game game(s, {.depth = 2}, frames);
        if (seed % 3 == 0) game.draw.set_serial(true);
        game.play(frames);
        ASSERT_EQ(game.hashes, expected) << "seed " << seed;
    }
}

}  // namespace
