#include "import_process.hpp"

#include "import_model.hpp"
#include "model_fault.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

namespace arena::import {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_block = 64u << 20;
constexpr rlim_t max_memory = rlim_t{1} << 30;

// First byte of what the child sends: a block follows, or the reason why there is none.
constexpr std::byte sends_block{'B'}, sends_reason{'R'};

struct child {
    std::filesystem::path file;
    pid_t process = -1;
    int pipe = -1;
    std::vector<std::byte> received;
    std::string trouble;  // set when the parent itself gave up on the child
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
    own.process = fork();
    if (own.process == 0) become_importer(own, options, ends[1]);
    close(ends[1]);
    own.pipe = ends[0];
    if (own.process < 0) throw import_error("cannot import models: no process can be started.");
}

void give_up(child& own, std::string trouble) {
    own.trouble = std::move(trouble);
    kill(own.process, SIGKILL);
    close(own.pipe);
    own.pipe = -1;
}

void receive(child& own) {
    std::byte buffer[65536];
    const ssize_t count = read(own.pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) {
        close(own.pipe);
        own.pipe = -1;
        return;
    }
    own.received.insert(own.received.end(), buffer, buffer + count);
    if (own.received.size() > max_block) give_up(own, "it becomes too large");
}

// Reads from all children until each has closed its pipe or the time is up.
void receive_all(std::vector<child>& children, clock::time_point deadline) {
    for (;;) {
        std::vector<pollfd> waiting;
        std::vector<child*> owners;
        for (child& own : children) {
            if (own.pipe < 0) continue;
            waiting.push_back({own.pipe, POLLIN, 0});
            owners.push_back(&own);
        }
        if (waiting.empty()) return;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
        if (left <= 0) {
            for (child* own : owners) give_up(*own, "it takes too long");
            return;
        }
        if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
        for (std::size_t i = 0; i < waiting.size(); ++i)
            if (waiting[i].revents != 0) receive(*owners[i]);
    }
}

// A printable, short version of what the child said.
std::string reason_of(const child& own) {
    std::string reason;
    for (std::byte byte : own.received) {
        const char c = static_cast<char>(byte);
        if (reason.size() < 160) reason += c >= ' ' && c < 127 ? c : ' ';
    }
    reason.erase(0, 1);
    while (!reason.empty() && (reason.back() == ' ' || reason.back() == '.')) reason.pop_back();
    return reason;
}

std::vector<std::byte> finish(child& own) {
    int status = 0;
    while (waitpid(own.process, &status, 0) < 0 && errno == EINTR) {
    }
    const std::string start = "cannot import " + own.file.string() + ": ";
    if (!own.trouble.empty()) throw import_error(start + own.trouble + ".");
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        if (signal == SIGXCPU || signal == SIGKILL)
            throw import_error(start + "it takes too long.");
        throw import_error(start + "the importer crashed on it (signal " + std::to_string(signal) +
                           ").");
    }
    if (own.received.empty()) throw import_error(start + "the importer said nothing.");
    if (own.received[0] == sends_reason) throw import_error(start + reason_of(own) + ".");
    own.received.erase(own.received.begin());
    own.received.shrink_to_fit();
    if (const char* fault = find_model_fault(own.received))
        throw import_error(start + "the importer sent a broken block, " + fault + ".");
    return std::move(own.received);
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
    if (fault == "hang")
        for (;;) pause();
    if (fault == "memory") {
        std::vector<std::unique_ptr<std::byte[]>> held;
        for (;;) held.emplace_back(new std::byte[16u << 20]);
    }
}

}  // namespace

std::vector<std::vector<std::byte>> import_models(const std::vector<std::filesystem::path>& files,
                                                  const import_options& options) {
    for (const auto& file : files) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(file, ignored))
            throw import_error("cannot import " + file.string() +
                               ": there is no such file; name the folder of the models with "
                               "--models.");
    }
    std::vector<child> children(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        children[i].file = files[i];
        start(children[i], options);
    }
    receive_all(children, clock::now() + std::chrono::seconds(options.seconds));

    std::vector<std::vector<std::byte>> blocks;
    std::exception_ptr first;
    for (child& own : children) {  // every child is reaped, whatever the others did
        try {
            blocks.push_back(finish(own));
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
