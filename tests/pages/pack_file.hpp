#pragma once
// A pack for tests: page i is called "page.i", and its bytes say which page and where.

#include "scratch_folder.hpp"

#include <braid/pages/pack_writer.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace braid_test {

/// Odd pages are noise, which cannot be packed; even ones are packed to a fraction.
inline std::byte byte_of_page(std::uint32_t page, std::size_t at) {
    std::uint64_t z =
        ((std::uint64_t{page} << 32) + (page % 2 == 0 ? at / 64 : at) + 1) * 0x9e37'79b9'7f4a'7c15U;
    // splitmix64 (Steele, Lea, Flood 2014)
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
    return static_cast<std::byte>((z ^ z >> 31) & 0xff);
}

inline std::vector<std::byte> bytes_of_page(std::uint32_t page, std::size_t bytes) {
    std::vector<std::byte> all(bytes);
    for (std::size_t i = 0; i < bytes; ++i) all[i] = byte_of_page(page, i);
    return all;
}

inline bool is_page(std::span<const std::byte> bytes, std::uint32_t page) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != byte_of_page(page, i)) return false;
    }
    return !bytes.empty();
}

/// In a folder of its own, which goes with it.
class pack_file {
public:
    static constexpr std::size_t page_bytes = 4096;

    explicit pack_file(std::uint32_t pages, const braid::pack_options& options = {}) {
        braid::pack_writer to(path(), options);
        for (std::uint32_t i = 0; i < pages; ++i) {
            EXPECT_TRUE(to.add("page." + std::to_string(i), bytes_of_page(i, page_bytes)))
                << to.error();
        }
        EXPECT_TRUE(to.finish()) << to.error();
    }
    std::string path() const { return (folder_ / "some.pack").string(); }
    std::string folder() const { return folder_.path().string(); }
    std::vector<char> read() const {
        std::ifstream from(path(), std::ios::binary);
        return {std::istreambuf_iterator<char>(from), std::istreambuf_iterator<char>()};
    }
    void write(std::span<const char> bytes) const {
        std::ofstream(path(), std::ios::binary | std::ios::trunc)
            .write(bytes.data(), std::ssize(bytes));
    }
    /// Where it lies, not as a whole: it may be open.
    void change_byte(std::uint64_t at) const {
        std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(at));
        const char changed = static_cast<char>(file.get() ^ 1);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(changed);
    }

private:
    scratch_folder folder_;
};

}  // namespace braid_test
