// Plain structs, arrays, spans and pointers between them.
#include "migrate_test.hpp"

#include <fstream>
#include <memory>
#include <sstream>

namespace before {

enum class mood { calm, angry, afraid };

struct place {
    float x = 0, y = 0;
};
struct item {
    int weight = 1;
    item* next = nullptr;
};
struct named {
    int hp = 1;
    float x = 0;
};
struct alignas(128) wide {
    int value = 1;
};
struct walls {
    std::vector<wide> all;
    wide* one = nullptr;
};
struct character {
    place at;
    int health = 100;
    character* friend_of = nullptr;
    short* counts = nullptr;
    place* inside = nullptr;
    int luck = 7;
    short stays = 2;
    short dropped = 1;
    mood feels = mood::calm;
    short ammo[3] = {1, 2, 3};
    int strength : 5 = 3;
    unsigned armed : 1 = 1;
};
struct game {
    std::span<character> all;
    character* leader = nullptr;
    character* end = nullptr;
    item* first = nullptr;
    const int* score = nullptr;
    const char* title = nullptr;
    int scores[4] = {1, 2, 3, 4};
};

}  // namespace before

namespace after {

enum class mood { angry, glad, calm, afraid };

struct place {
    double x = 0, y = 0, z = 7;
};
struct item {
    item* next = nullptr;
    long weight = 1;
};
struct named {
    float x = 0;
    int health = 1;
};
struct alignas(256) wide {
    long value = 1;
};
struct walls {
    wide* one = nullptr;
    std::vector<wide> all;
};
struct character {
    mood feels = mood::glad;
    unsigned armed : 1 = 0;
    int strength : 7 = 0;
    long health = 1;
    short stays = 0;
    signed char luck = 0;
    place* inside = nullptr;
    character* friend_of = nullptr;
    short* counts = nullptr;
    short ammo[5] = {};
    place at;
};
struct game {
    int frames = 0;
    int scores[4] = {};
    const int* score = nullptr;
    const char* title = nullptr;
    character* end = nullptr;
    character* leader = nullptr;
    item* first = nullptr;
    std::span<character> all;
};

}  // namespace after

namespace braid_test {
namespace {

class ReloadMigrate : public migrate_test {
protected:
    /// A game of `count` characters that point to each other.
    before::game& make_game(std::size_t count) {
        before::game& g = arena->root<before::game>("game");
        g.all = arena->make_array<before::character>(count);
        for (std::size_t i = 0; i < count; ++i) {
            before::character& c = g.all[i];
            c.at.x = static_cast<float>(i);
            c.health = static_cast<int>(1000 - i);
            c.friend_of = &g.all[(i * 7 + 3) % count];
            c.feels = before::mood(i % 3);
            c.ammo[2] = static_cast<short>(i);
            c.strength = static_cast<int>(i % 16) - 8;
        }
        g.leader = &g.all[count / 2];
        g.end = g.all.data() + count;
        g.score = &g.scores[2];
        return g;
    }
};

TEST_F(ReloadMigrate, FieldsAndPointersOfEachObjectGoOver) {
    constexpr std::size_t count = 1000;
    make_game(count);
    ASSERT_EQ(migrate(), "");
    const after::game& g = *arena->find<after::game>("game");
    ASSERT_EQ(g.all.size(), count);
    EXPECT_EQ(g.leader, &g.all[count / 2]);
    EXPECT_EQ(g.end, g.all.data() + count);
    EXPECT_EQ(g.score, &g.scores[2]);
    EXPECT_EQ(g.scores[3], 4);
    for (std::size_t i = 0; i < count; ++i) {
        const after::character& c = g.all[i];
        ASSERT_EQ(c.at.x, static_cast<double>(i));
        ASSERT_EQ(c.at.z, 0) << "new, and nothing says how it is made";
        ASSERT_EQ(c.health, static_cast<long>(1000 - i));
        ASSERT_EQ(c.friend_of, &g.all[(i * 7 + 3) % count]);
        constexpr after::mood moods[] = {after::mood::calm, after::mood::angry,
                                         after::mood::afraid};
        ASSERT_EQ(c.feels, moods[i % 3]);
        ASSERT_EQ(c.ammo[0], 1);
        ASSERT_EQ(c.ammo[2], static_cast<short>(i));
        ASSERT_EQ(c.ammo[4], 0);
        ASSERT_EQ(c.strength, static_cast<int>(i % 16) - 8);
        ASSERT_EQ(c.armed, 1u);
    }
    EXPECT_EQ(objects, count + 1);
}

TEST_F(ReloadMigrate, APointerIntoAnObjectLeadsToTheSamePart) {
    before::game& old = make_game(3);
    before::character& c = old.all[2];
    c.counts = &old.all[1].ammo[1];
    old.all[1].counts = old.all[0].ammo + 3;  // behind the last
    old.all[0].inside = &old.all[1].at;
    ASSERT_EQ(migrate(), "");
    const after::game& g = *arena->find<after::game>("game");
    EXPECT_EQ(g.all[2].counts, &g.all[1].ammo[1]);
    EXPECT_EQ(g.all[1].counts, g.all[0].ammo + 3);
    EXPECT_EQ(g.all[0].inside, &g.all[1].at);
}

TEST_F(ReloadMigrate, APointerToAFieldThatIsDroppedIsRefused) {
    before::game& old = make_game(2);
    old.all[0].counts = &old.all[1].dropped;
    EXPECT_EQ(migrate(),
              "before::character::counts points to a part of before::character that the "
              "new code lacks");
    EXPECT_EQ(arena->find<before::game>("game"), &old);
}

TEST_F(ReloadMigrate, AValueThatDoesNotFitIsRefusedByItsName) {
    before::game& old = make_game(3);
    old.all[2].luck = 300;
    EXPECT_EQ(migrate(), "before::character::luck is 300, which the new type cannot hold");
    EXPECT_EQ(old.all[2].luck, 300);
    old.all[2].luck = 127;
    EXPECT_EQ(migrate(), "");
}

TEST_F(ReloadMigrate, AFieldWithAnotherNameKeepsItsValue) {
    before::named& old = arena->root<before::named>("named");
    old.hp = 5;
    const std::string asked = migrate();
    EXPECT_NE(asked.find("BRAID_RELOAD_RENAMED(after::named, hp, health)"), std::string::npos)
        << asked;
    rename("after::named", "hp", "health");
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->find<after::named>("named")->health, 5);
}

TEST_F(ReloadMigrate, AFieldThatIsSaidToBeDroppedIsNotTakenOver) {
    arena->root<before::named>("named").hp = 5;
    rename("after::named", "hp", "");
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->find<after::named>("named")->health, 0);
}

