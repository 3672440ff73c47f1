#pragma once
// A capture that stays in memory.

#include "braid/profile/recorder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace braid_test {

struct memory_sink final : braid::profile::capture_sink {
    bool take(std::span<const std::byte> chunks) override {
        bytes.insert(bytes.end(), chunks.begin(), chunks.end());
        return true;
    }
    braid::profile::capture read() const {
        braid::profile::capture c;
        const braid::status went = braid::profile::read_capture(bytes, c);
        EXPECT_TRUE(went) << went.text;
        return c;
    }
    std::vector<std::byte> bytes;
};

}  // namespace braid_test
