#pragma once
// What happened on one lane, said so that a format of nested slices can hold it: every begin has an
// end, in the right order, also where records are missing.

#include "braid/profile/capture.hpp"
#include "profile/nest.hpp"

#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// `off_core` slices have a row of their own beside that of the lane, frames have rows by frame.
enum class slice_kind : std::uint8_t {
    // ---- scripts/kinds.py writes this
    // From `started` to `ended`.
    task = 0,
    // The second part of a join, from `job_started` to `job_ended`.
    job = 1,
    // From `scope_begin` to `scope_end`.
    scope = 2,
    // From `wait_begin` to `wait_end`.
    wait = 3,
    // Until the lane does something else.
    searching = 4,
    // From `parked` to `unparked`.
    parked = 5,
    // From `switched_out` to `switched_in`, on a row beside that of the lane.
    off_core = 7,
    // From `frame_begin` to `frame_end`, on rows by frame.
    frame = 8,
    // ---- as far as here
};
enum class step_kind : std::uint8_t { begin, end, instant, counter };
enum cut_flags : std::uint8_t {
    cut_begin = 1,  // the begin was not recorded: the slice has no length, at its end
    cut_end = 2,    // the end was not recorded: it ends where it must have ended at the latest
};

struct step {
    std::uint64_t time = 0;
    const record* from = nullptr;  // what says so; null: an end that nothing says, or lost records
    std::uint32_t row = 0;         // the lane; for frames the row among those of frames
    std::uint32_t slice = 0;       // the same at a begin and its end, different within a row
    step_kind kind = {};
    slice_kind about = {};  // begin and end only
    std::uint8_t cut = 0;   // cut_begin at begin and end, cut_end at the end
};

/// The steps of one lane, one after the other, in order of time.
class lane_steps {
public:
    /// What is open at the end ends at `last`, or with the last record when that is later.
    lane_steps(const lane& of, std::uint32_t number, std::uint64_t last)
        : lane_(of), number_(number), last_(last) {}

    /// False: there are no more.
    bool next(step& to);
    /// How many records are behind it.
    std::size_t taken() const { return at_; }

private:
    struct open_slice {
        const record* from;
        std::uint32_t slice;
        slice_kind kind;
    };

    void take(const record& r);
    void finish();
    void begin(slice_kind kind, const record& r);
    void end(slice_kind kind, const record& r);
    /// Ends the innermost slice of that key, and what lies on top of it. False: none is open.
    bool close(slice_kind kind, const record& r, const record* by);
    void close_search(const record& next);
    void say_end(const open_slice& one, const record* by);
    void off_core(const record& r);
    void on_core(const record* by);
    void say(step_kind kind, slice_kind about, const record* from, std::uint32_t slice = 0,
             std::uint8_t cut = 0);
    using open_key = std::pair<slice_kind, std::uint64_t>;
    static open_key key_of(slice_kind kind, const record& r);

    const lane& lane_;
    std::uint32_t number_;
    std::uint64_t last_;
    std::uint64_t now_ = 0;
    std::size_t at_ = 0;
    bool finished_ = false;
    std::uint32_t slices_ = 0;
    nest<open_key, open_slice> open_;
    open_slice off_ = {nullptr, 0, slice_kind::off_core};
    std::vector<step> said_;  // by the record that was taken last
    std::size_t told_ = 0;
};

}  // namespace profile
BRAID_NAMESPACE_END
