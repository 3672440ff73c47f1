// R2: a file that somebody is still writing is not loaded, whatever it looks like: linkers write
// the build-id last, and a part of it looks like another one.
#include "reload/image/image.hpp"
#include "reload_test.hpp"
#include "scale.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace braid_test {
namespace {

class ReloadWritten : public reload_test {
protected:
    ReloadWritten() : simulate(add(), "simulate", simulate_stub) {
        put("game_1");
        until([&] { return look().loaded() == 1; });
        EXPECT_EQ(simulate(game, input), 1);
    }
    /// Nothing is said of it: it is looked at again.
    void expect_not_loaded() {
        const reload::outcome went = look();
        EXPECT_EQ(went.loaded(), 0u);
        EXPECT_STREQ(went.text(), "");
        EXPECT_EQ(simulate(game, input), 1);
    }
    void expect_loaded() {
        // At once; after a second where the file system knows no leases.
        until([&] { return look().loaded() == 1; });
        EXPECT_EQ(simulate(game, input), 2);
    }
    int open_in_place() const { return open(live().c_str(), O_RDWR | O_TRUNC | O_CLOEXEC); }
    static void put_at(int file, const bytes& from, std::size_t at, std::size_t count) {
        ASSERT_EQ(pwrite(file, from.data() + at, count, static_cast<off_t>(at)),
                  static_cast<ssize_t>(count));
    }

    const bytes fresh = read(built("game_2"));
    simulate_function simulate;
};

TEST_F(ReloadWritten, AWholeFileIsLoadedWhenItsWriterHasClosedIt) {
    const int file = open_in_place();
    ASSERT_GE(file, 0);
    put_at(file, fresh, 0, fresh.size());
    expect_not_loaded();
    close(file);
    expect_loaded();
}

TEST_F(ReloadWritten, AFileThatStaysOpenIsMentionedOnceWhenThatHasLastedForLong) {
    const int file = open_in_place();
    ASSERT_GE(file, 0);
    put_at(file, fresh, 0, fresh.size());
    expect_not_loaded();
    now_ns += 9'999'999'999;
    expect_not_loaded();
    now_ns += 1;
    expect_sentence(look(), "Module 'game' is not reloaded yet, because '" + live().string() +
                                "' is open for writing.");
    now_ns += 100'000'000'000;
    expect_not_loaded();
    close(file);
    expect_loaded();
}

TEST_F(ReloadWritten, AMappedFileIsLoadedWhenItIsMappedNoMore) {
    const int file = open_in_place();
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, static_cast<off_t>(fresh.size())), 0);
    void* const at = mmap(nullptr, fresh.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(at, MAP_FAILED);
    close(file);
    std::memcpy(at, fresh.data(), fresh.size());
    expect_not_loaded();
    munmap(at, fresh.size());
    expect_loaded();
}

TEST_F(ReloadWritten, AFileThatGrowsIsLoadedAtItsEnd) {
    const int file = open_in_place();
    ASSERT_GE(file, 0);
    const std::size_t part = fresh.size() / 5 + 1;
    for (std::size_t at = 0; at < fresh.size(); at += part) {
        put_at(file, fresh, at, std::min(part, fresh.size() - at));
        expect_not_loaded();
    }
    close(file);
    expect_loaded();
}

TEST_F(ReloadWritten, APartOfABuildIdIsNotTakenForABuildId) {
    braid::reload::detail::image parsed;
    ASSERT_TRUE(braid::reload::detail::image::read(fresh, parsed));
    const std::uint64_t first = parsed.build_id_offset(), size = parsed.build_id_size();
    ASSERT_GT(size, 0u);
    const int file = open_in_place();
    ASSERT_GE(file, 0);
    bytes torn = fresh;
    std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(first), size, std::byte{0});
    put_at(file, torn, 0, torn.size());
    for (std::uint64_t written = 0; written <= size; ++written) {
        if (written != 0) put_at(file, fresh, first + written - 1, 1);
        expect_not_loaded();
    }
    close(file);
    expect_loaded();
}

}  // namespace
}  // namespace braid_test