TEST_F(ReloadMigrate, AListOfObjectsAndACircleGoOver) {
    before::game& old = arena->root<before::game>("game");
    before::item* last = nullptr;
    for (int i = 0; i < 10'000; ++i) {
        auto* const one = arena->make<before::item>();
        one->weight = i;
        one->next = last;
        if (last == nullptr) old.first = one;
        last = one;
    }
    old.first->next = last;  // the first leads to the last, and that by all others to the first
    ASSERT_EQ(migrate(), "");
    const after::game& g = *arena->find<after::game>("game");
    EXPECT_EQ(g.first->weight, 0);
    const after::item* at = g.first->next;
    for (int i = 9999; i > 0; --i, at = at->next) ASSERT_EQ(at->weight, i);
    EXPECT_EQ(at, g.first);
}

TEST_F(ReloadMigrate, AlignmentIsKept) {
    before::walls& old = arena->root<before::walls>("walls");
    old.all.resize(5);
    old.all[4].value = 44;
    old.one = arena->make<before::wide>();
    old.one->value = 7;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(old.one) % 128, 0u);
    ASSERT_EQ(migrate(), "");
    after::walls& now = arena->root<after::walls>("walls");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(now.one) % 256, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(now.all.data()) % 256, 0u);
    EXPECT_EQ(now.one->value, 7);
    EXPECT_EQ(now.all[4].value, 44);
}

struct throws {
    throws() { throw 1; }
};

TEST_F(ReloadMigrate, AConstructorThatThrowsLeavesNoObject) {
    EXPECT_THROW(arena->make<throws>(), int);
    EXPECT_THROW(arena->root<throws>("throws"), int);
    EXPECT_EQ(arena->objects(), 0u);
    EXPECT_EQ(arena->find<throws>("throws"), nullptr);
    EXPECT_THROW(arena->make_array<before::item>(SIZE_MAX / 4), std::bad_alloc);
}

TEST_F(ReloadMigrate, WhatNothingLeadsToIsGone) {
    before::game& old = make_game(5);
    for (int i = 0; i < 100; ++i) arena->make<before::item>();
    old.first = arena->make<before::item>();
    EXPECT_EQ(arena->objects(), 103u);
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->objects(), 3u);
}

TEST_F(ReloadMigrate, APointerOutsideOfTheStateStaysWhereItsTypeDoes) {
    before::game& old = make_game(2);
    old.title = "a constant of the code before";
    ASSERT_EQ(migrate(), "");
    EXPECT_STREQ(arena->find<after::game>("game")->title, "a constant of the code before");
    EXPECT_EQ(outside, 1u);
}

TEST_F(ReloadMigrate, APointerOutsideToATypeThatChangesIsRefused) {
    before::item elsewhere;
    before::game& old = make_game(2);
    old.first = &elsewhere;
    EXPECT_EQ(migrate(),
              "before::game::first points to a before::item outside of the state, and that type "
              "changes: make it in the arena");
    EXPECT_EQ(arena->find<before::game>("game"), &old);
    EXPECT_EQ(old.all[1].health, 999);
}

TEST_F(ReloadMigrate, AnArenaWithoutChangesIsLeftAlone) {
    arena->root<after::place>("place").x = 3;
    EXPECT_FALSE(make_plan().moves);
}

/// The flags that the kernel shows for the mapping in which `address` lies: "rd wr … hg".
std::string flags_of_mapping(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream smaps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::istringstream words(line);
        if (words >> std::hex >> begin >> dash >> end && dash == '-') {
            inside = begin <= at && at < end;
        } else if (inside && line.starts_with("VmFlags:")) {
            return line;
        }
    }
    return "";
}

TEST_F(ReloadMigrate, ALargeStateAsksForLargePages) {
    constexpr std::size_t bytes = std::size_t{8} << 20;
    const std::unique_ptr<std::byte[]> own(new std::byte[bytes]);
    const std::byte* const middle = own.get() + bytes / 2;
    braid::reload::platform::want_large_pages(own.get(), bytes);
    if (flags_of_mapping(middle).find(" hg") == std::string::npos) {
        GTEST_SKIP() << "this kernel has no large pages, or does not show what was asked for";
    }
    const std::span<before::item> all =
        arena->make_array<before::item>(bytes / sizeof(before::item));
    EXPECT_NE(flags_of_mapping(&all[all.size() / 2]).find(" hg"), std::string::npos);
}

TEST_F(ReloadMigrate, ARootHasOneType) {
    arena->root<before::place>("place");
    EXPECT_THROW(arena->root<before::item>("place"), std::invalid_argument);
    EXPECT_EQ(arena->find<before::place>("other"), nullptr);
    EXPECT_TRUE(arena->make_array<before::item>(0).empty());
}

}  // namespace
}  // namespace braid_test
