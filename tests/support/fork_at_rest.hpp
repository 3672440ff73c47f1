#pragma once
// fork() in the midst of a test.

#include "proc_threads.hpp"
#include "scale.hpp"

#include <braid/braid.hpp>

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace braid_test {

/// No other thread holds a lock of the C library or of a sanitizer's allocator meanwhile, which the
/// child would wait for in vain: all of them sleep, also those that were just being started.
inline pid_t fork_at_rest(braid::scheduler& s) {
    s.freeze();
    until([] {
        const std::vector<proc_thread> threads = proc_threads("");
        return std::count_if(threads.begin(), threads.end(),
                             [](const auto& t) { return t.state != 'S'; }) == 1;
    });
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a child that hangs ends with the test
    } else {
        s.resume();
    }
    return child;
}

inline int status_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

/// What went wrong in a child, which has no test of its own to say so: the line, as its exit
/// status.
#define BRAID_CHILD_EXPECT(condition)                \
    do {                                             \
        if (!(condition)) _exit(__LINE__ % 255 + 1); \
    } while (false)

/// The status of BRAID_CHILD_EXPECT, for messages.
inline std::string line_of(int status) {
    if (!WIFEXITED(status)) return "it ended by signal " + std::to_string(WTERMSIG(status));
    return "what the child expected in line " + std::to_string(WEXITSTATUS(status) - 1) +
           ", or 255 or 510 further, is not so";
}

}  // namespace braid_test
