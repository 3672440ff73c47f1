// What a timeline says about its steps in words.
#include "profile/export/timeline.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

std::string timeline::name_of_type(std::uint32_t number, const char* otherwise) const {
    const bool named = number < capture_.types.size() && !capture_.types[number].name.empty();
    return named ? capture_.types[number].name : otherwise;
}

std::uint32_t timeline::type_of_task(std::uint64_t task) const {
    const task_facts* const known = facts(task);
    return known == nullptr ? 0 : known->type;
}

std::string timeline::label(const step& at) const {
    if (at.from == nullptr) return "records dropped";
    const record& r = *at.from;
    const auto task = [&](std::uint64_t id) { return name_of_type(type_of_task(id), "task"); };
    switch (r.kind) {
        case record_kind::started:
        case record_kind::resumed:
        case record_kind::ended:
        case record_kind::suspended:
            return task(r.task);
        case record_kind::wait_begin:
        case record_kind::wait_end:
            return r.other == 0 ? "wait" : "wait for " + task(r.other);
        case record_kind::job_started:
        case record_kind::job_ended:
            return "second part in " + task(r.task);
        case record_kind::scope_begin:
        case record_kind::scope_end:
            return name_of_type(r.aux, "scope");
        case record_kind::parked:
        case record_kind::unparked:
            return "parked";
        case record_kind::searching:
            return "searching";
        case record_kind::switched_out:
            return (r.flags & switch_preempted) != 0 ? "preempted" : "blocked";
        case record_kind::switched_in:
            return "off core";
        case record_kind::switches:
            return "switches";
        case record_kind::frame_begin:
        case record_kind::frame_end:
            return name_of_type(r.aux, "frame") + " " + std::to_string(r.other);
        case record_kind::counter:
            return name_of_type(r.aux, "counter");
        case record_kind::spawned:
            return "never started: " + task(r.task);
        case record_kind::stolen:
            return "stolen: " + task(r.task);
        case record_kind::cancelled:
            return "cancelled: " + task(r.task);
        case record_kind::event_set:
            return "event set";
        case record_kind::event_taken:
            return "event taken";
        case record_kind::acquired:
            return "acquired " + name_of_type(r.aux, "resource");
        case record_kind::released:
            return "released " + name_of_type(r.aux, "resource");
        case record_kind::deferred:
            return "waits for " + name_of_type(r.aux, "somebody outside");
        case record_kind::settled:
            return "settled: " + name_of_type(r.aux, "work outside");
        case record_kind::forked:
            return "forked";
        case record_kind::joined:
            return "joined";
        default:
            break;
    }
    // From a newer version.
    return "record of kind " + std::to_string(static_cast<unsigned>(r.kind));
}

const record_type* timeline::type(const step& at) const {
    if (at.from == nullptr) return nullptr;
    std::uint32_t number = 0;
    switch (at.from->kind) {
        case record_kind::started:
        case record_kind::resumed:
        case record_kind::ended:
        case record_kind::suspended:
        case record_kind::job_started:
        case record_kind::spawned:
        case record_kind::cancelled:
            number = type_of_task(at.from->task);
            break;
        case record_kind::scope_begin:
        case record_kind::scope_end:
        case record_kind::acquired:
        case record_kind::frame_begin:
        case record_kind::deferred:
            number = at.from->aux;
            break;
        default:
            return nullptr;
    }
    return number != 0 && number < capture_.types.size() ? &capture_.types[number] : nullptr;
}

void timeline::details_of_task(const record& r) {
    const task_facts* const task = facts(r.task);
    if (task == nullptr) return;
    if (task->spawned) details_.push_back({"spawned_at", *task->spawned, {}});
    if (task->ready) details_.push_back({"ready_at", *task->ready, {}});
    if (task->completed) details_.push_back({"completed_at", *task->completed, {}});
    if (task->parent != 0) details_.push_back({"parent", task->parent, {}});
    if (task->released_by != 0) details_.push_back({"released_by", task->released_by, {}});
    if (task->stolen_from != none) details_.push_back({"stolen_from", task->stolen_from, {}});
}

const std::vector<detail>& timeline::details(const step& at) {
    details_.clear();
    if ((at.cut & cut_end) != 0) details_.push_back({"cut", 0, "the end was not recorded"});
    if (at.from == nullptr) {
        const bool lost = at.kind == step_kind::instant && at.row < capture_.lanes.size();
        if (lost) details_.push_back({"count", capture_.lanes[at.row].dropped, {}});
        return details_;
    }
    const record& r = *at.from;
    if (at.kind == step_kind::end) {
        if (at.about != slice_kind::task) return details_;
        if ((r.flags & end_failed) != 0) details_.push_back({"failed", 1, {}});
        if ((r.flags & end_switched) != 0) details_.push_back({"was_off_core", 1, {}});
        return details_;
    }
    if ((at.cut & cut_begin) != 0) details_.push_back({"cut", 0, "the begin was not recorded"});
    if (r.task != 0) details_.push_back({"task", r.task, {}});
    if (at.kind == step_kind::begin && at.about == slice_kind::task) {
        details_of_task(r);
    } else if (r.kind == record_kind::job_started || r.kind == record_kind::stolen) {
        details_.push_back({"taken_from", r.aux, {}});
    }
    switch (r.kind) {
        case record_kind::spawned:
        case record_kind::deferred:
        case record_kind::settled:
            details_.push_back({"parent", r.other, {}});
            break;
        case record_kind::wait_begin:
            details_.push_back({"awaited", r.other, {}});
            break;
        case record_kind::event_set:
        case record_kind::event_taken:
            details_.push_back({"event", r.other, {}});
            break;
        case record_kind::acquired:
        case record_kind::released:
            details_.push_back({"resource", r.other, {}});
            break;
        case record_kind::job_started:
        case record_kind::forked:
        case record_kind::joined:
            details_.push_back({"join", r.other, {}});
            break;
        default:
            break;
    }
    if (r.core != record::no_core) details_.push_back({"core", r.core, {}});
    return details_;
}

}  // namespace profile
BRAID_NAMESPACE_END
