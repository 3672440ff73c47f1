#include "profile/device_lanes.hpp"

#include <algorithm>
#include <limits>

BRAID_NAMESPACE_BEGIN
namespace profile {

bool device_run_parts::take(const record& part, device_run& to) {
    const auto ns = [](std::uint64_t bits) { return static_cast<std::int64_t>(bits); };
    switch (static_cast<external_part>(part.flags)) {
        case external_part::begins:
            made_ = {.work = part.task, .begin = ns(part.other), .type = part.aux};
            begun_ = true;
            return false;
        case external_part::with_transfers:
            made_.arrived = ns(part.task);
            made_.left = ns(part.other);
            return false;
        case external_part::with_error:
            made_.clock_error = ns(part.other);
            return false;
        case external_part::ends:
            break;
    }
    made_.end = ns(part.other);
    made_.processor = static_cast<std::uint32_t>(part.task >> 1);
    made_.processor_type = part.aux;
    made_.lost = (part.task & 1) != 0;
    to = made_;
    return std::exchange(begun_, false);
}

void device_lanes::forget() {
    runs_.clear();
    rows_.clear();
}

/// The first that is free at that time; one more where none is; the last, if there are too many.
device_row& device_lanes::row_for(const device_run& run, std::uint64_t begin, type_table& types) {
    device_row* last = nullptr;
    std::size_t count = 0;
    for (device_row& r : rows_) {
        if (r.processor != run.processor) continue;
        if (r.free_from <= begin) return r;
        last = &r;
        ++count;
    }
    if (count == most_rows) return *last;
    device_row r;
    r.processor = run.processor;
    r.about.name = types.at(run.processor_type).name;
    if (count != 0) r.about.name.append(" ").append(std::to_string(count + 1));
    r.about.kind = lane_kind::device;
    r.about.seat = run.processor;
    r.about.switches = switch_level::none;
    return rows_.emplace_back(std::move(r));
}

std::span<device_row> device_lanes::lay(const tick_clock& clock, type_table& types,
                                        std::uint32_t transfer) {
    for (device_row& r : rows_) {
        r.taken.clear();
        r.dropped = 0;
    }
    std::sort(runs_.begin(), runs_.end(), [](const device_run& a, const device_run& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    for (const device_run& run : runs_) {
        const std::uint64_t begin = clock.ns_since_begin(run.begin);
        const std::uint64_t end = std::max(begin, clock.ns_since_begin(run.end));
        device_row& r = row_for(run, begin, types);
        if (r.free_from > begin) {
            ++r.dropped;
            continue;
        }
        const auto put = [&](std::uint64_t time, record_kind kind, std::uint64_t task,
                             std::uint32_t type, std::uint8_t flags = 0) {
            r.taken.push_back({time, task, 0, type, record::no_core, kind, flags});
        };
        // Too large for the file means that nothing is known.
        const auto error = static_cast<std::uint32_t>(
            std::min(run.clock_error, std::int64_t{std::numeric_limits<std::uint32_t>::max()}));
        if (error > r.about.clock_error) {
            r.about.clock_error = error;
            r.is_told = false;
        }
        put(begin, record_kind::started, run.work, run.type);
        const auto put_transfer = [&](std::uint64_t from, std::uint64_t to) {
            if (from == to) return;
            put(from, record_kind::scope_begin, 0, transfer);
            put(to, record_kind::scope_end, 0, transfer);
        };
        if (run.arrived != 0) {
            const std::uint64_t here = std::clamp(clock.ns_since_begin(run.arrived), begin, end);
            put_transfer(begin, here);
            put_transfer(std::clamp(clock.ns_since_begin(run.left), here, end), end);
        }
        const auto flags = static_cast<std::uint8_t>(run.lost ? end_failed : 0);
        put(end, record_kind::ended, run.work, 0, flags);
        r.free_from = end;
    }
    runs_.clear();
    return rows_;
}

}  // namespace profile
BRAID_NAMESPACE_END
