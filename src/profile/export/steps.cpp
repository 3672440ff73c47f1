// Records of a lane become steps. Whoever writes a file of nested slices cannot write an end twice,
// or an end without its begin, so what a broken capture lacks is made up for here, and marked.
#include "profile/export/steps.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {

bool lane_steps::next(step& to) {
    while (told_ == said_.size()) {
        said_.clear();
        told_ = 0;
        if (at_ < lane_.records.size()) {
            take(lane_.records[at_++]);
        } else if (!finished_) {
            finished_ = true;
            finish();
        } else {
            return false;
        }
    }
    to = said_[told_++];
    return true;
}

void lane_steps::take(const record& r) {
    // Never back, also in a capture that no reader has looked at.
    now_ = std::max(now_, r.time);
    const bool by_system = r.kind == record_kind::switched_out ||
                           r.kind == record_kind::switched_in || r.kind == record_kind::switches;
    // A search has no end of its own: what the thread does next ends it.
    if (!by_system) close_search(r);
    switch (r.kind) {
        case record_kind::started:
        case record_kind::resumed:
            return begin(slice_kind::task, r);
        case record_kind::ended:
        case record_kind::suspended:
            return end(slice_kind::task, r);
        case record_kind::wait_begin:
            return begin(slice_kind::wait, r);
        case record_kind::wait_end:
            return end(slice_kind::wait, r);
        case record_kind::job_started:
            return begin(slice_kind::job, r);
        case record_kind::job_ended:
            return end(slice_kind::job, r);
        case record_kind::scope_begin:
            return begin(slice_kind::scope, r);
        case record_kind::scope_end:
            return end(slice_kind::scope, r);
        case record_kind::parked:
            return begin(slice_kind::parked, r);
        case record_kind::unparked:
            return end(slice_kind::parked, r);
        case record_kind::searching:
            return begin(slice_kind::searching, r);
        case record_kind::switched_out:
            return off_core(r);
        case record_kind::switched_in:
            return on_core(&r);
        case record_kind::counter:
        case record_kind::switches:
            return say(step_kind::counter, {}, &r);
        case record_kind::completed:
            // It cannot be over while it runs: its end was lost.
            close(slice_kind::task, r, nullptr);
            return;
        // What is known of a task is told at its slice, an edge is an arrow, frames have rows.
        case record_kind::edge:
        case record_kind::ready:
        case record_kind::frame_begin:
        case record_kind::frame_end:
            return;
        default:
            return say(step_kind::instant, {}, &r);
    }
}

void lane_steps::finish() {
    now_ = std::max(now_, last_);
    open_.end_all([this](const open_slice& one, bool) { say_end(one, nullptr); });
    if (off_.from != nullptr) on_core(nullptr);
    if (lane_.dropped != 0) say(step_kind::instant, {}, nullptr);
}

void lane_steps::begin(slice_kind kind, const record& r) {
    open_.begin(key_of(kind, r), {&r, slices_++, kind});
    say(step_kind::begin, kind, &r, open_.top().slice);
}

void lane_steps::end(slice_kind kind, const record& r) {
    if (close(kind, r, &r)) return;
    const std::uint32_t slice = slices_++;
    say(step_kind::begin, kind, &r, slice, cut_begin);
    say(step_kind::end, kind, &r, slice, cut_begin);
}

lane_steps::open_key lane_steps::key_of(slice_kind kind, const record& r) {
    switch (kind) {
        case slice_kind::task:
        case slice_kind::wait:
            return {kind, r.task};
        case slice_kind::job:
            return {kind, r.other};
        case slice_kind::scope:
            return {kind, r.aux};
        default:
            return {kind, 0};
    }
}

bool lane_steps::close(slice_kind kind, const record& r, const record* by) {
    return open_.end(key_of(kind, r),
                     [&](const open_slice& one, bool lost) { say_end(one, lost ? nullptr : by); });
}

void lane_steps::close_search(const record& next) {
    if (open_.empty() || open_.top().kind != slice_kind::searching) return;
    open_.end_top(false, [&](const open_slice& one, bool) { say_end(one, &next); });
}

void lane_steps::say_end(const open_slice& one, const record* by) {
    say(step_kind::end, one.kind, by, one.slice, by == nullptr ? cut_end : 0);
}

void lane_steps::off_core(const record& r) {
    if (off_.from != nullptr) on_core(nullptr);
    off_ = {&r, slices_++, slice_kind::off_core};
    say(step_kind::begin, slice_kind::off_core, &r, off_.slice);
}

void lane_steps::on_core(const record* by) {
    if (off_.from == nullptr) {
        off_.slice = slices_++;
        say(step_kind::begin, slice_kind::off_core, by, off_.slice, cut_begin);
        say(step_kind::end, slice_kind::off_core, by, off_.slice, cut_begin);
        return;
    }
    off_.from = nullptr;
    say(step_kind::end, slice_kind::off_core, by, off_.slice, by == nullptr ? cut_end : 0);
}

void lane_steps::say(step_kind kind, slice_kind about, const record* from, std::uint32_t slice,
                     std::uint8_t cut) {
    said_.push_back({now_, from, number_, slice, kind, about, cut});
}

}  // namespace profile
BRAID_NAMESPACE_END
