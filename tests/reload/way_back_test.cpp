// R6: for some frames after a reload the code before, and its state, come back.
#include "reload_test.hpp"

#include <braid/reload/arena.hpp>

#include <stdexcept>

namespace braid_test {
namespace {

class ReloadWayBack : public reload_test {
protected:
    explicit ReloadWayBack(unsigned keep_frames = 10, bool stop_stale_calls = true) {
        reload::modules_options o = options();
        o.keep_frames = keep_frames;
        o.stop_stale_calls = stop_stale_calls;
        modules.emplace(*scheduler, o);
        m = &add();
        step.emplace(*m, "step", [](reload::arena&) { return stub_value; });
        sum.emplace(*m, "sum", [](reload::arena&) -> long { return stub_value; });
        state.emplace(*modules);
        take("tried_good");
        walk(3);
    }
    void walk(int steps) {
        for (int i = 0; i < steps; ++i) (void)(*step)(*state);
    }
    void take(const std::string& build) {
        put(build);
        const reload::outcome went = look();
        EXPECT_EQ(went.loaded(), 1u) << went.text();
        EXPECT_EQ(went.rolled_back(), 0u);
    }
    void expect_back(const reload::outcome& went, const std::string& text) {
        EXPECT_EQ(went.loaded(), 1u) << went.text();
        EXPECT_EQ(went.rolled_back(), 1u);
        expect_sentence(went, text);
    }

