// braid view: a capture, or a program that runs, in the browser.
#include "commands.hpp"

#include "analysis_json.hpp"
#include "braid/profile/viewer_page.hpp"
#include "profile/stream/guard.hpp"
#include "profile/stream/server.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace braid::tool {
namespace {

struct request {
    std::string capture, live;
    std::uint16_t port = 0;
    bool no_browser = false;
};

/// What the user has chosen for it opens the address; whoever has no such thing copies it.
void open_browser(const std::string& url) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    }
    // The browser may live on: it must not hold the server's sockets, nor its blocked signals.
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    std::string program = "xdg-open", address = url;
    char* const words[] = {program.data(), address.data(), nullptr};
    pid_t child = 0;
    const int wrong = posix_spawnp(&child, words[0], &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    if (wrong != 0) fmt::print(stderr, "braid: no browser was opened: {}.\n", std::strerror(wrong));
}

/// Ctrl-C and `kill`, taken by whoever waits for them. Before the server's thread begins, which
/// inherits that they are blocked.
sigset_t block_ends() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    std::signal(SIGCHLD, SIG_IGN);  // of the browser
    return ends;
}

void serve(const request& wanted) {
    {
        // Says what is wrong before a browser is opened for it.
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
            std::fopen(wanted.capture.c_str(), "rb"), &std::fclose);
        char start[8] = {};
        if (file == nullptr || std::filesystem::is_directory(wanted.capture)) {
            throw std::runtime_error(fmt::format("cannot read '{}': {}.", wanted.capture,
                                                 std::strerror(file ? EISDIR : errno)));
        }
        if (std::fread(start, 1, sizeof start, file.get()) != sizeof start ||
            std::memcmp(start, "BRAIDCAP", sizeof start) != 0) {
            throw std::runtime_error(fmt::format("'{}' is no capture of Braid.", wanted.capture));
        }
    }
    // Once, when the page first asks: by the server's thread.
    const auto analysis = [&wanted, text = std::string()]() mutable {
        if (text.empty()) {
            const profile::capture from = open_capture(wanted.capture);
            text = analysis_json(profile::make_history(from));
        }
        return text;
    };
    const sigset_t ends = block_ends();
    const std::string token = profile::make_token();
    profile::server own(
        {{.path = "/", .type = "text/html; charset=utf-8", .bytes = profile::viewer_page()},
         {.path = "/capture.braid",
          .type = "application/octet-stream",
          .file = wanted.capture,
          .guarded = true},
         {.path = "/analysis.json", .type = "application/json", .make = analysis, .guarded = true}},
        nullptr, token, {.port = wanted.port});
    if (const status went = own.start(); !went) throw std::runtime_error(went.text + ".");
    const std::string url = profile::view_url(own.port(), token);
    fmt::print("{} shows {}; Ctrl-C ends it.\n", url, wanted.capture);
    std::fflush(stdout);
    if (!wanted.no_browser) open_browser(url);
    int which = 0;
    sigwait(&ends, &which);
    own.stop();
}

void watch(const request& wanted) {
    if (!profile::is_live_url(wanted.live)) {
        throw std::runtime_error(fmt::format(
            "'{}' is no address of a live view: that is http://127.0.0.1:PORT/#live=TOKEN, as the "
            "program prints it.",
            wanted.live));
    }
    fmt::print("{}\n", wanted.live);
    std::fflush(stdout);
    if (!wanted.no_browser) open_browser(wanted.live);
}

void run(const request& wanted) {
    if (wanted.capture.empty() == wanted.live.empty()) {
        throw std::runtime_error("what is to be shown? Say FILE or --live URL.");
    }
    wanted.live.empty() ? serve(wanted) : watch(wanted);
}

}  // namespace

void add_view(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("view", "A capture, or a program that runs, in the browser");
    const auto wanted = std::make_shared<request>();
    command->add_option("FILE", wanted->capture, "A capture");
    command->add_option("--live", wanted->live, "What a program printed that shows itself")
        ->type_name("URL");
    command->add_option("--port", wanted->port, "Where to serve it; 0: any that is free")
        ->type_name("N");
    command->add_flag("--no-browser", wanted->no_browser, "Print the address only");
    command->callback([wanted] { run(*wanted); });
}

}  // namespace braid::tool
