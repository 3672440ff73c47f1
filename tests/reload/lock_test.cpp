// Lock files: honoured, and not for ever. The clock stands until a test moves it.
#include "reload_test.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braid_test {
namespace {

constexpr std::int64_t second = 1'000'000'000;

class ReloadLock : public reload_test {
protected:
    ReloadLock() {
        put("game_1");
        simulate.emplace(add(), "simulate", simulate_stub);
        EXPECT_EQ(look().loaded(), 1u);
    }
    fs::path lock() const { return live().string() + ".lock"; }
    void write_lock(const std::string& text) { write(lock(), std::as_bytes(std::span(text))); }
    void TearDown() override { simulate.reset(); }

    std::optional<simulate_function> simulate;
};

TEST_F(ReloadLock, ThatItsOwnerHoldsIsHonouredUntilItLetsGo) {
    write_lock("");
    const int held = open(lock().c_str(), O_RDWR);
    ASSERT_EQ(flock(held, LOCK_EX), 0);
    put("game_2");
    EXPECT_FALSE(look());
    now_ns += 100 * second;
    EXPECT_FALSE(look()) << "time does not end a lock that is held";
    close(held);
    fs::remove(lock());
    EXPECT_EQ(look().loaded(), 1u);
}

TEST_F(ReloadLock, OfAProcessThatHasEndedIsTakenAwayAndReported) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    write_lock("pid " + std::to_string(child) + "\n");
    put("game_2");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    expect_sentence(went, "of process " + std::to_string(child) + ", which has ended, was removed");
    EXPECT_FALSE(fs::exists(lock()));
}

TEST_F(ReloadLock, OfAProcessThatRunsIsHonoured) {
    write_lock(std::to_string(getpid()));
    put("game_2");
    EXPECT_FALSE(look());
    now_ns += 100 * second;
    EXPECT_FALSE(look());
    fs::remove(lock());
    EXPECT_EQ(look().loaded(), 1u);
}

TEST_F(ReloadLock, OfAProcessWhoseNumberWasUsedAgainIsTakenAway) {
    write_lock(std::to_string(getpid()));
    fs::last_write_time(lock(), fs::file_time_type::clock::now() - std::chrono::hours(24));
    put("game_2");
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    expect_sentence(went, "which has ended, was removed");
}

TEST_F(ReloadLock, OfNobodyCountsUntilItHasBeenStillForTenSeconds) {
    write_lock("");
    put("game_2");
    EXPECT_FALSE(look());
    now_ns += 10 * second - 1;
    EXPECT_FALSE(look());
    now_ns += 1;
    const reload::outcome went = look();
    EXPECT_EQ(went.loaded(), 1u);
    expect_sentence(went, "which nobody owns, was removed");
    EXPECT_FALSE(fs::exists(lock()));
    EXPECT_EQ((*simulate)(game, input), 2);
}

TEST_F(ReloadLock, AModuleThatIsStillWrittenBeginsTheTenSecondsAnew) {
    write_lock("");
    put("game_2");
    EXPECT_FALSE(look());
    now_ns += 9 * second;
    put("game_3");
    EXPECT_FALSE(look());
    now_ns += 9 * second;
    EXPECT_FALSE(look());
    now_ns += second;
    EXPECT_EQ(look().loaded(), 1u);
    EXPECT_EQ((*simulate)(game, input), 3);
}

TEST_F(ReloadLock, StaysWhereWhatItGuardsIsRefused) {
    bytes cut = read(built("game_2"));
    cut.resize(100);
    write_lock("");
    put_bytes(cut);
    EXPECT_FALSE(look());
    now_ns += 10 * second;
    expect_sentence(look(), "is cut off");
    EXPECT_TRUE(fs::exists(lock()));
}

TEST_F(ReloadLock, OlderThanTheModuleProvesNothing) {
    // Every build's lock is: it is made before the module is written.
    write_lock("");
    fs::last_write_time(lock(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    put("game_2");
    EXPECT_FALSE(look());
}

}  // namespace
}  // namespace braid_test
