// State in an arena, and two builds of the module that uses it.
#include "reload_test.hpp"

#include <braid/reload/arena.hpp>

namespace braid_test {
namespace {

class ReloadState : public reload_test {
protected:
    explicit ReloadState(bool compare_types = true) {
        reload::module& m = add("game", compare_types);
        step.emplace(m, "step", [](reload::arena&) { return stub_value; });
        energy.emplace(m, "energy", [](reload::arena&) -> long { return stub_value; });
        extra.emplace(m, "extra", [](reload::arena&) { return -2.0f; });
        state.emplace(*modules);
        put("colony_1");
        EXPECT_EQ(look().loaded(), 1u);
    }
    void walk(int steps) {
        for (int i = 0; i < steps; ++i) (void)(*step)(*state);
    }

    std::optional<reload::function<int(reload::arena&)>> step;
    std::optional<reload::function<long(reload::arena&)>> energy;
    std::optional<reload::function<float(reload::arena&)>> extra;
    std::optional<reload::arena> state;
};

TEST_F(ReloadState, ItGoesOverToAnotherLayout) {
    walk(5);
    const long before = (*energy)(*state);
    put("colony_2");
    modules->check_now();
    EXPECT_EQ((*energy)(*state), before) << "before the boundary";
    const reload::outcome went = modules->at_frame_boundary();
    EXPECT_EQ(went.loaded(), 1u);
    expect_sentence(went, "; the state went over: 101 objects, ");
    EXPECT_EQ(went.migrated().objects, 101u);
    EXPECT_GT(went.migrated().bytes, 101u * 8);
    EXPECT_EQ((*energy)(*state), before);
    EXPECT_EQ((*extra)(*state), 52.0f) << "new fields come from the constructors";
    EXPECT_EQ((*step)(*state), 6);
    // And back.
    const long later = (*energy)(*state);
    put("colony_1");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*energy)(*state), later);
    EXPECT_EQ((*step)(*state), 7);
}

TEST_F(ReloadState, EachFieldThatGoesIsListed) {
    put("colony_2");
    EXPECT_EQ(look().loaded(), 1u);
    walk(1);
    put("colony_1");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    for (const char* const line :
         {"colony::nest::food   dropped  was int\n", "colony::ant::speed   dropped  was float\n"}) {
        EXPECT_NE(went.table().find(line), std::string::npos) << went.table();
    }
    put("colony_1");
    EXPECT_EQ(look().table(), "") << "nothing goes over";
}

TEST_F(ReloadState, AFieldThatMovesIntoAStructIsAskedForAndThenGoesOver) {
    walk(5);
    const long before = (*energy)(*state);
    put("colony_6");
    const reload::outcome asked = look();
    EXPECT_EQ(asked.loaded(), 0u);
    expect_sentence(asked,
                    "the state cannot go over: colony::ant::energy was dropped, and 'own.energy' "
                    "of the same type was added: say in the module "
                    "BRAID_RELOAD_RENAMED(colony::ant, energy, own.energy) if it is the same "
                    "field, else BRAID_RELOAD_DROPPED(colony::ant, energy)");
    EXPECT_NE(asked.table().find("colony::ant::energy  WHICH?"), std::string::npos)
        << asked.table();
    EXPECT_EQ((*energy)(*state), before);
    put("colony_7");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u) << went.text();
    EXPECT_NE(went.table().find("renamed  is 'own.energy' now"), std::string::npos) << went.table();
    EXPECT_EQ((*energy)(*state), before);
    EXPECT_EQ((*extra)(*state), 2.0f) << "what is new in the struct comes from its constructor";
}

TEST_F(ReloadState, AValueThatDoesNotFitKeepsStateAndCode) {
    for (int i = 0; i < 3000; ++i) walk(1);
    const long before = (*energy)(*state);
    const std::string build = modules->at_frame_boundary() ? "" : "still";
    EXPECT_EQ(build, "still");
    put("colony_3");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 0u);
    EXPECT_EQ(went.refused(), 1u);
    expect_sentence(went,
                    "Module 'game' was refused, and the code before goes on: the state cannot go "
                    "over: colony::ant::energy is 310, which the new type cannot hold");
    EXPECT_NE(went.table().find("int is checked to fit signed char"), std::string::npos)
        << went.table();
    EXPECT_FALSE(look()) << "said twice";
    EXPECT_EQ((*energy)(*state), before);
    EXPECT_EQ((*step)(*state), 3001);
    // A later build that fits is taken, and then the refused one is tried again.
    put("colony_2");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*step)(*state), 3002);
    put("colony_3");
    EXPECT_EQ(look().refused(), 1u);
    EXPECT_EQ((*step)(*state), 3003);
}

