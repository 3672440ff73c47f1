// Fields that go while a struct comes in which they may stand now: asked for, moved, or dropped.
#include "migrate_test.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace before {

struct walker {
    float x = 0, y = 0;
    int health = 100;
};
struct walkers {
    std::span<walker> all;
    std::vector<walker> listed;
    walker row[2];
    std::optional<walker> best;
    std::unique_ptr<walker> owned;
    const float* watched = nullptr;
};
struct far_off {
    float x = 0;
    int y = 0;
};
struct derived {
    float x = 0;
    int y = 0;
};
struct tail {
    int length = 0;
};
struct dog {
    std::string name;
    tail behind;
};
struct cat {
    std::string name;
    int lives = 9;
};
struct both {
    float x = 0, y = 0;
    std::string name;
};
struct badge {
    int number = 0;
    std::string name;
};
struct coat {
    badge pinned;
};
struct rider {
    coat worn;
    badge row[2];
};
struct letter {
    int pages = 0;
};
struct envelope {
    std::string address;
    letter inside;
};
struct old_hand {
    int level = 1;
    short hp = 9;
};

}  // namespace before

namespace after {

struct spot {
    float x = 0, y = 0, z = 7;
};
struct walker {
    long health = 0;
    spot place;
};
struct walkers {
    const float* watched = nullptr;
    std::unique_ptr<walker> owned;
    std::optional<walker> best;
    walker row[3];
    std::vector<walker> listed;
    std::span<walker> all;
};
struct third {
    float x = 0;
};
struct fourth {
    third deeper;
    int y = 0;
};
struct second {
    fourth deeper;
    third beside;
};
struct first {
    second inner;
};
struct far_off {
    first at;
    third near;
};
struct position {
    float x = 0;
};
struct derived : position {
    long y = 0;
};
struct tail {
    std::string name = "a default that is too long for the string itself";
    int length = 0;
};
struct dog {
    int legs = 4;
    tail behind;
};
struct label {
    int size = 3;
    std::string name = "a default that is too long for the string itself";
    std::string font = "another one that is too long for the string itself";
};
struct cat {
    int lives = 0;
    label shown;
};
inline const char* reload_invariant(const cat& c) {
    return c.lives < 0 ? "a cat without lives" : nullptr;
}
struct both {
    spot place;
    std::string name;
};
struct badge {
    std::string name = "a default that is too long for the string itself";
    std::string issuer = "another one that is too long for the string itself";
    int number = 0;
};
struct lapel {
    int width = 0;
    badge pinned;
};
struct coat {
    lapel left;
};
struct luggage {
    coat worn;
    badge row[2];
};
struct rider {
    luggage all;
};
struct letter {
    std::string address = "a default that is too long for the string itself";
    int pages = 0;
};
struct parcel {
    letter inside;
};
struct envelope {
    parcel sent;
};
struct old_hand {
    int level = 1;
};

}  // namespace after

