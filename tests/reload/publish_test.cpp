// Publishing: what stands in place is whole at every moment, and says so.
#include <braid/reload/publish.hpp>

#include "refusing_memory.hpp"
#include "reload_test.hpp"

namespace braid_test {
namespace {

class ReloadPublish : public reload_test {};

TEST_F(ReloadPublish, PutsModuleAndStampInPlaceAndNothingElse) {
    ASSERT_TRUE(reload::publish(built("game_1").string(), live().string()));
    EXPECT_EQ(read(live()), read(built("game_1")));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& one : fs::directory_iterator(place.path())) ++files;
    EXPECT_EQ(files, 2u) << "the module and its stamp";
    const simulate_function simulate(add(), "simulate", simulate_stub);
    EXPECT_EQ(look().loaded(), 1u);
    ASSERT_TRUE(reload::publish(built("game_2").string(), live().string()));
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ(simulate(game, input), 2);
}

TEST_F(ReloadPublish, AChangedByteIsFoundByTheHost) {
    ASSERT_TRUE(reload::publish(built("game_1").string(), live().string()));
    bytes changed = read(live());
    changed[changed.size() / 2] ^= std::byte{1};
    put_bytes(changed);
    add();
    expect_sentence(look(), "its bytes are not those that were stamped");
}

TEST_F(ReloadPublish, AFileThatIsPutThereByHandIsTakenBesideAnOldStamp) {
    ASSERT_TRUE(reload::publish(built("game_1").string(), live().string()));
    add();
    EXPECT_EQ(look().loaded(), 1u);
    put("game_2");
    EXPECT_EQ(look().loaded(), 1u);
}

TEST_F(ReloadPublish, WhatCouldNotBeReloadedIsNotPublished) {
    ASSERT_TRUE(reload::publish(built("game_1").string(), live().string()));
    for (const char* bad : {"game_no_id", "game_not_bound", "game_no_debug", "game_no_types",
                            "game_little", "empty"}) {
        const braid::status went = reload::publish(built(bad).string(), live().string());
        EXPECT_FALSE(went) << bad;
        EXPECT_EQ(went.text.back(), '.') << went.text;
    }
    EXPECT_FALSE(reload::publish((place / "missing.so").string(), live().string()));
    EXPECT_EQ(read(live()), read(built("game_1")));
}

TEST_F(ReloadPublish, AFolderThatIsMissingIsASentence) {
    const braid::status went =
        reload::publish(built("game_1").string(), (place / "missing/x.so").string());
    EXPECT_NE(went.text.find("cannot lock"), std::string::npos) << went.text;
}

TEST_F(ReloadPublish, AHostThatWatchesTakesEachOfThem) {
    reload::modules_options watching = options();
    watching.watch = true;
    watching.clock = nullptr;
    modules.emplace(*scheduler, watching);
    const simulate_function simulate(add(), "simulate", simulate_stub);
    const auto wait_for_value = [&](int value) {
        while (simulate(game, input) != value) {
            (void)modules->at_frame_boundary();
            std::this_thread::yield();
        }
    };
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(
            reload::publish(built(i % 2 == 0 ? "game_1" : "game_2").string(), live().string()));
        wait_for_value(i % 2 == 0 ? 1 : 2);
    }
    // Written in place, as some linkers do.
    write(live(), read(built("game_3")));
    wait_for_value(3);
}

TEST_F(ReloadPublish, AHostThatWatchesSeesLinksFoldersAndLocksThatChange) {
    reload::modules_options watching = options();
    watching.watch = true;
    modules.emplace(*scheduler, watching);
    const fs::path later = place / "later";
    const simulate_function simulate(modules->add({.name = "game",
                                                   .path = (later / "link.so").string(),
                                                   .drain_for = braid::seconds(20)}),
                                     "simulate", simulate_stub);
    const auto wait_for_value = [&](int value) {
        while (simulate(game, input) != value) {
            (void)modules->at_frame_boundary();
            std::this_thread::yield();
        }
    };
    // The folder is made after the module was added.
    fs::create_directory(later);
    fs::create_symlink(built("game_1"), later / "link.so");
    wait_for_value(1);
    fs::create_symlink(built("game_2"), later / "next");
    fs::rename(later / "next", later / "link.so");
    wait_for_value(2);
    // Nothing but the lock changes at last.
    write(later / "link.so.lock", {});
    fs::create_symlink(built("game_3"), later / "next");
    fs::rename(later / "next", later / "link.so");
    fs::remove(later / "link.so.lock");
    wait_for_value(3);
    // A link that is made where nothing was: the host has looked, and nothing else happens.
    reload::module& late = modules->add({.name = "late", .path = (later / "late.so").string()});
    while (std::string(modules->at_frame_boundary().text()).find("no file") == std::string::npos) {
        std::this_thread::yield();
    }
    fs::create_symlink(built("game_1"), later / "late.so");
    while (!late.loaded()) {
        (void)modules->at_frame_boundary();
        std::this_thread::yield();
    }
}

