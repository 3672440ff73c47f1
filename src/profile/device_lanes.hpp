#pragma once
// What processors did that are none of our threads, as lanes. Runs of one processor may overlap, so
// it has as many rows as it did at once, and each row is a lane.

#include "braid/core/observer.hpp"
#include "profile/capture_writer.hpp"
#include "profile/tick_clock.hpp"
#include "profile/type_table.hpp"

#include <span>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// In the ring: a run takes two to four places, one after the other; see device_run_parts.
inline constexpr record_kind ring_external{0xfe};

enum class external_part : std::uint8_t { begins, with_transfers, with_error, ends };

/// Writes a run into the ring of the thread that hears of it. `push(record)` writes one place;
/// false: there is no room, and no further place of the run must follow.
template <class Push>
void push_external(const external_run& done, type_cache& types, Push&& push) {
    const auto put = [&](external_part part, std::uint64_t task, std::int64_t time,
                         std::uint32_t aux) {
        record r;
        r.task = task;
        r.other = static_cast<std::uint64_t>(time);
        r.aux = aux;
        r.kind = ring_external;
        r.flags = static_cast<std::uint8_t>(part);
        return push(r);
    };
    if (!put(external_part::begins, done.work.value, done.begin,
             types.number_of(done.name, done.where))) {
        return;
    }
    const bool with_transfers = done.arrived != 0 && done.left != 0;
    if (with_transfers && !put(external_part::with_transfers,
                               static_cast<std::uint64_t>(done.arrived), done.left, 0)) {
        return;
    }
    if (done.clock_error != 0 && !put(external_part::with_error, 0, done.clock_error, 0)) return;
    put(external_part::ends, std::uint64_t{done.processor} << 1 | (done.lost ? 1 : 0), done.end,
        types.number_of(done.processor_name));
}

/// A run, as it comes out of a ring. Times are those of CLOCK_MONOTONIC.
struct device_run {
    std::uint64_t work = 0;
    std::int64_t begin = 0, arrived = 0, left = 0, end = 0, clock_error = 0;
    std::uint32_t type = 0, processor = 0, processor_type = 0;
    bool lost = false;
};

/// Puts the places of one thread's ring together. A run of which the ring has dropped one is none.
class device_run_parts {
public:
    /// True: `to` is a whole run.
    bool take(const record& part, device_run& to);

private:
    device_run made_;
    bool begun_ = false;
};

/// A lane of a processor, as far as it was not written yet.
struct device_row {
    lane about;  // without records
    std::uint32_t processor = 0;
    std::uint32_t number = lane::no_seat;  // in the capture; no_seat: it has not been told of
    bool is_told = false;                  // as `about` is now
    std::uint64_t free_from = 0;           // ns
    std::vector<record> taken;
    std::uint64_t dropped = 0;
};

/// The recorder's thread.
class device_lanes {
public:
    /// More at once than that are dropped, and counted.
    static constexpr std::size_t most_rows = 64;  // of a processor

    void forget();
    void add(const device_run& done) { runs_.push_back(done); }
    bool has_runs() const { return !runs_.empty(); }
    /// Puts what was added since into rows. `transfer` is the type of what comes before kernels and
    /// after them.
    std::span<device_row> lay(const tick_clock& clock, type_table& types, std::uint32_t transfer);

private:
    device_row& row_for(const device_run& run, std::uint64_t begin, type_table& types);

    std::vector<device_run> runs_;
    std::vector<device_row> rows_;
};

}  // namespace profile
BRAID_NAMESPACE_END
