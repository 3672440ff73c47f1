#include "base/platform/platform.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
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
    const ssize_t got = pread(from, line, room - 1, 0);
    line[got < 0 ? 0 : got] = '\0';
    line[std::strcspn(line, "\n")] = '\0';
}

}  // namespace

bool take_environment(const char* name, char* to, std::size_t room) noexcept {
    const char* const value = std::getenv(name);
    const std::size_t size = value != nullptr ? std::strlen(value) : 0;
    if (size == 0 || size >= room) return false;
    std::memcpy(to, value, size + 1);
    return unsetenv(name) == 0;
}

int run_program(const char* const* arguments, const char* input, std::size_t size, char* said,
                std::size_t room) noexcept {
    said[0] = '\0';
    int in[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) return -1;
    descriptor ours{in[0]}, theirs{in[1]};
    // A file in memory: a program that says much before it reads would block on a pipe, and we too.
    const descriptor says{memfd_create("braid", MFD_CLOEXEC)};
    if (says.number < 0) return -1;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    posix_spawn_file_actions_adddup2(&actions, theirs.number, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, says.number, STDERR_FILENO);
    // Threads of a scheduler block all signals; the program must not inherit that.
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments[0], &actions, &attributes,
                                    const_cast<char* const*>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    theirs.close_now();
    if (failed != 0) return -1;
    send_all(ours.number, input, size);
    ours.close_now();
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        // ECHILD: this process ignores SIGCHLD and hears of no status; it may all have gone well.
        if (errno != EINTR) return errno == ECHILD ? 0 : -1;
    }
    read_first_line(says.number, said, room);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace braid::platform