TEST_F(ReloadPublish, AHostThatWatchesTakesALockThatNobodyOwnsAwayWhenItHasBeenStill) {
    const auto still = std::chrono::milliseconds(300);
    reload::modules_options watching = options();
    watching.watch = true;
    watching.clock = nullptr;
    watching.lock_still = braid::nanoseconds(std::chrono::nanoseconds(still).count());
    modules.emplace(*scheduler, watching);
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    while (simulate(game, input) != 1) {
        (void)modules->at_frame_boundary();
        std::this_thread::yield();
    }
    const fs::path lock = live().string() + ".lock";
    write(lock, {});
    const auto begin = std::chrono::steady_clock::now();
    put("game_2");
    reload::outcome went = modules->at_frame_boundary();
    while (!went) {
        EXPECT_EQ(simulate(game, input), 1);
        std::this_thread::yield();
        went = modules->at_frame_boundary();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begin, still);
    EXPECT_EQ(went.loaded(), 1u);
    expect_sentence(went, "which nobody owns, was removed");
    EXPECT_FALSE(fs::exists(lock));
    EXPECT_EQ(simulate(game, input), 2);
}

TEST_F(ReloadPublish, ASchedulerWithoutMemoryIsAskedAgain) {
    counting_memory memory;
    refusing_memory refusing(memory.hooks());
    braid::scheduler_options few;
    few.workers = 1;
    few.memory = refusing.hooks();
    few.out_of_memory = {[](void*, std::size_t, const char*) {}, nullptr};
    modules.reset();
    scheduler.reset();
    scheduler.emplace(few);
    reload::modules_options watching = options();
    watching.watch = true;
    // Tasks that are not finished fill all slots that there are.
    refusing.refuse_after(0);
    std::vector<braid::task_builder> open;
    do {
        open.push_back(scheduler->begin({.name = "fill"}, braid::empty_task{}));
    } while (open.back().id());
    const int before = refusing.refused();
    modules.emplace(*scheduler, watching);
    {
        const simulate_function simulate(add(), "simulate", simulate_stub);
        put("game_1");
        while (refusing.refused() == before) std::this_thread::yield();
        refusing.give_back();
        open.clear();
        while (simulate(game, input) != 1) {
            (void)modules->at_frame_boundary();
            std::this_thread::yield();
        }
    }
    modules.reset();
    scheduler.reset();
}

TEST_F(ReloadPublish, CheckNamesFlagsAndExports) {
    const reload::check_result good = reload::check_file(built("game_1").string());
    EXPECT_TRUE(good.readable);
    EXPECT_TRUE(good.missing.empty());
    ASSERT_EQ(good.exports.size(), 4u);
    const reload::check_result bad = reload::check_file(built("game_no_debug").string());
    ASSERT_EQ(bad.missing.size(), 1u);
    EXPECT_TRUE(bad.missing[0].starts_with("-g is missing.")) << bad.missing[0];
    const reload::check_result little = reload::check_file(built("game_no_types").string());
    ASSERT_EQ(little.missing.size(), 1u);
    EXPECT_EQ(little.missing[0], "It describes no types: build it with -g, not -g1.");
    const reload::check_result part = reload::check_file(built("game_little").string());
    ASSERT_EQ(part.missing.size(), 1u);
    EXPECT_EQ(part.missing[0],
              "It describes no types of 'little.cpp': build that with -g, not -g1.");
    EXPECT_FALSE(reload::check_file("/dev/null").readable);
}

}  // namespace
}  // namespace braid_test
