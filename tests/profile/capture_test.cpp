// The file of a capture: what was written is read, what is cut off is read up to the cut, and what
// is broken is refused in a sentence.
#include "braid/profile/capture.hpp"

#include "profile/capture_writer.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

namespace profile = braid::profile;
using profile::capture;
using profile::record;
using profile::record_kind;

/// Two lanes, three types, all that a file can hold.
capture small() {
    capture c;
    c.began_at = 1'790'000'000'000'000'000;
    c.duration = 5000;
    c.switches = profile::switch_level::count;
    c.info = {{"program", "arena"}, {"workers", "2"}};
    c.clocks = {{100, 1000}, {200, 2000}};
    c.types = {{}, {"frame", "", 0}, {"skin", "skin.cpp", 12}, {"späße", "a b.cpp", 1}};
    c.lanes.resize(2);
    c.lanes[0] = {"main", profile::lane_kind::main, 0, 4711, 3, {}};
    c.lanes[1] = {"worker 0", profile::lane_kind::worker, 1, 4712, 0, {}};
    c.lanes[1].switches = profile::switch_level::none;
    c.lanes[0].records = {
        {10, 0, 1, 1, record::no_core, record_kind::frame_begin, 0},
        {20, 77, 0, 2, 0, record_kind::spawned, 1},
        {21, 77, 0, 0, 0, record_kind::ready, 0},
        {4000, 0, 1, 1, 1, record_kind::frame_end, 0},
    };
    c.lanes[1].records = {
        {30, 77, 0, 2, 1, record_kind::started, 0},
        {40, 77, 0, 0, 1, record_kind::ended, profile::end_switched},
    };
    return c;
}

class CaptureFile : public testing::Test {
protected:
    std::vector<std::byte> bytes_of(const capture& c) {
        EXPECT_TRUE(profile::write_capture(c, path_));
        std::vector<std::byte> bytes(std::filesystem::file_size(path_));
        std::ifstream(path_, std::ios::binary)
            .read(reinterpret_cast<char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
        return bytes;
    }
    void TearDown() override { std::filesystem::remove(path_); }

    const std::string path_ = testing::TempDir() +
                              testing::UnitTest::GetInstance()->current_test_info()->name() +
                              ".braid";
};

void expect_same(const capture& a, const capture& b) {
    EXPECT_EQ(a.types, b.types);
    EXPECT_EQ(a.began_at, b.began_at);
    EXPECT_EQ(a.duration, b.duration);
    EXPECT_EQ(a.switches, b.switches);
    ASSERT_EQ(a.lanes.size(), b.lanes.size());
    for (std::size_t i = 0; i < a.lanes.size(); ++i) {
        EXPECT_EQ(a.lanes[i].name, b.lanes[i].name);
        EXPECT_EQ(a.lanes[i].kind, b.lanes[i].kind);
        EXPECT_EQ(a.lanes[i].seat, b.lanes[i].seat);
        EXPECT_EQ(a.lanes[i].thread, b.lanes[i].thread);
        EXPECT_EQ(a.lanes[i].dropped, b.lanes[i].dropped);
        EXPECT_EQ(a.lanes[i].switches, b.lanes[i].switches);
        EXPECT_EQ(a.lanes[i].records, b.lanes[i].records);
    }
    ASSERT_EQ(a.clocks.size(), b.clocks.size());
    for (std::size_t i = 0; i < a.clocks.size(); ++i) {
        EXPECT_EQ(a.clocks[i].ticks, b.clocks[i].ticks);
        EXPECT_EQ(a.clocks[i].ns, b.clocks[i].ns);
    }
}

TEST_F(CaptureFile, HoldsEverythingThatWasWritten) {
    const capture written = small();
    ASSERT_TRUE(profile::write_capture(written, path_));
    capture read;
    const braid::status went = profile::read_capture(path_, read);
    ASSERT_TRUE(went) << went.text;
    EXPECT_TRUE(read.whole);
    expect_same(read, written);
    const std::pair<std::string, std::string> program{"program", "arena"};
    EXPECT_NE(std::find(read.info.begin(), read.info.end(), program), read.info.end());
}

TEST_F(CaptureFile, CutOffAnywhereIsReadUpToTheCut) {
    const std::vector<std::byte> bytes = bytes_of(small());
    std::size_t most = 0;
    for (std::size_t size = profile::capture_header_bytes; size < bytes.size(); ++size) {
        capture read;
        const braid::status went = profile::read_capture(std::span(bytes).first(size), read);
        ASSERT_TRUE(went) << size << ": " << went.text;
        EXPECT_FALSE(read.whole);
        std::size_t records = 0;
        for (const profile::lane& l : read.lanes) records += l.records.size();
        EXPECT_GE(records, most) << size;
        most = records;
    }
    EXPECT_EQ(most, 6U);
}

TEST_F(CaptureFile, OtherFilesAreRefusedInASentence) {
    capture read;
    braid::status went = profile::read_capture("no such folder/a.braid", read);
    EXPECT_EQ(went.text, "cannot read 'no such folder/a.braid': No such file or directory");
    std::ofstream(path_) << "hello, this is a letter and not what you think that it is";
    went = profile::read_capture(path_, read);
    EXPECT_EQ(went.text, "'" + path_ + "': this is not a capture");
    EXPECT_EQ(profile::read_capture(std::span<const std::byte>{}, read).text,
              "this is not a capture");
    std::vector<std::byte> bytes = bytes_of(small());
    bytes[8] = std::byte{9};
    EXPECT_EQ(profile::read_capture(bytes, read).text,
              "this capture has version 9, this program reads version 1");
    went = profile::write_capture(small(), "no such folder/a.braid");
    EXPECT_EQ(went.text, "cannot write 'no such folder/a.braid': No such file or directory");
}

TEST_F(CaptureFile, ALaneMayKnowLessOfSwitchesThanOthers) {
    capture c = small();
    for (const auto level : {profile::switch_level::none, profile::switch_level::flag,
                             profile::switch_level::count, profile::switch_level::exact}) {
        c.lanes[1].switches = level;
        capture read;
        ASSERT_TRUE(profile::read_capture(bytes_of(c), read));
        EXPECT_EQ(switches_of(read, read.lanes[0]), profile::switch_level::count);
        EXPECT_EQ(switches_of(read, read.lanes[1]), level);
    }
}

/// Each byte of a good file, replaced by each of a few: read or refused, and never believed.
TEST_F(CaptureFile, NoSingleByteDoesHarm) {
    const std::vector<std::byte> good = bytes_of(small());
    int refused = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const unsigned value : {0U, 1U, 0x7fU, 0xffU}) {
            std::vector<std::byte> bytes = good;
            bytes[at] = static_cast<std::byte>(value);
            capture read;
            refused += !profile::read_capture(bytes, read);
            for (const profile::lane& l : read.lanes) {
                for (const record& r : l.records) {
                    if (r.kind == record_kind::started) {
                        ASSERT_LT(r.aux, read.types.size());
                    }
                }
            }
        }
    }
    EXPECT_GT(refused, 100);
}