namespace braid_test {
namespace {

const std::string long_name = "a name that does not fit into the string itself";

class ReloadMovedFields : public migrate_test {
protected:
    before::walkers& make_walkers() {
        before::walkers& w = arena->root<before::walkers>("walkers");
        w.all = arena->make_array<before::walker>(3);
        for (std::size_t i = 0; i < 3; ++i) w.all[i].x = static_cast<float>(i);
        w.listed = {{1, 2, 3}, {4, 5, 6}};
        w.row[1] = {7, 8, 9};
        w.best = before::walker{10, 11, 12};
        w.owned = std::make_unique<before::walker>(before::walker{13, 14, 15});
        w.watched = &w.listed[1].y;
        return w;
    }
    void say_walkers() {
        rename("after::walker", "x", "place.x");
        rename("after::walker", "y", "place.y");
    }
    void make_rider() {
        before::rider& old = arena->root<before::rider>("rider");
        old.worn.pinned = {1, long_name};
        old.row[1] = {2, long_name};
        rename("after::rider", "worn", "all.worn");
        rename("after::rider", "row", "all.row");
        rename("after::coat", "pinned", "left.pinned");
        record<after::badge>();
    }
    static std::string question(const std::string& type, const std::string& field,
                                const std::string& place) {
        return "before::" + type + "::" + field + " was dropped, and '" + place +
               "' of the same type was added: say in the module BRAID_RELOAD_RENAMED(after::" +
               type + ", " + field + ", " + place +
               ") if it is the same field, else BRAID_RELOAD_DROPPED(after::" + type + ", " +
               field + ")";
    }
    /// What a plan with this one line about a type of the state says.
    std::string refusal_of(const std::string& type, const std::string& from,
                           const std::string& to) {
        notes = {};
        rename(type, from, to);
        return migrate();
    }
};

TEST_F(ReloadMovedFields, OneThatAStructWhichComesMayHaveIsAQuestion) {
    before::walkers& old = make_walkers();
    EXPECT_EQ(migrate(), question("walker", "x", "place.x"));
    ASSERT_EQ(plan.refused.size(), 2u);
    EXPECT_EQ(plan.refused[1], question("walker", "y", "place.y"));
    EXPECT_EQ(old.listed[1].x, 4) << "nothing has changed";
    EXPECT_EQ(arena->find<before::walkers>("walkers"), &old);
}

TEST_F(ReloadMovedFields, APathSaysWhereItIsNowWhateverHoldsTheObject) {
    make_walkers();
    say_walkers();
    ASSERT_EQ(migrate(), "");
    const after::walkers& w = arena->root<after::walkers>("walkers");
    const auto expect = [](const after::walker& one, float x, float y, long health) {
        EXPECT_EQ(one.place.x, x);
        EXPECT_EQ(one.place.y, y);
        EXPECT_EQ(one.place.z, 0) << "new, and nothing says how it is made";
        EXPECT_EQ(one.health, health);
    };
    for (std::size_t i = 0; i < 3; ++i) expect(w.all[i], static_cast<float>(i), 0, 100);
    expect(w.listed[0], 1, 2, 3);
    expect(w.listed[1], 4, 5, 6);
    expect(w.row[1], 7, 8, 9);
    expect(*w.best, 10, 11, 12);
    expect(*w.owned, 13, 14, 15);
    EXPECT_EQ(w.watched, &w.listed[1].place.y) << "a pointer to it leads there";
}

TEST_F(ReloadMovedFields, WhatAConstructorSaysOfTheRestOfTheStructStays) {
    make_walkers();
    say_walkers();
    record<after::walker>();
    ASSERT_EQ(migrate(), "");
    const after::spot& now = arena->root<after::walkers>("walkers").listed[1].place;
    EXPECT_EQ(now.x, 4);
    EXPECT_EQ(now.y, 5);
    EXPECT_EQ(now.z, 7);
}

TEST_F(ReloadMovedFields, OneThatIsSaidToBeDroppedIsNoQuestion) {
    make_walkers().watched = nullptr;
    rename("after::walker", "x", "");
    rename("after::walker", "y", "");
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->root<after::walkers>("walkers").listed[1].place.x, 0);
}

TEST_F(ReloadMovedFields, TheTableSaysWhatBecomesOfEach) {
    make_walkers().watched = nullptr;
    rename("after::walker", "x", "place.x");
    rename("after::walker", "y", "");
    ASSERT_EQ(migrate(), "");
    const std::string zero = "float, zero, without BRAID_RELOAD_TYPE(after::walker)";
    for (const detail::plan_row& one :
         std::vector<detail::plan_row>{{"before::walker", "x", detail::fate::renamed,
                                        "is 'place.x' now, offset 0 to offset 8"},
                                       {"before::walker", "y", detail::fate::dropped, "was float"},
                                       {"before::walker", "place.y", detail::fate::added, zero},
                                       {"before::walker", "place.z", detail::fate::added, zero}}) {
        EXPECT_EQ(std::ranges::count(plan.rows, one), 1) << one.field << detail::table_of(plan);
    }
    EXPECT_EQ(std::ranges::count(plan.rows, "place.x", &detail::plan_row::field), 0);
    EXPECT_EQ(std::ranges::count(plan.rows, "place", &detail::plan_row::field), 0);
    arena->root<after::walkers>("walkers");
}

TEST_F(ReloadMovedFields, TheQuestionLooksThreeStructsDeepAndNamesEachPlace) {
    arena->root<before::far_off>("far");
    EXPECT_EQ(migrate(),
              "before::far_off::x was dropped, and 'near.x' and 'at.inner.beside.x' of the same "
              "type were added: say in the module BRAID_RELOAD_RENAMED(after::far_off, x, near.x), "
              "with the one of them that is the same field, else "
              "BRAID_RELOAD_DROPPED(after::far_off, x)");
    ASSERT_EQ(plan.refused.size(), 2u);
    EXPECT_EQ(plan.refused[1], question("far_off", "y", "at.inner.deeper.y"));
    // What is deeper is moved all the same.
    arena->find<before::far_off>("far")->x = 5;
    arena->find<before::far_off>("far")->y = 6;
    rename("after::far_off", "x", "at.inner.deeper.deeper.x");
    rename("after::far_off", "y", "at.inner.deeper.y");
    ASSERT_EQ(migrate(), "");
    const after::far_off& now = *arena->find<after::far_off>("far");
    EXPECT_EQ(now.at.inner.deeper.deeper.x, 5);
    EXPECT_EQ(now.at.inner.deeper.y, 6);
    EXPECT_EQ(now.near.x, 0);
}

TEST_F(ReloadMovedFields, ABaseClassAddsNothingToThePath) {
    arena->root<before::derived>("derived").x = 4;
    arena->find<before::derived>("derived")->y = 5;
    EXPECT_EQ(migrate(), question("derived", "x", "x"));
    rename("after::derived", "x", "x");
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->find<after::derived>("derived")->x, 4);
    EXPECT_EQ(arena->find<after::derived>("derived")->y, 5);
}

