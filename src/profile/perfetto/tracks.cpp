// Numbers of rows, processes and threads.
#include "profile/perfetto/tracks.hpp"

#include <charconv>
#include <limits>
#include <map>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

/// Perfetto's numbers of processes and threads have 31 bits; 0 is the idle thread.
std::int32_t number_that_fits(std::uint64_t number) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
    return number <= most ? static_cast<std::int32_t>(number) : 0;
}

}  // namespace

track_numbers::track_numbers(const capture& of) : lanes_(of.lanes.size()) {
    std::map<std::uint64_t, int> uses;
    for (const lane& l : of.lanes) ++uses[l.thread];
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const lane& l = of.lanes[i];
        // Two lanes with one number would become one row.
        if (uses[l.thread] == 1) lanes_[i].thread = number_that_fits(l.thread);
        // On Linux the main thread has the number of the process.
        if (l.kind == lane_kind::main && process_ == 0) process_ = lanes_[i].thread;
        look_at_switches(l, lanes_[i]);
    }
    for (const auto& [key, value] : of.info) {
        if (key != "pid") continue;
        std::uint64_t number = 0;
        std::from_chars(value.data(), value.data() + value.size(), number);
        if (number_that_fits(number) != 0) process_ = number_that_fits(number);
    }
    if (process_ == 0) process_ = 1;
}

void track_numbers::look_at_switches(const lane& l, lane_facts& to) const {
    bool any = false;
    bool cores_known = true;
    for (const record& r : l.records) {
        const bool out = r.kind == record_kind::switched_out;
        const bool in = r.kind == record_kind::switched_in;
        if (!any && !in && to.first_core == record::no_core) to.first_core = r.core;
        if (!out && !in) continue;
        any = true;
        cores_known = cores_known && (out || r.core != record::no_core);
    }
    to.states = any && cores_known && to.thread != 0;
    to.off_core_row = any && !to.states;
}

}  // namespace profile
BRAID_NAMESPACE_END
