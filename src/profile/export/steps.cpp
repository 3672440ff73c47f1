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
    if (!by_system && !open_.empty() && open_.back().kind == slice_kind::searching) {
        close_top(&r);
    }
    switch (r.kind) {
        case record_kind::started:
            return begin(slice_kind::task, r);
        case record_kind::ended:
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
            if (uncover(key_of(slice_kind::task, r))) close_top(nullptr);
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
    while (!open_.empty()) close_top(nullptr);
    if (off_.from != nullptr) on_core(nullptr);
    if (lane_.dropped != 0) say(step_kind::instant, {}, nullptr);
}

void lane_steps::begin(slice_kind kind, const record& r) {
    open_.push_back({&r, slices_++, kind});
    ++open_count_[key_of(kind, r)];
    say(step_kind::begin, kind, &r, open_.back().slice);
}

void lane_steps::end(slice_kind kind, const record& r) {
    if (uncover(key_of(kind, r))) return close_top(&r);
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

bool lane_steps::uncover(const open_key& key) {
    if (!open_count_.contains(key)) return false;
    while (key_of(open_.back().kind, *open_.back().from) != key) close_top(nullptr);
    return true;
}

void lane_steps::close_top(const record* by) {
    const open_slice one = open_.back();
    open_.pop_back();
    const auto count = open_count_.find(key_of(one.kind, *one.from));
    if (--count->second == 0) open_count_.erase(count);
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
