#pragma once
// All that a report says about a capture, in one go.

#include "profile/analysis/diagnosis.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

struct frame_report {
    std::size_t frame = 0;  // index
    std::optional<diagnosis> what;
    std::string sentence;  // of the diagnosis, or that there is nothing to say
    std::vector<path_step> path;
    std::vector<task_slack> slack;  // where it was asked for
};

class reporter {
public:
    /// The history must outlive it.
    explicit reporter(const history& from) : t_(from), doctor_(from) {}

    frame_report frame(std::size_t index, bool with_slack) const;
    /// The frames that took longest, at most so many.
    std::vector<std::size_t> longest(std::size_t count) const;
    /// The types with the longest total, each twice as fast.
    std::vector<machine> faster_types(std::size_t count) const;

private:
    const history& t_;
    diagnostician doctor_;
};

/// The numbers of cores that a report asks about.
std::vector<machine> machines_with(std::span<const unsigned> cores);

}  // namespace profile
BRAID_NAMESPACE_END
