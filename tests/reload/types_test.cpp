// Types that host and modules see in two ways.
#include "reload/dwarf/debug_info.hpp"
#include "reload/image/exports.hpp"
#include "reload/types/layout.hpp"
#include "reload_test.hpp"

namespace braid_test {
namespace {

namespace detail = braid::reload::detail;

class ReloadTypes : public reload_test {};

TEST_F(ReloadTypes, AFieldThatTheHostDoesNotHaveIsNamed) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    EXPECT_EQ(look().loaded(), 1u);
    put("game_speed");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 0u);
    expect_sentence(went, "world::character has no 'speed' in the host, offset 12 in the module");
    EXPECT_FALSE(look());
    EXPECT_EQ(simulate(game, input), 1);
}

TEST_F(ReloadTypes, ATypeThatTwoModulesShareIsComparedBetweenThem) {
    const play_function play(add("sound"), "play", play_stub);
    const play_function blow(add("horn"), "play", play_stub);
    put("sound_1", "sound");
    put("horn_1", "horn");
    EXPECT_EQ(look().loaded(), 2u);
    put("sound_wide", "sound");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 0u);
    expect_sentence(went, "world::tone::pitch is float in module 'horn' and double in 'sound'");
    EXPECT_FALSE(look()) << "said twice";
    EXPECT_EQ(play(1), 1);
    // Built with the new type, too: both go over at one boundary.
    put("horn_wide", "horn");
    EXPECT_EQ(look().loaded(), 2u);
    EXPECT_EQ(play(1), 3);
    EXPECT_EQ(blow(1), 5);
}

TEST_F(ReloadTypes, AModuleThatFitsGoesOverWhileAnotherOneWaits) {
    add("sound");
    add("horn");
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("sound_1", "sound");
    put("horn_1", "horn");
    EXPECT_EQ(look().loaded(), 2u);
    put("sound_wide", "sound");
    put("game_1");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    EXPECT_EQ(went.refused(), 1u);
    EXPECT_EQ(simulate(game, input), 1);
}

TEST_F(ReloadTypes, WithoutTheHostsDebugInformationThatIsSaid) {
    reload::modules_options blind = options();
    blind.host = built("game_no_debug").string();
    modules.emplace(*scheduler, blind);
    add();
    put("game_speed");
    expect_sentence(look(), "the host has no debug information");
}

TEST_F(ReloadTypes, ALayoutHasEveryFieldOfATypeThatIsReached) {
    const bytes file = read(built("game_1"));
    detail::image parsed;
    ASSERT_TRUE(detail::image::read(file, parsed));
    std::vector<detail::exported> exports;
    ASSERT_TRUE(detail::read_exports(parsed, exports));
    detail::debug_info info;
    ASSERT_TRUE(info.open(file));
    detail::type_table types;
    const braid::status went = info.types_of({detail::find(exports, "simulate")->address}, types);
    ASSERT_TRUE(went) << went.text;
    ASSERT_TRUE(types.contains("world::game"));
    const detail::layout& game_type = types["world::game"];
    EXPECT_EQ(game_type.size, sizeof(world::game));
    ASSERT_EQ(game_type.fields.size(), 3u);
    EXPECT_EQ(game_type.fields[1].name, "first");
    EXPECT_EQ(game_type.fields[1].type, "world::character*");
    EXPECT_EQ(game_type.fields[1].bit, 8 * offsetof(world::game, first));
    // Members of unions without a name.
    const detail::layout& at = types["world::place"];
    ASSERT_EQ(at.fields.size(), 4u);
    EXPECT_EQ(at.fields[1].name, "left");
    EXPECT_EQ(at.fields[1].bit, 8 * offsetof(world::place, left));
    EXPECT_EQ(at.fields[3].name, "up");
    EXPECT_EQ(at.fields[3].bit, 8 * offsetof(world::place, up));
    // A pointer to a function says which ones.
    EXPECT_EQ(types["world::input"].fields[1].type, "bool(const world::input&, char)*");
    // By a pointer, and by a template's argument and base.
    EXPECT_TRUE(types.contains("world::character"));
    EXPECT_TRUE(types.contains("world::place"));
    EXPECT_TRUE(types.contains("world::input"));
    EXPECT_TRUE(types.contains("std::vector<int, std::allocator<int>>"));
    for (const auto& [name, own] : types) {
        const detail::layout* const again = info.find(name);
        ASSERT_NE(again, nullptr) << name;
        EXPECT_EQ(detail::difference(own, "a", *again, "b"), "");
    }
}

detail::layout character() {
    return {.name = "character",
            .size = 12,
            .enumeration = false,
            .fields = {{"x", "float", 0, 0}, {"y", "float", 32, 0}, {"alive", "bool", 64, 1}}};
}

std::string difference_after(const std::function<void(detail::layout&)>& change) {
    detail::layout other = character();
    change(other);
    return detail::difference(character(), "A", other, "B");
}

TEST(ReloadLayout, EveryKindOfDifferenceIsNamed) {
    const auto fields = [](detail::layout& l) -> auto& { return l.fields; };
    EXPECT_EQ(difference_after([](detail::layout&) {}), "");
    EXPECT_EQ(difference_after([&](auto& l) { fields(l)[1].type = "double"; }),
              "character::y is float in A and double in B");
    EXPECT_EQ(difference_after([&](auto& l) { fields(l)[1].bit = 96; }),
              "character::y is at offset 4 in A and at offset 12 in B");
    EXPECT_EQ(difference_after([&](auto& l) { fields(l)[2].bits = 2; }),
              "character::alive has 1 bits in A and 2 in B");
    EXPECT_EQ(difference_after([&](auto& l) { fields(l).pop_back(); }),
              "character has no 'alive' in B, offset 8, bit 0 in A");
    EXPECT_EQ(difference_after([&](auto& l) { fields(l).push_back({"z", "int", 96, 0}); }),
              "character has no 'z' in A, offset 12 in B");
    EXPECT_EQ(difference_after([](auto& l) { l.size = 16; }),
              "character has 12 bytes in A and 16 in B");
}

TEST(ReloadLayout, AnEnumeratorThatMovedIsNamed) {
    const detail::layout a{"kind", 4, true, {{"walk", "enumerator", 0, 0}}};
    const detail::layout b{"kind", 4, true, {{"walk", "enumerator", 1, 0}}};
    EXPECT_EQ(detail::difference(a, "A", b, "B"),
              "kind::walk is at value 0 in A and at value 1 in B");
}

}  // namespace
}  // namespace braid_test
