// What went wrong with reloading in the work queue that Braid comes from, each by its number.
#include "reload_test.hpp"

namespace braid_test {
namespace {

class ReloadLineage : public reload_test {};

// H10: functions of a library that was not loaded were null, and were called.
TEST_F(ReloadLineage, H10AFunctionIsNeverNull) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    const add_function nowhere(add("nowhere"), "add", add_stub);
    EXPECT_EQ(simulate(game, input), stub_value);
    write(live(), {});
    EXPECT_TRUE(look());
    EXPECT_EQ(simulate(game, input), stub_value);
    EXPECT_EQ(nowhere(1, 2), stub_value);
    put("game_1");
    EXPECT_TRUE(look());
    EXPECT_EQ(simulate(game, input), 1);
    fs::remove(live());
    EXPECT_FALSE(look());
    EXPECT_EQ(simulate(game, input), 1);
}

// H11: a lock file that a build had left behind stopped all reloading for ever.
TEST_F(ReloadLineage, H11AStaleLockDoesNotStopReloadingForEver) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    write(live().string() + ".lock", {});
    EXPECT_FALSE(look());
    now_ns += 10'000'000'000;
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    expect_sentence(went, "which nobody owns, was removed");
    EXPECT_FALSE(fs::exists(live().string() + ".lock"));
}

// H12: a copy that failed was taken for a module that was loaded, and not tried again.
TEST_F(ReloadLineage, H12AFailedCopyIsNotTakenForLoaded) {
    reload::modules_options broken = options();
    broken.folder = (copies / "missing").string();
    modules.emplace(*scheduler, broken);
    reload::module& m = add();
    const simulate_function simulate(m, "simulate", simulate_stub);
    put("game_1");
    const reload::outcome went = look();
    expect_sentence(went, "cannot make the folder");
    EXPECT_FALSE(m.loaded());
    EXPECT_EQ(simulate(game, input), stub_value);
    fs::create_directory(copies / "missing");
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ(simulate(game, input), 1);
}

// H13: code was unloaded while pointers into it were left.
TEST_F(ReloadLineage, H13OldCodeStaysSoThatAPointerIntoItStillWorks) {
    reload::modules_options lenient = options();
    lenient.stop_stale_calls = false;
    modules.emplace(*scheduler, lenient);
    using number = int();
    const reload::function<number*()> number_of_build(add(), "number_of_build",
                                                      []() -> number* { return nullptr; });
    put("game_1");
    EXPECT_TRUE(look());
    number* const old = number_of_build();
    put("game_2");
    EXPECT_TRUE(look());
    EXPECT_EQ(old(), 1);
    EXPECT_EQ(number_of_build()(), 2);
    // The code stays also behind the object that loaded it.
}

// H14: a library was used of which some functions had been found, and two libraries shared statics.
TEST_F(ReloadLineage, H14AModuleIsTakenWithAllItsFunctionsOrNotAtAll) {
    reload::module& m = add();
    const simulate_function simulate(m, "simulate", simulate_stub);
    const add_function sum(m, "add", add_stub);
    put("game_1");
    EXPECT_TRUE(look());
    put("game_half");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 0u);
    expect_sentence(went, "does not export 'add'");
    EXPECT_EQ(simulate(game, input), 1);
    EXPECT_EQ(sum(1, 2), 3);
}

TEST_F(ReloadLineage, H14StaticsOfTwoBuildsAreTwo) {
    const counted_function counted(add(), "counted", counted_stub);
    put("game_1");
    EXPECT_TRUE(look());
    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(counted(), 2);
    put("game_2");
    EXPECT_TRUE(look());
    EXPECT_EQ(counted(), 1);
}

}  // namespace
}  // namespace braid_test
