#pragma once
// A trial that goes on in a child, seen from the program.

#include "reload/trial/trial_message.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct module_state;

/// The copies that a child tries, by modules.
struct tried_code {
    module_state* of;
    std::string file;
};

struct trial_verdict {
    std::vector<tried_code> of;
    trial_message last;
    platform::process_end how;
    nanoseconds within{0};
};

struct running_trial {
    std::vector<tried_code> of;
    platform::child_process child;
    nanoseconds within{0};
    std::int64_t end_ns = 0;  // then it is killed
    bool is_late = false;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
