// without_uring PROGRAM ARGUMENT...: runs it where the system refuses io_uring, as a container
// does. Exit code 77: the system has no filter for calls.
#include "forbidden_calls.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

int main(int count, char** values) {
    if (count < 2) return 2;
    if (!braid_test::forbid_calls({SYS_io_uring_setup}, EPERM)) return 77;
    execv(values[1], values + 1);
    std::perror(values[1]);
    return 2;
}
