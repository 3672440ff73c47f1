#pragma once
// Which of the ready nodes goes first, and what that does to the end of a graph's run: 200 skewed
// graphs in virtual time, on 2 to 16 workers, and 20 of them on real threads.

#include "driver.hpp"

#include <cstdint>
#include <vector>

namespace bench::makespan {

/// Nodes in an order in which each comes after its predecessors. Durations in µs.
struct member {
    std::vector<double> takes;
    std::vector<std::vector<unsigned>> after;  // successors
    std::size_t size() const { return takes.size(); }
};

inline constexpr unsigned members = 200;
/// Fixed by the number: a long chain beside wide cheap work; a fork whose long branch is found
/// last; random layers whose durations have a heavy tail.
member make_member(unsigned number);

enum class order : std::uint8_t {
    fifo,          // as they become ready
    fixed_levels,  // three levels, by the number of nodes on the longest way behind
    critical_path  // by the time of the longest way behind, as averages of earlier runs say
};
/// The end of the run when `workers` of them take the first ready node whenever they are free.
double simulate(const member& m, unsigned workers, order by);
/// No schedule ends before: the longest way, or all work over all workers.
double lower_bound(const member& m, unsigned workers);

/// Rows graph.makespan.*
void add(suite& s);
void add_real(suite& s);

}  // namespace bench::makespan
