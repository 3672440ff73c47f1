// fork(), a pipe for what the child says, and handlers for what ends it.
#include "reload/platform/linux/stack_places.hpp"
#include "reload/platform/platform.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {
namespace {

static_assert(signal_of_time == SIGALRM);

crash_fn reports = nullptr;

/// A second fault, in here, ends the child by itself.
void on_end(int number, siginfo_t* info, void* context) {
    stack_places at(context);
    crash what{number, 0, reinterpret_cast<std::uintptr_t>(info->si_addr), at.all()};
    reports(what);
    at.add_callers();
    what.places = at.all();
    reports(what);
    _exit(1);
}

void on_exit_call(int code, void*) {
    reports({.signal = 0, .exit_code = code, .address = 0, .places = {}});
    _exit(1);
}

}  // namespace

child_process::~child_process() {
    kill();
    if (process_ > 0) {
        while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    if (pipe_ >= 0) close(pipe_);
}

void child_process::kill() {
    if (process_ > 0) ::kill(process_, SIGKILL);
}

status child_process::begin(bool& in_child) {
    in_child = false;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {errno, std::generic_category().message(errno)};
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const pid_t host = getpid();
    const pid_t made = fork();
    if (made < 0) {
        const int why = errno;
        close(ends[0]);
        close(ends[1]);
        return {why, std::generic_category().message(why)};
    }
    in_child = made == 0;
    close(ends[in_child ? 0 : 1]);
    pipe_ = ends[in_child ? 1 : 0];
    if (!in_child) {
        process_ = made;
        return {};
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host) leave();  // it has ended meanwhile
    return {};
}

void child_process::send(std::span<const std::byte> message) noexcept {
    // Less than the system writes in one piece.
    [[maybe_unused]] const ssize_t sent = write(pipe_, message.data(), message.size());
}

void child_process::leave() { _exit(0); }

void child_process::take_messages(std::span<std::byte> message, std::size_t& size) {
    for (;;) {
        const ssize_t got = read(pipe_, message.data(), message.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        size = static_cast<std::size_t>(got);
    }
}

bool child_process::has_ended(std::span<std::byte> message, std::size_t& size, process_end& how) {
    size = 0;
    int state = 0;
    const pid_t ended = waitpid(process_, &state, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    process_ = -1;
    take_messages(message, size);
    how = {};
    if (ended > 0 && WIFSIGNALED(state)) how.signal = WTERMSIG(state);
    if (ended > 0 && WIFEXITED(state)) how.exit_code = WEXITSTATUS(state);
    return true;
}

void report_crashes(crash_fn report, std::int64_t within_ns) {
    reports = report;
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    // The thread's own may be used up.
    static std::byte room[64 * 1024];
    stack_t own{};
    own.ss_sp = room;
    own.ss_size = sizeof room;
    sigaltstack(&own, nullptr);
    struct sigaction on{};
    on.sa_sigaction = &on_end;
    on.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGALRM}) {
        sigaction(number, &on, nullptr);
    }
    sigset_t all;
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    on_exit(&on_exit_call, nullptr);
    itimerval time{};
    time.it_value.tv_sec = within_ns / 1'000'000'000;
    time.it_value.tv_usec = within_ns % 1'000'000'000 / 1'000 + 1;
    setitimer(ITIMER_REAL, &time, nullptr);
}

std::string signal_name(int number) {
    const char* const name = sigabbrev_np(number);
    return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
