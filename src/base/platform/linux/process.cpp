#include "base/platform/platform.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace braid::platform {
namespace {

struct descriptor {
    int number = -1;
    ~descriptor() { close_now(); }
    void close_now() {
        if (number >= 0) close(number);
        number = -1;
    }
};

void send_all(int to, const char* data, std::size_t size) {
    while (size != 0) {
        // A socket, because a program that ends early must not end this one by a signal.
        const ssize_t sent = send(to, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        data += sent;
        size -= static_cast<std::size_t>(sent);
    }
}

void read_first_line(int from, char* line, std::size_t room) {
    std::size_t used = 0;
    for (char byte = 0;;) {
        const ssize_t got = read(from, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (byte == '\n') room = 0;  // the rest is read, so that the program can end
        if (used + 1 < room) line[used++] = byte;
    }
    line[used] = '\0';
}

}  // namespace

int run_program(const char* const* arguments, const char* input, std::size_t size, char* said,
                std::size_t room) noexcept {
    said[0] = '\0';
    int in[2], err[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) return -1;
    descriptor ours{in[0]}, theirs{in[1]};
    if (pipe2(err, O_CLOEXEC) != 0) return -1;
    descriptor reads{err[0]}, writes{err[1]};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    posix_spawn_file_actions_adddup2(&actions, theirs.number, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, writes.number, STDERR_FILENO);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    theirs.close_now();
    writes.close_now();
    if (failed != 0) return -1;
    send_all(ours.number, input, size);
    ours.close_now();
    read_first_line(reads.number, said, room);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace braid::platform
