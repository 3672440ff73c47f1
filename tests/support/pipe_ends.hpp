#pragma once
// A pipe of which neither end blocks.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace braid_test {

struct pipe_ends {
    pipe_ends() { EXPECT_EQ(pipe2(both, O_NONBLOCK | O_CLOEXEC), 0); }
    ~pipe_ends() {
        for (const int one : both) {
            if (one >= 0) close(one);
        }
    }
    void put() const { EXPECT_EQ(write(both[1], "x", 1), 1); }
    /// False: there is nothing.
    bool take() const {
        char c = 0;
        return read(both[0], &c, 1) == 1;
    }
    int both[2] = {-1, -1};
};

}  // namespace braid_test
