// Loading, swapping, and what stays when a file is refused.
#include "reload_test.hpp"

#include <optional>

namespace braid_test {
namespace {

class Reload : public reload_test {};

TEST_F(Reload, StubsRunUntilSomethingValidIsLoaded) {
    reload::module& m = add();
    const simulate_function simulate(m, "simulate", simulate_stub);
    EXPECT_EQ(simulate(game, input), stub_value);
    EXPECT_FALSE(simulate.loaded());
    const reload::outcome nothing = look();
    expect_sentence(nothing, "there is no file");
    EXPECT_EQ(simulate(game, input), stub_value);
    put("game_1");
    const reload::outcome went = look();
    expect_sentence(went, "'game' was loaded: build ");
    EXPECT_EQ(went.loaded(), 1u);
    EXPECT_EQ(simulate(game, input), 1);
    EXPECT_TRUE(simulate.loaded() && m.loaded());
}

TEST_F(Reload, ABoundaryLetsCallsGoOverAndNothingBeforeItDoes) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    EXPECT_TRUE(look());
    put("game_2");
    modules->check_now();
    EXPECT_EQ(simulate(game, input), 1);
    const reload::outcome went = modules->at_frame_boundary();
    expect_sentence(went, "was reloaded");
    EXPECT_EQ(simulate(game, input), 2);
}

TEST_F(Reload, AnUnchangedBuildIsIgnored) {
    reload::module& m = add();
    put("game_1");
    EXPECT_TRUE(look());
    EXPECT_FALSE(look());
    put("game_1");
    EXPECT_FALSE(look());
    EXPECT_EQ(m.loads(), 1u);
    EXPECT_EQ(m.bytes(), fs::file_size(built("game_1")));
}

TEST_F(Reload, ANewBuildThatIsTakenBackBeforeTheBoundaryIsNotSwappedIn) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    EXPECT_TRUE(look());
    put("game_2");
    modules->check_now();
    put("game_1");
    EXPECT_FALSE(look());
    EXPECT_EQ(simulate(game, input), 1);
}

TEST_F(Reload, FiftyReloadsInARow) {
    reload::module& m = add();
    const simulate_function simulate(m, "simulate", simulate_stub);
    const counted_function counted(m, "counted", counted_stub);
    for (int i = 0; i < 50; ++i) {
        put(i % 2 == 0 ? "game_1" : "game_2");
        ASSERT_EQ(look().loaded(), 1u) << i;
        ASSERT_EQ(simulate(game, input), i % 2 == 0 ? 1 : 2);
        ASSERT_EQ(counted(), 1) << "statics of an earlier load";
        ASSERT_EQ(counted(), 2);
    }
    EXPECT_EQ(m.loads(), 50u);
    EXPECT_EQ(m.bytes(), 25 * (fs::file_size(built("game_1")) + fs::file_size(built("game_2"))))
        << "all of it stays in the process";
}

TEST_F(Reload, StaticsThatBeginAnewAreListedAndConstantOnesAreNot) {
    add();
    put("game_1");
    EXPECT_EQ(look().table(), "") << "the first load replaces nothing";
    put("game_2");
    const reload::outcome went = look();
    expect_sentence(went, ", and 1 static begins anew");
    EXPECT_EQ(went.table(), "static world::(anonymous namespace)::counted()::calls begins anew\n");
    put_bytes({});
    EXPECT_EQ(look().table(), "") << "a refusal replaces nothing";
}

TEST_F(Reload, TwoModulesAreReloadedAlone) {
    reload::module& logic = add();
    reload::module& sound = add("sound");
    const simulate_function simulate(logic, "simulate", simulate_stub);
    const play_function play(sound, "play", play_stub);
    put("game_1");
    put("sound_1", "sound");
    EXPECT_EQ(look().loaded(), 2u);
    put("sound_2", "sound");
    const reload::outcome went = look();
    expect_sentence(went, "'sound' was reloaded");
    EXPECT_EQ(went.loaded(), 1u);
    EXPECT_EQ(play(10), 20);
    EXPECT_EQ(simulate(game, input), 1);
    EXPECT_EQ(logic.loads(), 1u);
    put("game_2");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ(simulate(game, input), 2);
    EXPECT_EQ(sound.loads(), 2u);
}

