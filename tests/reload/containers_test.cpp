// Containers of std, constructors, names and virtual functions.
#include "migrate_test.hpp"

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace before {

struct part {
    int id = 0;
    std::string name;
    std::vector<part> parts;
};
struct thing {
    std::vector<int> numbers;
    std::vector<part> all;
    part* chosen = nullptr;
    const int* best = nullptr;
    std::string label;
    const char* letter = nullptr;
    std::string gone;
    std::vector<std::string> words, lost;
    std::optional<part> extra, none;
    std::unique_ptr<part> owned;
    std::array<short, 3> fixed{1, 2, 3};
    std::pair<int, float> two{4, 5.0f};
};

struct shape {
    virtual ~shape() = default;
    virtual int kind() const { return 1; }
    int id = 1;
};
struct circle : shape {
    int kind() const override { return 2; }
    float radius = 1;
};
struct still {
    virtual ~still() = default;
    virtual int kind() const { return 3; }
    int id = 1;
};
struct scene {
    shape* first = nullptr;
    circle* second = nullptr;
    int count = 0;
};

struct table {
    std::unordered_map<int, float> all;
    int count = 0;
};
struct linked {
    std::unordered_map<int, part*> all;
    int count = 0;
};
struct tables {
    std::vector<std::unordered_map<int, float>> all;
    int count = 0;
};

struct zoo {
    std::vector<std::unique_ptr<still>> all;
};
struct zoo_by_value {
    std::vector<still> all;
    std::optional<still> best;
};
struct zoo_by_name {
    std::map<int, std::unique_ptr<still>> all;
};
struct callbacks {
    std::function<int()> act;
};
struct anything {
    std::any held;
};
struct shares {
    std::shared_ptr<int> held;
};
struct callbacks_by_name {
    std::map<int, std::vector<std::function<int()>>> all;
};
struct family {
    std::vector<family> children;
    std::unique_ptr<still> pet;
};

}  // namespace before

namespace after {

struct part {
    std::vector<part> parts;
    std::string name;
    long id = 0;
    std::string kind = "a default that is too long for the string itself";
};
struct thing {
    std::unique_ptr<part> owned;
    std::optional<part> none, extra;
    std::string label = "a default that is too long for the string itself";
    const char* letter = nullptr;
    part* chosen = nullptr;
    const int* best = nullptr;
    std::vector<std::string> words;
    std::vector<part> all;
    std::vector<int> numbers = {7, 8, 9};
    std::array<short, 5> fixed{9, 9, 9, 9, 9};
    std::pair<long, float> two{};
    int fresh = 12;
};

struct shape {
    virtual ~shape() = default;
    virtual int kind() const { return 11; }
    long id = 1;
};
struct circle : shape {
    int kind() const override { return 12; }
    float radius = 1;
    float width = 3;
};
struct still {
    virtual ~still() = default;
    virtual int kind() const { return 13; }
    int id = 1;
};
struct scene {
    int count = 0;
    shape* first = nullptr;
    circle* second = nullptr;
};

struct table {
    int count = 0;
    std::unordered_map<int, float> all;
};
inline const char* reload_invariant(const table& t) {
    return t.count < 0 ? "a negative count" : t.all.size() > 200 ? "too many" : nullptr;
}
struct linked {
    int count = 0;
    std::unordered_map<int, part*> all;
};
struct tables {
    int count = 0;
    std::vector<std::unordered_map<int, float>> all;
};

struct zoo_by_value {
    std::vector<still> all;
    std::optional<still> best;
};

}  // namespace after

