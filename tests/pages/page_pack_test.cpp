#include <braid/pages/page_pack.hpp>

#include "pack_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using braid::page_id;
using braid::page_pack;
using braid_test::pack_file;

bool says(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

TEST(PagePack, GivesBackWhatWasWrittenByNameAndNumber) {
    const pack_file of(40);
    const page_pack pack(of.path());
    ASSERT_TRUE(pack.is_open()) << pack.error();
    ASSERT_EQ(pack.size(), 40U);
    std::vector<std::byte> bytes(pack_file::page_bytes);
    for (std::uint32_t i = 0; i < pack.size(); ++i) {
        const braid::page_info p = pack[page_id{i}];
        EXPECT_EQ(p.name, "page." + std::to_string(i));
        EXPECT_EQ(pack.find(p.name), page_id{i});
        EXPECT_EQ(p.bytes, pack_file::page_bytes);
        EXPECT_EQ(p.packed_bytes < p.bytes, i % 2 == 0);
        pack.load(page_id{i}, bytes);
        EXPECT_TRUE(braid_test::is_page(bytes, i));
    }
    EXPECT_FALSE(pack.find("page.40"));
    EXPECT_FALSE(pack.find(""));
}

TEST(PagePack, LevelZeroPacksNothing) {
    const pack_file of(4, {.level = 0});
    const page_pack pack(of.path());
    for (std::uint32_t i = 0; i < pack.size(); ++i) {
        EXPECT_EQ(pack[page_id{i}].packed_bytes, pack_file::page_bytes);
    }
}

TEST(PagePack, MayBeEmpty) {
    const pack_file of(0);
    const page_pack pack(of.path());
    EXPECT_TRUE(pack.is_open()) << pack.error();
    EXPECT_EQ(pack.size(), 0U);
    EXPECT_FALSE(pack.find("page.0"));
}

TEST(PagePack, EveryPrefixIsRefused) {
    const pack_file of(0);
    {
        braid::pack_writer to(of.path(), {.level = 19});
        for (const char* name : {"a", "b", "c"}) {
            EXPECT_TRUE(to.add(name, braid_test::bytes_of_page(*name == 'b', 100)));
        }
        EXPECT_TRUE(to.finish());
    }
    const std::vector<char> all = of.read();
    for (std::size_t n = 0; n < all.size(); ++n) {
        of.write(std::span(all).first(n));
        const page_pack pack(of.path());
        ASSERT_FALSE(pack.is_open()) << n;
        ASSERT_TRUE(says(pack.error(), of.path().c_str())) << pack.error();
        ASSERT_EQ(pack.size(), 0U);
    }
    std::vector<char> longer = all;
    longer.push_back(0);
    of.write(longer);
    EXPECT_TRUE(says(page_pack(of.path()).error(), "cut short, or something was appended"));
    of.write(all);
    EXPECT_TRUE(page_pack(of.path()).is_open());
}

TEST(PagePack, AChangedByteOfHeaderOrTableIsRefusedAndOfAPageSeen) {
    const pack_file of(6);
    const page_pack right(of.path());
    const std::vector<char> all = of.read();
    const std::uint64_t first = right[page_id{0}].offset;
    const std::uint64_t end = right[page_id{5}].offset + right[page_id{5}].packed_bytes;
    std::vector<std::byte> bytes(pack_file::page_bytes);
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (at >= first + 50 && at < end && at % 97 != 0) continue;  // some of the pages' bytes
        of.change_byte(at);
        const page_pack pack(of.path());
        if (at < first || at >= end) {
            ASSERT_FALSE(pack.is_open()) << at;
        } else {
            ASSERT_TRUE(pack.is_open()) << pack.error();
            unsigned damaged = 0;
            for (std::uint32_t i = 0; i < pack.size(); ++i) {
                try {
                    pack.load(page_id{i}, bytes);
                } catch (const braid::page_error& e) {
                    ++damaged;
                    EXPECT_TRUE(says(e.what(), ("page 'page." + std::to_string(i)).c_str()));
                    EXPECT_TRUE(says(e.what(), "its checksum is wrong")) << e.what();
                }
            }
            ASSERT_EQ(damaged, 1U) << at;
        }
        of.change_byte(at);
    }
}

TEST(PagePack, WhatIsNoFileIsNamed) {
    const pack_file of(1);
    const page_pack missing(of.folder() + "/none");
    EXPECT_FALSE(missing.is_open());
    EXPECT_TRUE(says(missing.error(), "/none: ")) << missing.error();
    const page_pack folder(of.folder());
    EXPECT_FALSE(folder.is_open());
    EXPECT_TRUE(says(folder.error(), of.folder().c_str())) << folder.error();
    of.write(std::vector<char>(10'000, 'x'));
    EXPECT_TRUE(says(page_pack(of.path()).error(), "it is no pack"));
}

TEST(PackWriter, RefusesWhatNoPackHasInASentence) {
    const pack_file of(1);
    const std::string path = of.folder() + "/other.pack";
    const std::vector<std::byte> some(10);
    const auto refuses = [&](std::string_view name, std::span<const std::byte> bytes) {
        braid::pack_writer to(path);
        EXPECT_TRUE(to.add("first", some));
        EXPECT_FALSE(to.add(name, bytes));
        EXPECT_TRUE(says(to.error(), path.c_str())) << to.error();
        EXPECT_FALSE(to.finish());
        return to.error();
    };
    EXPECT_TRUE(says(refuses("", some), "a page's name is empty"));
    EXPECT_TRUE(says(refuses(std::string_view("a\0b", 3), some), "has a zero in it"));
    EXPECT_TRUE(says(refuses("second", {}), "the page 'second' is empty"));
    EXPECT_TRUE(says(refuses("first", some), "the page 'first' was added before"));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
}

TEST(PackWriter, AnOlderFileStaysUntilItIsFinished) {
    const pack_file of(3);
    {
        braid::pack_writer to(of.path());
        EXPECT_TRUE(to.add("other", std::vector<std::byte>(10)));
        EXPECT_EQ(page_pack(of.path()).size(), 3U);
    }
    EXPECT_EQ(page_pack(of.path()).size(), 3U);
    braid::pack_writer to(of.path());
    EXPECT_TRUE(to.add("other", std::vector<std::byte>(10)));
    EXPECT_TRUE(to.finish());
    EXPECT_TRUE(to.finish());
    EXPECT_EQ(page_pack(of.path()).size(), 1U);
}

TEST(PackWriter, WhereItCannotWriteItSaysWhy) {
    braid::pack_writer to("/dev/null/some.pack");
    EXPECT_FALSE(to.add("page", std::vector<std::byte>(10)));
    EXPECT_FALSE(to.finish());
    EXPECT_TRUE(says(to.error(), "/dev/null/some.pack: Not a directory")) << to.error();
}

}  // namespace
