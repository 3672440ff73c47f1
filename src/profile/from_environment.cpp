// BRAID_CAPTURE=FILE records the first scheduler of the program that has no observer of its own.
#include "braid/core/scheduler.hpp"
#include "braid/profile/recorder.hpp"

#include <cstdlib>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

void say(const scheduler_options& of, log_level level, const std::string& text) {
    if (of.log.function == nullptr) return;
    of.log.function(of.log.user, level, (std::string(of.name) + ": " + text).c_str());
}

/// Never destroyed: threads may run until the very end of the program.
recorder* from_environment = nullptr;

observer* start_once(const scheduler_options& of) {
    static const std::string path = std::getenv("BRAID_CAPTURE");
    if (from_environment != nullptr) {
        say(of, log_level::warning,
            "BRAID_CAPTURE records the first scheduler of a program; this one is not recorded");
        return nullptr;
    }
    from_environment = new recorder;
    const status went = from_environment->start(path);
    if (!went) {
        say(of, log_level::error, "BRAID_CAPTURE: " + went.text);
        return nullptr;
    }
    // What is written then can no longer fail in a way that somebody hears of.
    std::atexit([] { static_cast<void>(from_environment->stop()); });
    return from_environment;
}

[[maybe_unused]] const bool asked = [] {
    const char* const path = std::getenv("BRAID_CAPTURE");
    if (path == nullptr || *path == '\0') return false;
    set_observer_source(&start_once);
    return true;
}();

}  // namespace
}  // namespace profile
BRAID_NAMESPACE_END
