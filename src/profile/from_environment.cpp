// BRAID_CAPTURE=FILE records the first scheduler of the program that has no observer of its own.
#include "base/platform/platform.hpp"
#include "braid/core/scheduler.hpp"
#include "braid/profile/recorder.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

/// To who set the variable: that is asking for an answer, also from a program without handlers.
void say(const std::string& text) {
    const std::string line = "braid: BRAID_CAPTURE: " + text + ".\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

char path[4096];
std::mutex choosing;
/// Never destroyed: threads may run until the very end of the program.
recorder* from_environment = nullptr;
std::uint32_t recorded_process = 0;

void end_capture() {
    // A child of a fork has none of the threads, and the file is its parent's.
    if (platform::process_id() != recorded_process) return;
    const status ended = from_environment->stop();
    if (!ended) say(ended.text);
    const recorder::counts all = from_environment->statistics();
    if (all.dropped == 0) return;
    say(std::to_string(all.dropped) + " of " + std::to_string(all.records + all.dropped) +
        " records had no room");
}

observer* start_once(const scheduler_options& of) {
    const std::lock_guard lock(choosing);
    if (from_environment != nullptr) {
        say(std::string("the first scheduler is recorded, and '") + of.name + "' is not");
        return nullptr;
    }
    from_environment = new recorder;
    const status went = from_environment->start(path);
    if (!went) {
        say(went.text);
        return nullptr;
    }
    recorded_process = platform::process_id();
    std::atexit(&end_capture);
    return from_environment;
}

[[maybe_unused]] const bool asked = [] {
    if (!platform::take_environment("BRAID_CAPTURE", path, sizeof path)) return false;
    set_observer_source(&start_once);
    return true;
}();

}  // namespace
}  // namespace profile
BRAID_NAMESPACE_END