    reload::module* m = nullptr;
    std::optional<reload::function<int(reload::arena&)>> step;
    std::optional<reload::function<long(reload::arena&)>> sum;
    std::optional<reload::arena> state;
};

TEST_F(ReloadWayBack, StateThatWentOverIsAsItWasWhateverTheNewCodeDidToIt) {
    const std::string build = m->build_id();
    const long before = (*sum)(*state);
    take("tried_wide");
    EXPECT_EQ((*sum)(*state), before);
    EXPECT_EQ((*step)(*state), 704);
    EXPECT_FALSE(modules->at_frame_boundary());
    walk(20);
    modules->roll_back();
    expect_back(modules->at_frame_boundary(),
                "because it was asked to; the state is that of before it, and what 2 frames did is "
                "lost.");
    EXPECT_EQ(m->build_id(), build);
    EXPECT_EQ((*sum)(*state), before);
    EXPECT_EQ((*step)(*state), 4);
    EXPECT_FALSE(look()) << "what went back is not taken again";
    // Forward again, with a build that is another one.
    const long later = (*sum)(*state);
    take("tried_rule");
    EXPECT_EQ((*sum)(*state), later);
    take("tried_good");
    EXPECT_EQ((*sum)(*state), later);
}

TEST_F(ReloadWayBack, StateThatStayedStaysAsItIs) {
    take("tried_second");
    modules->roll_back("the picture is black");
    expect_back(modules->at_frame_boundary(),
                "because the picture is black; the state stays as 1 frame left it.");
    EXPECT_EQ((*step)(*state), 4);
}

TEST_F(ReloadWayBack, AnExceptionOutOfNewCodeReachesTheCallerAndGoesBack) {
    take("tried_throws");
    EXPECT_THROW(walk(1), std::runtime_error);
    expect_back(modules->at_frame_boundary(), "because 'step' threw an exception; the state stays");
    EXPECT_EQ((*step)(*state), 4);
}

TEST_F(ReloadWayBack, AnExceptionAfterAFewGoodFramesDoesToo) {
    take("tried_throws_late");
    for (int frame = 0; frame < 5; ++frame) {
        walk(1);
        EXPECT_FALSE(modules->at_frame_boundary());
    }
    EXPECT_THROW(walk(1), std::runtime_error);
    expect_back(modules->at_frame_boundary(), "because 'step' threw an exception");
    EXPECT_EQ((*step)(*state), 9);
}

TEST_F(ReloadWayBack, AnExceptionOfCodeThatHasBeenHereForLongerGoesNowhere) {
    take("tried_throws_late");
    walk(5);
    for (int frame = 0; frame < 11; ++frame) EXPECT_FALSE(modules->at_frame_boundary());
    EXPECT_THROW(walk(1), std::runtime_error);
    EXPECT_FALSE(modules->at_frame_boundary());
}

TEST_F(ReloadWayBack, ARuleOfTheStateThatALaterFrameBreaksGoesBack) {
    take("tried_rule");
    EXPECT_FALSE(modules->at_frame_boundary());
    walk(2);
    expect_back(modules->at_frame_boundary(),
                "because reload_invariant of tried::pack says: too many steps");
    EXPECT_EQ((*step)(*state), 6) << "the code before has no such rule";
}

TEST_F(ReloadWayBack, TheWayIsThereForSoManyFramesAndNoLonger) {
    const auto run = [this](int frames) {
        for (int i = 1; i < frames; ++i) EXPECT_FALSE(modules->at_frame_boundary());
        modules->roll_back();
        return modules->at_frame_boundary();
    };
    take("tried_wide");
    expect_back(run(10), "what 10 frames did is lost");
    take("tried_second");
    const reload::outcome went = run(11);
    EXPECT_EQ(went.rolled_back(), 0u);
    expect_sentence(went, "odules cannot go back: there is nothing to go back to");
    EXPECT_FALSE(modules->at_frame_boundary());
}

TEST_F(ReloadWayBack, WhatIsReadyAtThatBoundaryIsTakenAtTheNext) {
    take("tried_wide");
    put("tried_second");
    modules->check_now();
    modules->roll_back();
    expect_back(modules->at_frame_boundary(), "went back");
    reload::outcome went = modules->at_frame_boundary();
    if (!went) went = look();  // a plan for what runs now
    EXPECT_EQ(went.loaded(), 1u) << went.text();
    EXPECT_EQ((*step)(*state), 4);
}

TEST_F(ReloadWayBack, ItIsGoneOnceOnly) {
    take("tried_wide");
    modules->roll_back();
    modules->roll_back("again");
    expect_back(modules->at_frame_boundary(), "because it was asked to");
    EXPECT_FALSE(modules->at_frame_boundary());
    modules->roll_back();
    expect_sentence(modules->at_frame_boundary(), "there is nothing to go back to");
}

TEST_F(ReloadWayBack, ObjectsThatNewCodeMadeAreGoneAndItsRootsToo) {
    take("tried_wide");
    const std::size_t objects = state->objects();
    struct extra {
        int a = 1;
    };
    (void)state->root<extra>("extra");
    for (int i = 0; i < 100; ++i) (void)state->make<extra>();
    modules->roll_back();
    expect_back(modules->at_frame_boundary(), "went back");
    EXPECT_EQ(state->objects(), objects);
    EXPECT_EQ(state->find<extra>("extra"), nullptr);
    EXPECT_EQ(state->root<extra>("extra").a, 1);
}

TEST_F(ReloadWayBack, WithAnArenaThatEndsItIsGone) {
    take("tried_wide");
    state.reset();
    modules->roll_back();
    expect_sentence(modules->at_frame_boundary(), "there is nothing to go back to");
    state.emplace(*modules);
    EXPECT_EQ((*step)(*state), 701);
}

TEST_F(ReloadWayBack, ItEndsWithTheModulesObject) {
    take("tried_wide");
    step.reset();
    sum.reset();
    state.reset();
    modules.reset();
}

class ReloadNoWayBack : public ReloadWayBack {
protected:
    ReloadNoWayBack() : ReloadWayBack(0) {}
};

TEST_F(ReloadNoWayBack, WithNoFramesNothingIsKept) {
    const long before = (*sum)(*state);
    take("tried_wide");
    EXPECT_EQ((*sum)(*state), before);
    modules->roll_back();
    expect_sentence(modules->at_frame_boundary(), "there is nothing to go back to");
    EXPECT_EQ((*step)(*state), 704);
}

}  // namespace
}  // namespace braid_test
