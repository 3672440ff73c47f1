#pragma once
// What the child of a trial says: plain data, of which the last one counts.

#include "braid/base/time.hpp"
#include "reload/platform/platform.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

enum class trial_step : std::uint8_t { load, state, reloaded, frame, invariants };
enum class trial_end : std::uint8_t {
    open,
    passed,
    failed,
    threw,
    crashed,
    stale_call,
    late,
    called_exit,
    no_memory
};

struct trial_message {
    trial_end end = trial_end::open;
    trial_step step = trial_step::load;
    unsigned frame = 0;
    int number = 0;             // a signal, or an exit code
    std::uint64_t address = 0;  // that a signal was about
    std::uint64_t place = 0;    // in `file`, where the thread stood; 0: unknown
    char file[256] = {};
    char text[192] = {};  // why it failed; or the build whose code was called
};
static_assert(sizeof(trial_message) <= platform::child_process::most_message);

/// Half a sentence for one that did not pass, with function and line. Reads the debug information
/// of the file.
std::string text_of(const trial_message& last, const platform::process_end& how,
                    nanoseconds within);

}  // namespace reload::detail
BRAID_NAMESPACE_END
