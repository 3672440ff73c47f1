#pragma once
// A trial, in the child: what it does at the moment, for the handler of its end.

#include "braid/core/scheduler.hpp"
#include "braid/reload/trial.hpp"
#include "reload/trial/trial_message.hpp"

#include <functional>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

using trial_function = std::function<void(trial&)>;

struct trial_run {
    trial_run(platform::child_process& host, const trial_options& wish);

    /// From here on whatever ends the process is reported. `files`: of the code that is tried.
    void begin(std::span<const std::string> files);
    void enter(trial_step step);
    /// Calls the function for each frame. False: it has failed, or thrown an exception.
    bool call(const trial_function& frame);
    void fail(trial_end how, std::string_view why);
    bool failed() const { return last.end != trial_end::open; }
    [[noreturn]] void pass();
    void crashed(const platform::crash& what);

    platform::child_process& to;
    const trial_options options;
    std::span<const std::string> tried;
    scheduler tasks;
    trial_message last;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