namespace braid_test {
namespace {

const std::string long_text = "a text that does not fit into the string itself";

class ReloadContainers : public migrate_test {
protected:
    before::thing& make_thing() {
        before::thing& t = arena->root<before::thing>("thing");
        t.numbers = {1, 2, 3};
        for (int i = 0; i < 20; ++i) {
            t.all.push_back({i, i % 2 == 0 ? long_text : "short", {}});
            t.all.back().parts.push_back({i * 100, "inner", {}});
        }
        t.chosen = &t.all[7].parts[0];
        t.best = &t.numbers[1];
        t.label = "little";
        t.letter = t.label.data() + 2;
        t.gone = long_text;
        t.words = {"one", long_text};
        t.lost = {"two", long_text};
        t.extra = before::part{5, long_text, {}};
        t.owned = std::make_unique<before::part>(before::part{6, "owned", {}});
        return t;
    }
    void expect_thing(const after::thing& t) {
        EXPECT_EQ(t.numbers, (std::vector<int>{1, 2, 3}));
        ASSERT_EQ(t.all.size(), 20u);
        for (int i = 0; i < 20; ++i) {
            const auto at = static_cast<std::size_t>(i);
            EXPECT_EQ(t.all[at].id, i);
            EXPECT_EQ(t.all[at].name, i % 2 == 0 ? long_text : "short");
            ASSERT_EQ(t.all[at].parts.size(), 1u);
            EXPECT_EQ(t.all[at].parts[0].id, i * 100);
            EXPECT_EQ(t.all[at].parts[0].name, "inner");
        }
        EXPECT_EQ(t.chosen, &t.all[7].parts[0]);
        EXPECT_EQ(t.best, &t.numbers[1]);
        EXPECT_EQ(t.label, "little");
        EXPECT_EQ(t.letter, t.label.data() + 2);
        EXPECT_EQ(t.words, (std::vector<std::string>{"one", long_text}));
        ASSERT_TRUE(t.extra);
        EXPECT_EQ(t.extra->id, 5);
        EXPECT_EQ(t.extra->name, long_text);
        EXPECT_FALSE(t.none);
        ASSERT_NE(t.owned, nullptr);
        EXPECT_EQ(t.owned->name, "owned");
        EXPECT_EQ(t.two.first, 4);
        EXPECT_EQ(t.two.second, 5.0f);
        EXPECT_EQ(t.fixed[2], 3);
    }
};

TEST_F(ReloadContainers, GoOverElementByElement) {
    make_thing();
    ASSERT_EQ(migrate(), "");
    after::thing& t = arena->root<after::thing>("thing");
    expect_thing(t);
    EXPECT_EQ(t.fresh, 0);
    EXPECT_EQ(t.fixed[4], 0);
    t.all[0].kind += long_text;
    EXPECT_EQ(t.all[0].kind, long_text) << "it was an empty string, not zeros";
}

TEST_F(ReloadContainers, NewFieldsComeFromTheConstructor) {
    record<after::thing>();
    record<after::part>();
    make_thing();
    ASSERT_EQ(migrate(), "");
    after::thing& t = arena->root<after::thing>("thing");
    expect_thing(t);
    EXPECT_EQ(t.fresh, 12);
    EXPECT_EQ(t.fixed[4], 9);
    EXPECT_EQ(t.all[3].kind, after::part{}.kind);
    EXPECT_EQ(t.all[3].parts[0].kind, after::part{}.kind);
    EXPECT_EQ(t.extra->kind, after::part{}.kind);
    EXPECT_EQ(t.owned->kind, after::part{}.kind);
    // They are objects like others.
    t.all.push_back({});
    t.words.emplace_back("three");
}

TEST_F(ReloadContainers, ARefusalLeavesThemAsTheyWere) {
    record<after::thing>();
    record<after::part>();
    before::thing& old = make_thing();
    before::part elsewhere;
    old.chosen = &elsewhere;
    EXPECT_NE(migrate().find("thing::chosen points to a before::part outside"), std::string::npos);
    EXPECT_EQ(arena->find<before::thing>("thing"), &old);
    EXPECT_EQ(old.all[4].name, long_text);
    old.all.push_back({});
    old.chosen = &old.all[0];
    EXPECT_EQ(migrate(), "");
    EXPECT_EQ(arena->root<after::thing>("thing").all.size(), 21u);
}

TEST_F(ReloadContainers, PolymorphicObjectsAreBuiltAnewAndFilled) {
    record<after::shape>();
    record<after::circle>();
    before::scene& old = arena->root<before::scene>("scene");
    old.first = old.second = arena->make<before::circle>();
    old.second->radius = 5;
    old.first->id = 77;
    ASSERT_EQ(migrate(), "");
    const after::scene& s = *arena->find<after::scene>("scene");
    EXPECT_EQ(s.first, s.second);
    EXPECT_EQ(s.first->kind(), 12) << "the code is the new one";
    EXPECT_EQ(s.first->id, 77);
    EXPECT_EQ(s.second->radius, 5);
    EXPECT_EQ(s.second->width, 3);
}

TEST_F(ReloadContainers, PolymorphicObjectsGetTheNewCodeAlthoughNothingElseChanges) {
    record<after::still>();
    arena->root<before::still>("still").id = 5;
    EXPECT_TRUE(make_plan().moves);
    ASSERT_EQ(migrate(), "");
    const after::still* const now = arena->find<after::still>("still");
    EXPECT_EQ(now->kind(), 13);
    EXPECT_EQ(now->id, 5);
}

TEST_F(ReloadContainers, PolymorphicElementsGetTheNewCodeAlthoughNothingElseChanges) {
    record<after::still>();
    record<after::zoo_by_value>();  // so that the arena can destroy it
    before::zoo_by_value& old = arena->root<before::zoo_by_value>("zoo");
    old.all.resize(3);
    old.all[2].id = 5;
    old.best.emplace().id = 6;
    ASSERT_EQ(migrate(), "");
    const after::zoo_by_value& now = *arena->find<after::zoo_by_value>("zoo");
    ASSERT_EQ(now.all.size(), 3u);
    const after::still& last = now.all[2];
    EXPECT_EQ(last.kind(), 13);
    EXPECT_EQ(last.id, 5);
    ASSERT_TRUE(now.best);
    const after::still& best = *now.best;
    EXPECT_EQ(best.kind(), 13);
    EXPECT_EQ(best.id, 6);
}

/// Only code changes: each type is the same on both sides.
class ReloadSameTypes : public ReloadContainers {
protected:
    detail::migration_plan plan_of_itself() {
        std::vector<std::string> names;
        state().add_types(names);
        detail::debug_info* const files[] = {&own_types()};
        const detail::type_graph types = detail::read_graph(files, names);
        return detail::make_plan(types, types, names, notes, false);
    }
    void expect_refused_whole(const std::string& part) {
        const detail::migration_plan same = plan_of_itself();
        ASSERT_FALSE(same.refused.empty());
        EXPECT_NE(same.refused.front().find(part), std::string::npos) << same.refused.front();
    }
};

TEST_F(ReloadSameTypes, StateWithoutVirtualFunctionsStaysWhereItIs) {
    arena->root<before::thing>("thing");
    EXPECT_FALSE(plan_of_itself().moves);
    EXPECT_TRUE(plan_of_itself().refused.empty());
}

TEST_F(ReloadSameTypes, AnOwnedObjectWithVirtualFunctionsIsRefused) {
    arena->root<before::zoo>("zoo");
    expect_refused_whole("owns an object whose class only its virtual functions know");
}

TEST_F(ReloadSameTypes, AnOwnedObjectOfATypeThatOwnsItsOwnTypeIsRefused) {
    arena->root<before::family>("family");
    expect_refused_whole("owns an object whose class only its virtual functions know");
}

TEST_F(ReloadSameTypes, AnOwnedObjectInAnotherContainerIsRefused) {
    arena->root<before::zoo_by_name>("zoo");
    expect_refused_whole("holds objects with virtual functions");
}

TEST_F(ReloadSameTypes, ElementsWithVirtualFunctionsAreBuiltAnew) {
    arena->root<before::zoo_by_value>("zoo");
    expect_refused_whole("has virtual functions");
    record<before::still>();
    EXPECT_TRUE(plan_of_itself().moves);
    EXPECT_TRUE(plan_of_itself().refused.empty());
}

TEST_F(ReloadSameTypes, WhatKeepsCodeIsRefused) {
    const std::string why = "keeps code of the module that filled it";
    arena->root<before::callbacks>("callbacks");
    expect_refused_whole(why);
    arena.emplace(*modules);
    arena->root<before::anything>("anything");
    expect_refused_whole(why);
    arena.emplace(*modules);
    record<std::shared_ptr<int>>();
    arena->root<before::shares>("shares");
    expect_refused_whole(why);
    arena.emplace(*modules);
    arena->root<before::callbacks_by_name>("callbacks");
    expect_refused_whole(why);
}

TEST_F(ReloadContainers, PolymorphicObjectsWithoutARecordAreRefused) {
    arena->root<before::circle>("circle");
    EXPECT_EQ(
        migrate(),
        "before::circle has virtual functions, so each object is built anew; this line in the "
        "module says how: BRAID_RELOAD_TYPE(after::circle)");
}

TEST_F(ReloadContainers, OtherContainersGoOverByTheirMoverOrNotAtAll) {
    before::table& old = arena->root<before::table>("table");
    for (int i = 0; i < 100; ++i) old.all[i] = static_cast<float>(i);
    EXPECT_NE(migrate().find("BRAID_RELOAD_TYPE(std::unordered_map<int, float"), std::string::npos);
    EXPECT_EQ(old.all.at(9), 9);
    record<std::unordered_map<int, float>>();
    ASSERT_EQ(migrate(), "");
    after::table& t = arena->root<after::table>("table");
    ASSERT_EQ(t.all.size(), 100u);
    EXPECT_EQ(t.all.at(42), 42);
    t.all[1000] = 1;
}

TEST_F(ReloadContainers, TheRefusalOfOneThatIsNotKnownSaysItsTypeOnce) {
    const auto expect_said_once = [this](const std::string& part) {
        make_plan();
        ASSERT_EQ(plan.refused.size(), 1u) << plan.refused.back();
        const std::string& why = plan.refused.front();
        EXPECT_NE(why.find(part), std::string::npos) << why;
        const std::string type = "std::unordered_map<int, float";
        EXPECT_NE(why.find("BRAID_RELOAD_TYPE(" + type), std::string::npos) << why;
        EXPECT_EQ(why.find(type), why.rfind(type)) << why;
    };
    arena->root<before::table>("table");
    expect_said_once("before::table::all is a container that is not known here");
    arena.emplace(*modules);
    arena->root<before::tables>("tables").all.push_back({{1, 2.0f}});
    expect_said_once("std::unordered_map is a container that is not known here");
    record<std::unordered_map<int, float>>();
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->root<after::tables>("tables").all.at(0).at(1), 2.0f);
}

TEST_F(ReloadContainers, WhatAMoverMovedComesBackWhenAnInvariantRefuses) {
    record<std::unordered_map<int, float>>();
    record<after::table>();
    before::table& old = arena->root<before::table>("table");
    for (int i = 0; i < 100; ++i) old.all[i] = static_cast<float>(i);
    old.count = -1;
    EXPECT_EQ(migrate(), "reload_invariant of after::table says: a negative count");
    ASSERT_EQ(old.all.size(), 100u);
    EXPECT_EQ(old.all.at(42), 42);
    old.all[1000] = 1;
    old.count = 1;
    ASSERT_EQ(migrate(), "");
    EXPECT_EQ(arena->root<after::table>("table").all.size(), 101u);
}

TEST_F(ReloadContainers, AContainerOfPointersHasNoMover) {
    record<std::unordered_map<int, after::part*>>();
    record<std::unordered_map<int, before::part*>>();
    arena->root<before::linked>("linked");
    EXPECT_NE(migrate(), "");
}

}  // namespace
}  // namespace braid_test
