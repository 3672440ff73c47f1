#pragma once
// The commands of the program, one a file. Each add_...() describes its options to the command line
// and says what runs when it was chosen.

#include "braid/profile/capture.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace braid::tool {

void add_export(CLI::App& app);
void add_stats(CLI::App& app);
void add_report(CLI::App& app);
void add_what_if(CLI::App& app);
void add_diff(CLI::App& app);
void add_view(CLI::App& app);
void add_reload(CLI::App& app);

/// Thrown by a command that has said everything: how the program ends.
struct exit_code {
    explicit exit_code(int number) : value(number) {}
    int value;
};

/// The capture in that file, with progress on a terminal. Throws with the sentence to show.
profile::capture open_capture(const std::string& path);

}  // namespace braid::tool