TEST_F(Reload, AFunctionMadeAfterTheLoadIsFoundAtOnce) {
    reload::module& m = add();
    put("game_1");
    EXPECT_TRUE(look());
    const simulate_function simulate(m, "simulate", simulate_stub);
    EXPECT_EQ(simulate(game, input), 1);
    const reload::function<int(float)> wrong(m, "simulate", [](float) { return stub_value; });
    EXPECT_EQ(wrong(1), stub_value);
    expect_sentence(modules->at_frame_boundary(), "has no 'simulate' that is int(float)");
}

TEST_F(Reload, AFunctionMadeBetweenCheckAndBoundaryIsAskedToo) {
    reload::module& m = add();
    put("game_1");
    modules->check_now();
    const reload::function<int(float)> wrong(m, "simulate", [](float) { return stub_value; });
    const reload::outcome went = modules->at_frame_boundary();
    EXPECT_EQ(went.loaded(), 0u);
    expect_sentence(went, "the host calls it as int(float)");
    EXPECT_EQ(wrong(1), stub_value);
    EXPECT_FALSE(look()) << "said twice";
}

TEST_F(Reload, AReloadWhileAnotherThreadCallsNeverLosesACall) {
    reload::modules_options lenient = options();
    lenient.stop_stale_calls = false;  // a call that is under way ends in the old code
    modules.emplace(*scheduler, lenient);
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    EXPECT_TRUE(look());
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0}, wrong{0};
    std::thread caller([&] {
        world::game own;
        while (!stop) {
            const int said = simulate(own, input);
            if (said != 1 && said != 2) ++wrong;
            ++calls;
        }
    });
    for (int i = 0; i < 20; ++i) {
        const int before = calls;
        while (calls == before) std::this_thread::yield();
        put(i % 2 == 0 ? "game_2" : "game_1");
        EXPECT_EQ(look().loaded(), 1u);
    }
    stop = true;
    caller.join();
    EXPECT_EQ(wrong, 0);
}

TEST_F(Reload, NamesAreCheckedWhenAModuleIsAdded) {
    add();
    EXPECT_THROW(add(), std::invalid_argument);
    EXPECT_THROW(modules->add({.name = "", .path = "x.so"}), std::invalid_argument);
    EXPECT_THROW(modules->add({.name = "a/b", .path = "x.so"}), std::invalid_argument);
    EXPECT_THROW(modules->add({.name = "a", .path = ""}), std::invalid_argument);
}

TEST_F(Reload, EveryLinkersOutputIsLoaded) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    for (const char* linker : {"gold", "lld", "mold"}) {
        const std::string name = std::string("game_") + linker;
        if (!fs::exists(built(name))) continue;
        put(name);
        const reload::outcome went = look();
        EXPECT_EQ(went.loaded(), 1u) << linker << ": " << went.text();
        EXPECT_EQ(simulate(game, input), 20);
    }
}

TEST_F(Reload, AModuleWithoutTypeInformationAndExceptionsIsLoaded) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_no_rtti");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u) << went.text();
    EXPECT_EQ(simulate(game, input), 12);
}

TEST_F(Reload, ABoundaryWithoutNewsTakesLessThanAMicrosecond) {
    add();
    put("game_1");
    EXPECT_TRUE(look());
    constexpr int times = 100'000;
    // The best of some rounds: other programs run, too.
    auto best = std::chrono::nanoseconds::max();
    for (int round = 0; round < 20; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < times; ++i) EXPECT_FALSE(modules->at_frame_boundary());
        best = std::min(best, std::chrono::steady_clock::now() - begin);
    }
    EXPECT_LT(best.count() / times, 1000);
}

TEST_F(Reload, TheCopiesGoWithTheModulesObject) {
    add();
    put("game_1");
    EXPECT_TRUE(look());
    EXPECT_FALSE(fs::is_empty(copies.path()));
    modules.reset();
    EXPECT_TRUE(fs::is_empty(copies.path()));
}

}  // namespace
}  // namespace braid_test