TEST_F(CaptureFile, ContradictionsAreRefused) {
    capture c = small();
    std::swap(c.lanes[0].records[0], c.lanes[0].records[3]);
    capture read;
    const std::string broken = profile::read_capture(bytes_of(c), read).text;
    EXPECT_NE(broken.find("records are not in order of time"), std::string::npos) << broken;
    EXPECT_TRUE(read.lanes.empty());
    c = small();
    c.lanes[1].records[0].aux = 4;
    EXPECT_NE(profile::read_capture(bytes_of(c), read).text.find("a type that is not there"),
              std::string::npos);
}

/// A megabyte of name, asked for by each of many types of 16 bytes.
TEST_F(CaptureFile, SmallFilesDoNotAskForMuchMemory) {
    profile::capture_writer to;
    to.header(0);
    const std::string name(std::size_t{1} << 20, 'x');
    for (std::uint32_t line = 1; line < 1000; ++line) to.type(name, "", line);
    capture read;
    const braid::status went = profile::read_capture(to.take(), read);
    EXPECT_NE(went.text.find("a type has a name that is not there"), std::string::npos)
        << went.text;
}

TEST_F(CaptureFile, OfSizeTellsItsProgress) {
    capture c = small();
    c.lanes[1].records.assign(500'000, {50, 77, 0, 2, 1, record_kind::started, 0});
    const std::vector<std::byte> bytes = bytes_of(c);
    std::vector<double> shares;
    capture read;
    ASSERT_TRUE(profile::read_capture(bytes, read, [&](double share) { shares.push_back(share); }));
    EXPECT_EQ(read.lanes[1].records.size(), 500'000U);
    EXPECT_GE(shares.size(), 2U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_LE(shares.back(), 1.0);
}

}  // namespace
