#include "import_process.hpp"

#include "import_model.hpp"
#include "model_fault.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <braid/async.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <exception>
#include <memory>

namespace arena::import {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_block = 64u << 20;
constexpr rlim_t max_memory = rlim_t{1} << 30;

// First byte of what the child sends: a block follows, or the reason why there is none.
constexpr std::byte sends_block{'B'}, sends_reason{'R'};

/// A process and what is open of it; it ends with this object.
struct child {
    explicit child(const std::filesystem::path& of) : file(of) {}
    child(const child&) = delete;
    ~child() {
        if (process > 0 && kill(process, SIGKILL) == 0) wait_status();
        close(pipe);
        close(ended);
    }
    int wait_status() {
        int status = 0;
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        process = -1;
        return status;
    }
    import_error trouble(const std::string& what) const {
        return import_error("cannot import " + file.string() + ": " + what + ".");
    }

    const std::filesystem::path& file;
    pid_t process = -1;
    int pipe = -1, ended = -1;  // the latter can be read when the process has ended
};

void limit(__rlimit_resource what, rlim_t value) {
    const rlimit both{value, value};
    setrlimit(what, &both);
}

[[noreturn]] void become_importer(const child& own, const import_options& options, int out) {
    const auto seconds = static_cast<rlim_t>(options.seconds);
    limit(RLIMIT_CPU, seconds);
    limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // Sanitizers map terabytes and write files of their own.
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_AS, max_memory);
#endif
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    const char* fault = options.fault.empty() ? "none" : options.fault.c_str();
    execl("/proc/self/exe", "arena", "--import-model", own.file.c_str(), "--import-fault", fault,
          nullptr);
    _exit(127);
}

void start(child& own, const import_options& options) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw import_error("cannot import models: no pipe can be opened.");
    own.pipe = ends[0];
    own.process = fork();
    if (own.process == 0) become_importer(own, options, ends[1]);
    close(ends[1]);
    own.ended = static_cast<int>(syscall(SYS_pidfd_open, own.process, 0));
    if (own.ended < 0) throw import_error("cannot import models: no process can be started.");
}

/// False: it has said all.
bool receive(const child& own, std::vector<std::byte>& received) {
    std::byte buffer[65536];
    const ssize_t count = read(own.pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) return true;
    if (count > 0) received.insert(received.end(), buffer, buffer + count);
    if (received.size() > max_block) throw own.trouble("it becomes too large");
    return count > 0;
}

// A printable, short version of what the child said.
std::string reason_of(const std::vector<std::byte>& received) {
    std::string reason;
    for (std::byte byte : received) {
        const char c = static_cast<char>(byte);
        if (reason.size() < 160) reason += c >= ' ' && c < 127 ? c : ' ';
    }
    reason.erase(0, 1);
    while (!reason.empty() && (reason.back() == ' ' || reason.back() == '.')) reason.pop_back();
    return reason;
}

/// The block in what it sent; it has ended with that status.
aligned_array<std::byte> block_in(const std::vector<std::byte>& received, const child& from,
                                  int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        if (signal == SIGXCPU || signal == SIGKILL) throw from.trouble("it takes too long");
        throw from.trouble("the importer crashed on it (signal " + std::to_string(signal) + ")");
    }
    if (received.empty()) throw from.trouble("the importer said nothing");
    if (received[0] == sends_reason) throw from.trouble(reason_of(received));
    aligned_array<std::byte> block(received.begin() + 1, received.end());
    if (const char* fault = find_model_fault(block))
        throw from.trouble(std::string("the importer sent a broken block, ") + fault);
    return block;
}

braid::co<aligned_array<std::byte>> import_one(child& own, clock::time_point limit) {
    const auto left = [limit] { return braid::nanoseconds((limit - clock::now()).count()); };
    std::vector<std::byte> received;
    try {
        do {
            co_await braid::readable(own.pipe, left());
        } while (receive(own, received));
        co_await braid::readable(own.ended, left());
    } catch (const braid::completion_error& e) {
        const bool late = e.code() == braid::completion_error::deadline_passed;
        throw own.trouble(late ? "it takes too long" : e.what());
    }
    co_return block_in(received, own, own.wait_status());
}

void send(int descriptor, const std::byte* bytes, std::size_t count) {
    while (count > 0) {
        const ssize_t sent = write(descriptor, bytes, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(1);  // the parent has given up
        bytes += sent;
        count -= static_cast<std::size_t>(sent);
    }
}

int send_reason(int descriptor, const std::string& reason) {
    send(descriptor, &sends_reason, 1);
    send(descriptor, reinterpret_cast<const std::byte*>(reason.data()), reason.size());
    return 1;
}

// What a hostile file could make a parser do.
void misbehave(const std::string& fault) {
    if (fault == "crash") std::raise(SIGSEGV);
    if (fault == "silent") close(STDOUT_FILENO);
    if (fault == "hang" || fault == "silent")
        for (;;) pause();
    if (fault == "memory") {
        std::vector<std::unique_ptr<std::byte[]>> held;
        for (;;) held.emplace_back(new std::byte[16u << 20]);
    }
}

}  // namespace

std::vector<aligned_array<std::byte>> import_models(const std::vector<std::filesystem::path>& files,
                                                    const import_options& options) {
    for (const auto& file : files) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(file, ignored))
            throw import_error("cannot import " + file.string() +
                               ": there is no such file; name the folder of the models with "
                               "--models.");
    }
    // On this thread: a process has the signals blocked and the cores of the thread that starts it.
    std::deque<child> children;
    for (const auto& file : files) start(children.emplace_back(file), options);
    const auto limit = clock::now() + std::chrono::seconds(options.seconds);

    // The frames' scheduler comes later, and may be another library's. One worker, so that all are
    // read while this thread waits for the first.
    braid::scheduler scheduler(
        {.name = "importer", .workers = 1, .log = braid::log_handler::silent()});
    std::vector<braid::future<aligned_array<std::byte>>> all;
    for (child& own : children)
        all.push_back(braid::co_spawn(scheduler, {.name = "import"}, import_one(own, limit)));
    std::vector<aligned_array<std::byte>> blocks;
    std::exception_ptr first;
    for (auto& one : all) {
        try {
            blocks.push_back(one.get());
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
    return blocks;
}

int run_import_child(const std::filesystem::path& file, const std::string& fault, int descriptor) {
    try {
        misbehave(fault);
        std::vector<std::byte> block = import_model(file);
        if (fault == "garbage")
            for (std::size_t i = 64; i < block.size(); i += 97) block[i] ^= std::byte{0x55};
        if (fault == "cut") block.resize(block.size() / 2);
        send(descriptor, &sends_block, 1);
        send(descriptor, block.data(), block.size());
        return 0;
    } catch (const std::bad_alloc&) {
        return send_reason(descriptor, "it needs too much memory");
    } catch (const std::exception& error) {
        return send_reason(descriptor, error.what());
    }
}

}  // namespace arena::import
