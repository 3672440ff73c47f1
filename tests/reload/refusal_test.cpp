// What stands in a module's place and is none: one sentence, said once, and the old code goes on.
#include "reload_test.hpp"

#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

namespace braid_test {
namespace {

class ReloadRefusal : public reload_test {
protected:
    ReloadRefusal() {
        put("game_1");
        simulate.emplace(add(), "simulate", simulate_stub);
        EXPECT_EQ(look().loaded(), 1u);
    }
    void expect_refused_once(const std::string& part) {
        const reload::outcome went = look();
        EXPECT_EQ(went.loaded(), 0u);
        EXPECT_EQ(went.refused(), 1u);
        expect_sentence(went, part);
        expect_sentence(went, "the code before goes on");
        EXPECT_FALSE(look()) << "said twice";
        EXPECT_EQ((*simulate)(game, input), 1);
    }
    void expect_next_build_is_taken() {
        put("game_2");
        EXPECT_EQ(look().loaded(), 1u);
        EXPECT_EQ((*simulate)(game, input), 2);
    }
    void TearDown() override { simulate.reset(); }

    std::optional<simulate_function> simulate;
};

TEST_F(ReloadRefusal, ACutFile) {
    bytes cut = read(built("game_2"));
    cut.resize(cut.size() / 2);
    put_bytes(cut);
    expect_refused_once("is cut off");
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, AnEmptyFile) {
    put_bytes({});
    expect_refused_once("is empty");
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, AText) {
    const std::string text = "no module at all\n";
    put_bytes(std::as_bytes(std::span(text)));
    expect_refused_once("is no ELF file");
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, AnExecutable) {
    put_bytes(read("/proc/self/exe"));
    expect_refused_once("is an executable");
}

TEST_F(ReloadRefusal, AFolder) {
    fs::remove(live());
    fs::create_directory(live());
    expect_refused_once("is a folder");
    fs::remove(live());
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, APipe) {
    fs::remove(live());
    ASSERT_EQ(mkfifo(live().c_str(), 0600), 0);
    expect_refused_once("is a pipe");
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, ALinkToNothingAndThenToAModule) {
    modules->add(
        {.name = "linked", .path = (place / "link.so").string(), .drain_for = braid::seconds(20)});
    fs::create_symlink(place / "nothing.so", place / "link.so");
    expect_sentence(look(), "is a symbolic link to nothing");
    EXPECT_FALSE(look());
    fs::remove(place / "link.so");
    fs::create_symlink(built("game_2"), place / "link.so");
    expect_sentence(look(), "'linked' was loaded");
    fs::create_symlink(built("game_3"), place / "next");
    fs::rename(place / "next", place / "link.so");
    expect_sentence(look(), "'linked' was reloaded");
}

TEST_F(ReloadRefusal, AFileThatMayNotBeRead) {
    put("game_2");
    chmod(live().c_str(), 0);
    // The administrator may read everything, so another user looks.
    if (geteuid() == 0) setfsuid(65534);
    modules->check_now();
    if (geteuid() == 0) setfsuid(0);
    expect_sentence(modules->at_frame_boundary(), "cannot open");
    EXPECT_EQ((*simulate)(game, input), 1);
    chmod(live().c_str(), 0700);
    EXPECT_EQ(look().loaded(), 1u);
}

TEST_F(ReloadRefusal, ACopyForWhichThereIsNoRoom) {
    put("game_2");
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 4096;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const reload::outcome went = look();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old);
    expect_sentence(went, "cannot write");
    EXPECT_EQ((*simulate)(game, input), 1);
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*simulate)(game, input), 2);
}

TEST_F(ReloadRefusal, AnotherSignature) {
    put("game_signature");
    expect_refused_once(
        "exports 'simulate' as int(world::game&, float), and the host calls it as "
        "int(world::game&, const world::input&)");
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, EachFlagThatIsMissing) {
    put("game_no_id");
    expect_refused_once("was built without -Wl,--build-id=sha1");
    put("game_not_bound");
    expect_refused_once("was built without -Wl,-Bsymbolic");
    put("game_no_debug");
    expect_refused_once("was built without -g");
    put("game_no_types");
    expect_refused_once("describes no types: build it with -g, not -g1");
    put("game_little");
    expect_refused_once("describes no types of 'little.cpp': build that with -g, not -g1");
    put("empty");
    expect_refused_once("was built without #include <braid/reload/export.hpp>");
#if !defined(__clang__)
    put("game_unique");
    expect_refused_once("was built without -fno-gnu-unique: the system binds '");
#endif
    expect_next_build_is_taken();
}

TEST_F(ReloadRefusal, AModuleThatShowsFunctionsIsLoadedAllTheSame) {
    put("game_shows");
    EXPECT_EQ(look().loaded(), 1u);
}

TEST_F(ReloadRefusal, ASourceWithoutTypesIsNotTakenForOneWithTooLittleDebugInformation) {
    put("game_bare");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u) << went.text();
}

TEST_F(ReloadRefusal, DebugInformationIsNotWantedWhereTypesAreNotCompared) {
    add("plain", false);
    for (const char* const build : {"game_no_debug", "game_no_types", "game_little"}) {
        put(build, "plain");
        const reload::outcome went = look();
        EXPECT_EQ(went.loaded(), 1u) << went.text();
    }
}

TEST_F(ReloadRefusal, ARefusedFileIsTakenWhenItIsWholeAtLast) {
    const bytes whole = read(built("game_2"));
    bytes cut = whole;
    cut.resize(whole.size() - 1);
    put_bytes(cut);
    expect_refused_once("is cut off");
    // The same build-id, and all bytes.
    put_bytes(whole);
    EXPECT_EQ(look().loaded(), 1u);
}

TEST_F(ReloadRefusal, TwoModulesAtOneBoundaryAreOneSentence) {
    add("sound");
    put("sound_1", "sound");
    put_bytes({});
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    EXPECT_EQ(went.refused(), 1u);
    expect_sentence(went, "is empty; module 'sound' was loaded");
}

}  // namespace
}  // namespace braid_test