TEST_F(ReloadMovedFields, AStructThatWasThereBeforeMayGetTheField) {
    before::dog& old = arena->root<before::dog>("dog");
    old.name = long_name;
    old.behind.length = 4;
    EXPECT_EQ(migrate(), question("dog", "name", "behind.name"));
    rename("after::dog", "name", "behind.name");
    record<after::tail>();
    ASSERT_EQ(migrate(), "");
    after::dog& now = arena->root<after::dog>("dog");
    EXPECT_EQ(now.behind.name, long_name);
    EXPECT_EQ(now.behind.length, 4);
    EXPECT_EQ(now.legs, 0);
}

TEST_F(ReloadMovedFields, WhatAConstructorHasPutThereIsFreedOnce) {
    before::cat& old = arena->root<before::cat>("cat");
    old.name = long_name;
    rename("after::cat", "name", "shown.name");
    record<after::cat>();
    old.lives = -1;
    EXPECT_EQ(migrate(), "reload_invariant of after::cat says: a cat without lives");
    EXPECT_EQ(old.name, long_name);
    old.lives = 8;
    ASSERT_EQ(migrate(), "");
    after::cat& now = arena->root<after::cat>("cat");
    EXPECT_EQ(now.shown.name, long_name);
    EXPECT_EQ(now.shown.font, after::label().font);
    EXPECT_EQ(now.shown.size, 3);
    EXPECT_EQ(now.lives, 8);
}

TEST_F(ReloadMovedFields, WhatTheConstructorOfAnObjectAtAPathHasPutThereIsFreedOnce) {
    make_rider();
    ASSERT_EQ(migrate(), "");
    const after::luggage& now = arena->root<after::rider>("rider").all;
    EXPECT_EQ(now.worn.left.pinned.name, long_name);
    EXPECT_EQ(now.worn.left.pinned.number, 1);
    EXPECT_EQ(now.row[1].name, long_name);
    EXPECT_EQ(now.row[1].number, 2);
}

TEST_F(ReloadMovedFields, WhatTheConstructorOfAnObjectAtAPathSaysOfNewFieldsStays) {
    make_rider();
    ASSERT_EQ(migrate(), "");
    const after::luggage& now = arena->root<after::rider>("rider").all;
    EXPECT_EQ(now.worn.left.pinned.issuer, after::badge().issuer);
    EXPECT_EQ(now.row[1].issuer, after::badge().issuer);
}

