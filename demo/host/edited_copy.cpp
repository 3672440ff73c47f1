#include "edited_copy.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace arena::host {
namespace {

namespace fs = std::filesystem;

// Where nothing can be reloaded, nobody makes such a copy.
#ifndef ARENA_HAS_RELOAD
#define ARENA_GAME_SOURCE ""
#define ARENA_COMPILE_COMMANDS ""
#define ARENA_COMPILER_LAUNCHER ""
#define ARENA_LINK_COMMAND ""
#define ARENA_RENDER_LIBRARY ""
#endif

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string() + ".");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

std::string quoted(const fs::path& path) {
    return fmt::format("'{}'", replace_all(path.string(), "'", "'\\''"));
}

/// Runs it in that folder; says what it printed, or "" after success.
std::string run(const std::string& command, const fs::path& in, const fs::path& log) {
    const std::string line = fmt::format("cd {} && {} >{} 2>&1", quoted(in), command, quoted(log));
    return std::system(line.c_str()) == 0 ? "" : read(log);
}

/// How the build compiles one source of the module.
struct compile_command {
    std::string source;  // relative to the game's folder
    std::string folder, command, object;
};

std::vector<compile_command> commands_of_the_build() {
    std::vector<compile_command> found;
    const fs::path game = ARENA_GAME_SOURCE;
    for (const auto& entry : nlohmann::json::parse(read(ARENA_COMPILE_COMMANDS))) {
        const std::string command = entry.at("command");
        const std::size_t object = command.find(" -o ") + 4, end = command.find(" -c ");
        if (end == std::string::npos || command.find("/arena_game.dir/") > end) continue;
        const fs::path source = entry.at("file").get<std::string>();
        found.push_back({source.lexically_relative(game).string(), entry.at("directory"),
                         ARENA_COMPILER_LAUNCHER + command, command.substr(object, end - object)});
    }
    if (found.empty())
        throw std::runtime_error("there are no commands for the game in " ARENA_COMPILE_COMMANDS
                                 "; configure the build anew.");
    return found;
}

}  // namespace

edited_copy::edited_copy(const fs::path& folder)
    : folder_(fs::absolute(folder)), source_(folder_ / "game"), objects_(folder_ / "objects") {
    for (const fs::path& old : {source_, objects_}) fs::remove_all(old);
    fs::create_directories(objects_);
    fs::copy(ARENA_GAME_SOURCE, source_, fs::copy_options::recursive);
}

void edited_copy::replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read(source_ / file);
    const std::size_t at = text.find(from);
    if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
        throw std::runtime_error(fmt::format("'{}' does not stand in {} once.", from, file));
    text.replace(at, from.size(), to);
    if (!(std::ofstream(source_ / file, std::ios::binary) << text).flush())
        throw std::runtime_error("cannot write " + (source_ / file).string() + ".");
    if (fs::path(file).extension() == ".cpp") {
        edited_.insert(file);
    } else {
        all_ = true;
    }
}

fs::path edited_copy::build(const std::string& name) {
    compile();
    std::string command = ARENA_LINK_COMMAND;
    for (const auto& object : fs::directory_iterator(objects_))
        if (object.path().extension() == ".o") command += fmt::format(" {}", quoted(object.path()));
    const fs::path module = folder_ / name;
    command += fmt::format(" {} -o {}", quoted(ARENA_RENDER_LIBRARY), quoted(module));
    if (const std::string fault = run(command, folder_, objects_ / "link.log"); !fault.empty())
        throw std::runtime_error("the edited game cannot be linked:\n" + fault);
    return module;
}

void edited_copy::compile() {
    std::vector<std::future<std::string>> faults;
    for (const compile_command& one : commands_of_the_build()) {
        if (!all_ && !edited_.contains(one.source)) continue;
        const std::string object = replace_all(one.source, "/", "_") + ".o";
        // Warnings are for who writes the source.
        const std::string command =
            replace_all(replace_all(one.command, ARENA_GAME_SOURCE, source_.string()), one.object,
                        (objects_ / object).string()) +
            " -w";
        faults.push_back(
            std::async(std::launch::async, run, command, one.folder, objects_ / (object + ".log")));
    }
    std::string all;
    for (auto& fault : faults) all += fault.get();
    if (!all.empty()) throw std::runtime_error("the edited game cannot be compiled:\n" + all);
    all_ = false;
    edited_.clear();
}

}  // namespace arena::host
