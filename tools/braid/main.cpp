// braid: looks at captures.
#include "commands.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace braid::tool {

profile::capture open_capture(const std::string& path) {
    const bool watched = isatty(fileno(stderr)) != 0;
    profile::capture read;
    const status went = profile::read_capture(path, read, [&](double share) {
        if (watched) fmt::print(stderr, "\rreading {} {:3.0f} %", path, share * 100);
    });
    if (watched) fmt::print(stderr, "\r\x1b[K");
    if (!went) throw std::runtime_error(went.text + ".");
    if (!read.whole) {
        fmt::print(stderr, "braid: '{}' ends in the middle; what came before is shown.\n", path);
    }
    return read;
}

namespace {

/// CLI11 says of a word that is none, and of an option, only that a subcommand is missing.
void check_command(const CLI::App& app, int count, const char* const* arguments) {
    const std::string word = count > 1 ? arguments[1] : "";
    if (word.starts_with('-')) {
        if (app.get_option_no_throw(word) != nullptr) return;
        throw std::runtime_error(fmt::format(
            "'{}' is no option of braid itself; the command comes first. Try braid --help.", word));
    }
    std::string names;
    const auto all = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* one : all) {
        if (one->get_name() == word) return;
        names += names.empty() ? "" : one == all.back() ? " and " : ", ";
        names += one->get_name();
    }
    const std::string wrong =
        count > 1 ? fmt::format("there is no command '{}'", word) : "no command was said";
    throw std::runtime_error(fmt::format("{}; there are {}.", wrong, names));
}

}  // namespace
}  // namespace braid::tool

int main(int count, char** arguments) {
    CLI::App app("Looks at what a program on Braid did: captures written with BRAID_CAPTURE=FILE.",
                 "braid");
    app.require_subcommand(1);
    app.fallthrough();
    braid::tool::add_export(app);
    braid::tool::add_stats(app);
    braid::tool::add_report(app);
    braid::tool::add_what_if(app);
    braid::tool::add_diff(app);
#if defined(BRAID_HAS_STREAM)
    braid::tool::add_view(app);
#endif
#if defined(BRAID_HAS_RELOAD)
    braid::tool::add_reload(app);
#endif
    try {
        braid::tool::check_command(app, count, arguments);
        app.parse(count, arguments);
        return 0;
    } catch (const braid::tool::exit_code& code) {
        return code.value;
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "braid: {}. Try braid --help.\n", error.what());
    } catch (const std::exception& error) {
        fmt::print(stderr, "braid: {}\n", error.what());
    }
    return 2;
}