TEST_F(ReloadState, ATypeThatCannotGoOverIsRefusedWithATable) {
    walk(1);
    put("colony_4");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 0u);
    expect_sentence(went, "colony::nest::action is a function pointer, whose code is the old one");
    EXPECT_NE(went.table().find("colony::nest::action  REFUSED"), std::string::npos)
        << went.table();
    EXPECT_EQ((*step)(*state), 2);
}

TEST_F(ReloadState, AnInvariantRefuses) {
    walk(2);
    const long before = (*energy)(*state);
    put("colony_5");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*energy)(*state), before);
    // While there is a way back, a rule that is broken takes it.
    for (int i = 0; i < 120; ++i) EXPECT_FALSE(modules->at_frame_boundary());
    walk(1);
    put("colony_1");
    EXPECT_EQ(look().loaded(), 1u) << "the new code has no such rule";
    put("colony_5");
    expect_sentence(look(), "reload_invariant of colony::nest says: too many steps");
    EXPECT_EQ((*step)(*state), 4);
}

TEST_F(ReloadState, ATypeThatCameAfterThePlanIsPlannedFirst) {
    // The plan is made while nothing is in the arena.
    put("colony_2");
    modules->check_now();
    walk(1);
    const long before = (*energy)(*state);
    EXPECT_FALSE(modules->at_frame_boundary());
    EXPECT_EQ((*energy)(*state), before);
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*energy)(*state), before);
}

TEST_F(ReloadState, ATypeInANamespaceWithoutANameIsRefused) {
    put("colony_unnamed_1");
    EXPECT_EQ(look().loaded(), 1u) << "there is no state yet";
    walk(2);
    const long before = (*energy)(*state);
    put("colony_unnamed_2");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 0u);
    expect_sentence(went,
                    "nest is in a namespace without a name, which is another one in each build");
    EXPECT_EQ((*energy)(*state), before);
    EXPECT_EQ((*step)(*state), 3);
}

class ReloadStateUnseen : public ReloadState {
protected:
    ReloadStateUnseen() : ReloadState(false) {}
};

TEST_F(ReloadStateUnseen, CodeThatDoesNotDescribeItsTypesIsRefused) {
    walk(3);
    const long before = (*energy)(*state);
    for (const char* const build : {"colony_no_debug", "colony_no_types"}) {
        put(build);
        const reload::outcome went = look();
        EXPECT_EQ(went.loaded(), 0u) << build;
        expect_sentence(went, "is not described by the debug information of the new code");
        EXPECT_EQ((*energy)(*state), before);
    }
    put("colony_2");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*energy)(*state), before);
}

TEST_F(ReloadStateUnseen, NorIsCodeTakenWhereNeitherSideIsDescribed) {
    put("colony_no_debug");
    EXPECT_EQ(look().loaded(), 1u) << "there is no state yet";
    walk(2);
    put("colony_no_types");
    EXPECT_EQ(look().loaded(), 0u);
    EXPECT_EQ((*step)(*state), 3);
}

class ReloadStateWatched : public reload_test {
protected:
    ReloadStateWatched() {
        reload::modules_options watching = options();
        watching.watch = true;
        watching.clock = nullptr;
        modules.emplace(*scheduler, watching);
    }
};

TEST_F(ReloadStateWatched, ItGoesOverWhileTheLoopRuns) {
    reload::module& m = add();
    const reload::function<int(reload::arena&)> step(m, "step", [](reload::arena&) { return 0; });
    const reload::function<long(reload::arena&)> energy(m, "energy",
                                                        [](reload::arena&) -> long { return 0; });
    reload::arena state(*modules);
    int steps = 0;
    // A frame is checked after each boundary, while files are read and plans are made elsewhere.
    const auto run_until_loaded = [&] {
        for (;;) {
            const long before = energy(state);
            const reload::outcome went = modules->at_frame_boundary();
            if (before != 0) {
                EXPECT_EQ(energy(state), before);
            }
            if (step(state) != 0) ++steps;
            if (went.loaded() != 0) return;
            std::this_thread::yield();
        }
    };
    for (int i = 0; i < 6; ++i) {
        put(i % 2 == 0 ? "colony_1" : "colony_2");
        run_until_loaded();
    }
    EXPECT_EQ(step(state), steps + 1);
}

TEST_F(ReloadState, AnArenaThatCameAfterTheCheckIsPlannedFirst) {
    walk(1);
    state.reset();
    put("colony_2");
    modules->check_now();
    state.emplace(*modules);
    walk(1);
    const long before = (*energy)(*state);
    EXPECT_FALSE(modules->at_frame_boundary());
    EXPECT_FALSE(modules->at_frame_boundary());
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*energy)(*state), before);
}

TEST_F(ReloadState, AModuleThatKnowsNothingOfItLeavesItAlone) {
    walk(3);
    add("sound");
    put("sound_1", "sound");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    EXPECT_EQ(went.migrated().objects, 0u);
    EXPECT_EQ((*step)(*state), 4);
}

}  // namespace
}  // namespace braid_test
