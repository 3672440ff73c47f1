#pragma once
// Calls that the system refuses from here on, as in a container.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <initializer_list>
#include <vector>

namespace braid_test {

/// To the calling thread and those that it starts, with that error. False: the system has no filter
/// for calls.
inline bool forbid_calls(std::initializer_list<unsigned> numbers, unsigned error) {
    std::vector<sock_filter> steps = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (auto left = static_cast<unsigned char>(numbers.size()); const unsigned number : numbers) {
        steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, left, 0));
        --left;
    }
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
    const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace braid_test
