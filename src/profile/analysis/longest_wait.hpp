#pragma once
// What a program without frames waited for longest.

#include "profile/analysis/critical_path.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// A wait, looked at like a frame.
struct wait_report {
    frame_row wait;
    std::vector<path_step> path;  // what had to go on until it ended
    std::string sentence;
};

/// The longest wait of code outside of tasks; where none of it waits, of a task. Nothing: none of
/// these either.
std::optional<wait_report> longest_wait(const history& from);

}  // namespace profile
BRAID_NAMESPACE_END
