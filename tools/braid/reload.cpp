// braid reload: modules that are loaded while a program runs.
#include "braid/reload/plan.hpp"
#include "braid/reload/publish.hpp"

#include "commands.hpp"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>

namespace braid::tool {
namespace {

void publish(const std::string& staged, const std::string& live) {
    if (const status went = reload::publish(staged, live); !went) {
        throw std::runtime_error(went.text);
    }
}

void check(const std::string& path) {
    const reload::check_result found = reload::check_file(path);
    if (!found.readable) throw std::runtime_error(found.readable.text);
    for (const std::string& one : found.missing) fmt::print("{}\n", one);
    for (const std::string& one : found.exports) fmt::print("exports {}\n", one);
    if (found.missing.empty()) {
        fmt::print("'{}' can be reloaded.\n", path);
        return;
    }
    throw exit_code(1);
}

void plan(const std::string& before, const std::string& after, const std::string& type) {
    const reload::plan_result found = reload::plan_files(before, after, type);
    if (!found.readable) throw std::runtime_error(found.readable.text);
    fmt::print("{}", found.text);
    if (found.refused) throw exit_code(1);
}

}  // namespace

void add_reload(CLI::App& app) {
    CLI::App* command = app.add_subcommand("reload", "Modules that programs load while they run");
    command->require_subcommand(1);

    CLI::App* put = command->add_subcommand("publish", "Checks, stamps and puts one in place");
    const auto staged = std::make_shared<std::string>(), live = std::make_shared<std::string>();
    put->add_option("STAGED", *staged, "What was linked")->required();
    put->add_option("LIVE", *live, "Where hosts look for it")->required();
    put->callback([staged, live] { publish(*staged, *live); });

    CLI::App* look = command->add_subcommand("check", "Says which flags one was built without");
    const auto path = std::make_shared<std::string>();
    look->add_option("FILE", *path, "A module")->required();
    look->callback([path] { check(*path); });

    CLI::App* compare = command->add_subcommand("plan", "Says how state goes from one to the next");
    const auto before = std::make_shared<std::string>(), after = std::make_shared<std::string>(),
               type = std::make_shared<std::string>();
    compare->add_option("OLD", *before, "The module that runs")->required();
    compare->add_option("NEW", *after, "The one that is to replace it")->required();
    compare->add_option("TYPE", *type, "Only this type, and what is reached from it");
    compare->callback([before, after, type] { plan(*before, *after, *type); });
}

}  // namespace braid::tool