TEST_F(ReloadMovedFields, AnObjectGoesToItsPathBeforeAFieldThatMovesIntoIt) {
    before::envelope& old = arena->root<before::envelope>("envelope");
    old.address = long_name;
    old.inside.pages = 3;
    rename("after::envelope", "address", "sent.inside.address");
    rename("after::envelope", "inside", "sent.inside");
    record<after::letter>();
    ASSERT_EQ(migrate(), "");
    const after::letter& now = arena->root<after::envelope>("envelope").sent.inside;
    EXPECT_EQ(now.address, long_name);
    EXPECT_EQ(now.pages, 3);
}

TEST_F(ReloadMovedFields, APathThatTheNewTypeLacksIsRefused) {
    make_walkers();
    for (const char* const path : {"place.w", "spot.x", "place.x.y", "place."}) {
        EXPECT_EQ(refusal_of("after::walker", "x", path),
                  "before::walker::x has no new place: there is no '" + std::string(path) +
                      "' in after::walker, as BRAID_RELOAD_RENAMED(after::walker, x, " + path +
                      ") says");
    }
}

TEST_F(ReloadMovedFields, ATypeThatDoesNotFitIsRefused) {
    before::both& old = arena->root<before::both>("both");
    old.name = long_name;
    EXPECT_EQ(refusal_of("after::both", "x", "name"),
              "before::both::x and before::both::name both go to 'name' of after::both: leave one "
              "of them, by BRAID_RELOAD_RENAMED or BRAID_RELOAD_DROPPED");
    rename("after::both", "y", "");
    rename("after::both", "name", "place.z");
    EXPECT_EQ(migrate(),
              "before::both::x was float and is std::__cxx11::basic_string<char, "
              "std::char_traits<char>, std::allocator<char>>, which do not become each other");
    EXPECT_EQ(old.name, long_name);
    old.y = 3;
    notes = {};
    rename("after::both", "x", "");
    rename("after::both", "y", "place.y");
    ASSERT_EQ(migrate(), "");
    const after::both& now = arena->root<after::both>("both");
    EXPECT_EQ(now.name, long_name);
    EXPECT_EQ(now.place.y, 3);
}

TEST_F(ReloadMovedFields, TwoFieldsWithOneNewPlaceAreRefused) {
    make_walkers();
    notes = {};
    rename("after::walker", "x", "place.x");
    rename("after::walker", "y", "place.x");
    EXPECT_EQ(migrate(),
              "before::walker::x and before::walker::y both go to 'place.x' of after::walker: "
              "leave one of them, by BRAID_RELOAD_RENAMED or BRAID_RELOAD_DROPPED");
}

TEST_F(ReloadMovedFields, TwoAnswersForOneFieldAreRefused) {
    make_walkers();
    rename("after::walker", "y", "place.y");
    rename("after::walker", "x", "place.x");
    rename("after::walker", "x", "place.z");
    EXPECT_EQ(migrate(),
              "before::walker::x has two answers, BRAID_RELOAD_RENAMED(after::walker, x, place.x) "
              "and BRAID_RELOAD_RENAMED(after::walker, x, place.z): leave one of them");
}

TEST_F(ReloadMovedFields, ALineAboutNoFieldIsRefusedWhileAFieldGoesWithoutAnAnswer) {
    make_walkers();
    EXPECT_EQ(refusal_of("after::walker", "xx", "place.x"),
              "before::walker has no 'xx', as BRAID_RELOAD_RENAMED(after::walker, xx, place.x) "
              "says, and its 'x' goes: correct the line, or remove it");
}

TEST_F(ReloadMovedFields, ALineThatAnEarlierReloadHasFollowedMayStay) {
    make_walkers();
    say_walkers();
    rename("after::walker", "speed", "");
    rename("after::walker", "hp", "health");
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->root<after::walkers>("walkers").listed[1].place.x, 4);
}

TEST_F(ReloadMovedFields, LinesThatEarlierReloadsHaveFollowedLetALaterFieldGo) {
    arena->root<before::old_hand>("old hand").level = 4;
    rename("after::old_hand", "speed", "");      // has gone
    rename("after::old_hand", "x", "place.x");   // has gone where `place` was, which has gone, too
    rename("after::old_hand", "rank", "level");  // is `level` since then
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->root<after::old_hand>("old hand").level, 4);
}

}  // namespace
}  // namespace braid_test
