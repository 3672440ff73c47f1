// Follows one lane after the other through its records. What is on top of the lane's thread, and
// whether it waits, is a stack; what the thread does besides is one of few states.
#include "profile/analysis/history_parts.hpp"
#include "profile/nest.hpp"

#include <algorithm>
#include <map>
#include <tuple>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

/// What lanes tell each other: ends of waits look for it once all lanes are read.
struct exchange {
    std::vector<source> events, forks, jobs;  // `jobs`: body and its end
    struct open_question {
        std::uint32_t mark;  // a wait's end
        std::uint64_t event = 0, join = 0;
    };
    std::vector<open_question> questions;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<frame_row>> frames;
};

class lane_walk {
public:
    lane_walk(history& to, exchange& with, std::uint32_t lane)
        : to_(to), with_(with), lane_(lane), row_(to.lanes[lane]) {}
    void run(const std::vector<std::uint32_t>& tasks);

private:
    struct open_body {
        std::uint32_t body;
        bool waits = false;
        std::uint64_t taken = 0;  // the event that the wait has taken
    };
    void begin_lane(const std::vector<record>& records);
    void account(std::uint64_t until);
    void note_core(std::uint16_t core);
    void show();
    lane_state state() const;
    void take(const record& r, std::uint32_t task);
    void take_life(const record& r, std::uint32_t task);
    void take_wait(const record& r);
    void take_thread(const record& r);
    void push(const record& r, std::uint32_t task, body_kind kind);
    void end_body(const open_body& one, bool lost);
    void close(body_kind kind, std::uint64_t key);
    void forget_lost_bodies();
    std::uint32_t add_mark(mark_kind kind, std::uint32_t task);
    void answer(const record& r);

    open_body& top() { return stack_.top(); }
    const open_body& top() const { return stack_.top(); }
    bool at_rest() const { return stack_.size() == 1; }

    history& to_;
    exchange& with_;
    const std::uint32_t lane_;
    lane_row& row_;
    nest<std::pair<body_kind, std::uint64_t>, open_body> stack_;  // by task or join
    std::uint64_t now_ = 0, before_ = 0;  // times of this record and of the one before
    lane_state idle_ = lane_state::absent;
    bool parked_ = false, out_ = false, looking_ = false;
    bool by_itself_ = true;  // it is out because it sleeps
    std::uint16_t out_core_ = record::no_core;
    std::uint32_t last_wait_end_ = none;
};

/// What the thread did before its first record follows from that in some cases.
lane_state before_first(const record& r) {
    switch (r.kind) {
        case record_kind::unparked:
            return lane_state::parked;
        case record_kind::ended:
        case record_kind::job_ended:
            return lane_state::run;
        case record_kind::wait_begin:
            return r.task != 0 ? lane_state::run : lane_state::outside;
        default:
            return lane_state::absent;
    }
}

void lane_walk::begin_lane(const std::vector<record>& records) {
    const lane& from = to_.from->lanes[lane_];
    row_.kind = from.kind;
    // Of the threads of no kind only the one that serves timers has a seat.
    const bool serves_timers = row_.kind == lane_kind::other && from.seat != lane::no_seat;
    row_.of_scheduler = is_worker(row_.kind) || row_.kind == lane_kind::background ||
                        row_.kind == lane_kind::device || serves_timers;
    row_.first_body = static_cast<std::uint32_t>(to_.bodies.size());
    row_.root = row_.first_body;
    body_row root;
    root.lane = lane_;
    root.open = true;
    to_.bodies.push_back(root);
    stack_.begin({body_kind::root, 0}, {row_.root});
    if (records.empty()) {
        // Whoever does anything says so, sooner or later.
        parked_ = row_.of_scheduler;
        return;
    }
    idle_ = before_first(records[0]);
    if (!row_.of_scheduler) idle_ = lane_state::outside;
    if (serves_timers) idle_ = lane_state::runtime;
    parked_ = records[0].kind == record_kind::unparked;
    out_ = records[0].kind == record_kind::switched_in;
}

lane_state lane_walk::state() const {
    if (row_.kind == lane_kind::device && at_rest()) return lane_state::parked;
    if (parked_) return lane_state::parked;
    // Its `parked` may be from before the capture, and threads of the program sleep without one.
    if (out_ && by_itself_ && (at_rest() || top().waits)) return lane_state::parked;
    if (out_) return lane_state::preempted;
    if (looking_) return lane_state::search;
    if (at_rest() && !top().waits && !row_.of_scheduler) return lane_state::outside;
    if (at_rest() || top().waits) return idle_;
    return lane_state::run;
}

/// The time since the last record belongs to the body on top, unless that waits.
void lane_walk::account(std::uint64_t until) {
    if (until > now_ && !top().waits) {
        body_row& body = to_.bodies[top().body];
        const lane_state s = state();
        if (s == lane_state::run || s == lane_state::outside) body.running += until - now_;
        if (s == lane_state::preempted && !looking_) {
            body.preempted += until - now_;
            row_.absences.push_back({{now_, until}, top().body, out_core_});
        }
    }
    before_ = now_;
    now_ = std::max(now_, until);
}

void lane_walk::note_core(std::uint16_t core) {
    if (core == record::no_core) return;
    if (row_.cores.empty() || row_.cores.back().second != core) {
        row_.cores.emplace_back(now_, core);
    }
}

void lane_walk::show() {
    const lane_span next{now_, top().body, state()};
    if (!row_.spans.empty()) {
        lane_span& last = row_.spans.back();
        if (last.body == next.body && last.state == next.state) return;
        if (last.begin == now_) {
            last = next;
            return;
        }
    }
    row_.spans.push_back(next);
}

std::uint32_t lane_walk::add_mark(mark_kind kind, std::uint32_t task) {
    const bool waits = kind == mark_kind::wait_begin || top().waits;
    to_.marks.push_back({now_, 0, top().body, task, none, kind, waits});
    return static_cast<std::uint32_t>(to_.marks.size() - 1);
}

void lane_walk::push(const record& r, std::uint32_t task, body_kind kind) {
    body_row body;
    body.begin = now_;
    body.lane = lane_;
    body.below = top().body;
    body.task = task;
    body.core = r.core;
    body.kind = kind;
    body.open = true;
    if (kind == body_kind::job) body.join = r.other;
    if (task != none) body.type = to_.tasks[task].type;
    stack_.begin({kind, kind == body_kind::job ? r.other : task},
                 {static_cast<std::uint32_t>(to_.bodies.size())});
    to_.bodies.push_back(body);
}

/// Where the records of the ends are lost, the last record before is the latest time at which the
/// body was seen.
void lane_walk::end_body(const open_body& one, bool lost) {
    body_row& body = to_.bodies[one.body];
    body.end = now_;
    body.open = lost;
    last_wait_end_ = none;
}

/// A task begins only where nothing runs or something waits, so what seems to run has lost its end.
void lane_walk::forget_lost_bodies() {
    while (!at_rest() && !top().waits && !looking_ &&
           to_.bodies[top().body].kind == body_kind::task) {
        body_row& body = to_.bodies[top().body];
        // account() has given it the time since the last record, which is not known to be its.
        const std::uint64_t last = std::max(before_, body.begin);
        body.running -= std::min(body.running, now_ - last);
        body.end = std::max(last, body.begin + body.running + body.preempted);
        stack_.end_top(true, [](const open_body&, bool) {});
    }
}

void lane_walk::close(body_kind kind, std::uint64_t key) {
    stack_.end({kind, key}, [&](const open_body& one, bool lost) {
        end_body(one, lost);
        const body_row& body = to_.bodies[one.body];
        if (body.kind == body_kind::job) with_.jobs.push_back({body.join, now_, one.body});
    });
    idle_ = lane_state::runtime;
}

void lane_walk::take_life(const record& r, std::uint32_t task) {
    switch (r.kind) {
        case record_kind::spawned:
        case record_kind::deferred:
            if (task != none) {
                to_.tasks[task].spawned_in = top().body;
                add_mark(mark_kind::spawned, task);
            }
            break;
        case record_kind::started:
        case record_kind::resumed:
            forget_lost_bodies();
            if (task != none) push(r, task, body_kind::task);
            break;
        case record_kind::ended:
        case record_kind::suspended:
            if (task != none) close(body_kind::task, task);
            break;
        case record_kind::settled:
            if (task != none) to_.tasks[task].completed_in = top().body;
            break;
        case record_kind::completed:
            if (task != none) to_.tasks[task].completed_in = top().body;
            if (idle_ != lane_state::outside) idle_ = lane_state::runtime;
            break;
        case record_kind::job_started:
            push(r, r.task != 0 ? to_.find(r.task, r.time) : none, body_kind::job);
            break;
        case record_kind::job_ended:
            close(body_kind::job, r.other);
            break;
        default:
            break;
    }
}

/// A wait for a second part that was stolen: the end of the join comes right after the wait's.
void lane_walk::answer(const record& r) {
    const bool waited = (r.flags & join_kept) == 0 && last_wait_end_ != none &&
                        to_.marks[last_wait_end_].task == none;
    if (waited) with_.questions.push_back({last_wait_end_, 0, r.other});
    last_wait_end_ = none;
}

void lane_walk::take_wait(const record& r) {
    switch (r.kind) {
        case record_kind::wait_begin:
            if (top().waits) break;
            add_mark(mark_kind::wait_begin, none);
            top().waits = true;
            top().taken = 0;
            idle_ = lane_state::search;
            break;
        case record_kind::wait_end:
            if (!top().waits) break;
            top().waits = false;
            last_wait_end_ =
                add_mark(mark_kind::wait_end, r.other != 0 ? to_.find(r.other, r.time) : none);
            if (top().taken != 0) {
                with_.questions.push_back({last_wait_end_, top().taken, 0});
                last_wait_end_ = none;
            }
            break;
        case record_kind::event_taken:
            if (top().waits) top().taken = r.other;
            break;
        case record_kind::event_set:
            with_.events.push_back({r.other, now_, top().body});
            add_mark(mark_kind::event_set, none);
            break;
        case record_kind::forked:
            with_.forks.push_back({r.other, now_, top().body});
            add_mark(mark_kind::forked, none);
            break;
        case record_kind::joined:
            answer(r);
            break;
        default:
            break;
    }
}

void lane_walk::take_thread(const record& r) {
    switch (r.kind) {
        case record_kind::searching:
            idle_ = lane_state::search;
            looking_ = !at_rest() && !top().waits;
            break;
        case record_kind::parked:
            // Only who waits or has nothing to do sleeps.
            forget_lost_bodies();
            parked_ = true;
            out_ = false;
            break;
        case record_kind::unparked:
            parked_ = out_ = false;
            idle_ = lane_state::search;
            break;
        case record_kind::switched_out:
            out_ = true;
            by_itself_ = (r.flags & switch_preempted) == 0;
            out_core_ = r.core;
            break;
        case record_kind::switched_in:
            out_ = false;
            break;
        default:
            break;
    }
}

bool is_about_thread(record_kind k) {
    return k == record_kind::stolen || k == record_kind::searching || k == record_kind::parked ||
           k == record_kind::unparked || (k >= record_kind::counter && k <= record_kind::switches);
}

void lane_walk::take(const record& r, std::uint32_t task) {
    if (is_about_thread(r.kind)) return take_thread(r);
    looking_ = false;
    parked_ = false;  // its `unparked` may be lost, but who sleeps says nothing
    if (r.kind == record_kind::frame_begin) {
        with_.frames[{r.other, r.aux}].push_back({r.other, now_, unknown, r.aux, none, true});
    } else if (r.kind == record_kind::frame_end) {
        with_.frames[{r.other, r.aux}].push_back({r.other, unknown, now_, r.aux, top().body, true});
    }
    take_life(r, task);
    take_wait(r);
}

void lane_walk::run(const std::vector<std::uint32_t>& tasks) {
    const std::vector<record>& records = to_.from->lanes[lane_].records;
    begin_lane(records);
    show();
    for (std::size_t i = 0; i < records.size(); ++i) {
        account(records[i].time);
        note_core(records[i].core);
        take(records[i], tasks[i]);
        show();
    }
    account(std::max(now_, to_.from->duration));
    row_.end = now_;
    stack_.end_all([&](const open_body& one, bool) { end_body(one, true); });
    row_.bodies = static_cast<std::uint32_t>(to_.bodies.size()) - row_.first_body;
}

bool by_key(const source& a, const source& b) {
    return std::tie(a.key, a.time, a.body) < std::tie(b.key, b.time, b.body);
}

/// The last one with that key at or before `time`; null: there is none.
const source* last_of(const std::vector<source>& all, std::uint64_t key, std::uint64_t time) {
    const auto after = std::upper_bound(all.begin(), all.end(), source{key, time, none}, by_key);
    return after != all.begin() && after[-1].key == key ? &after[-1] : nullptr;
}

void answer_questions(history& to, exchange& with) {
    for (auto* list : {&with.events, &with.forks, &with.jobs}) {
        std::sort(list->begin(), list->end(), by_key);
    }
    for (const auto& q : with.questions) {
        mark& end = to.marks[q.mark];
        const source* found = q.join != 0 ? last_of(with.jobs, q.join, end.time)
                                          : last_of(with.events, q.event, end.time);
        if (found == nullptr || found->body == end.body) continue;
        end.from_body = found->body;
        end.from_time = found->time;
    }
    for (body_row& body : to.bodies) {
        if (body.kind != body_kind::job) continue;
        const source* found = last_of(with.forks, body.join, body.begin);
        if (found == nullptr) continue;
        body.from_body = found->body;
        body.from_time = found->time;
        if (body.task == none) body.task = to.bodies[found->body].task;
        if (body.task != none) body.type = to.tasks[body.task].type;
    }
}

/// Marks come in order of lanes and times; those of one body shall be neighbours.
void sort_marks(history& to) {
    for (const mark& m : to.marks) ++to.bodies[m.body].marks;
    std::uint32_t next = 0;
    for (body_row& body : to.bodies) {
        body.first_mark = next;
        next += body.marks;
        body.marks = 0;
    }
    std::vector<mark> sorted(to.marks.size());
    for (const mark& m : to.marks) {
        body_row& body = to.bodies[m.body];
        sorted[body.first_mark + body.marks++] = m;
    }
    to.marks.swap(sorted);
}

/// A task that was suspended has a body for each time that it ran.
void link_bodies(history& to) {
    std::vector<std::uint32_t> again;
    for (std::uint32_t i = 0; i < to.bodies.size(); ++i) {
        if (to.bodies[i].kind != body_kind::task) continue;
        task_row& task = to.tasks[to.bodies[i].task];
        if (task.body == none) {
            task.body = task.last_body = i;
            continue;
        }
        if (!task.was_suspended()) again.push_back(task.body);
        task.last_body = i;
        again.push_back(i);
    }
    std::sort(again.begin(), again.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(to.bodies[a].begin, a) < std::tie(to.bodies[b].begin, b);
    });
    for (const std::uint32_t i : again) to.tasks[to.bodies[i].task].body = none;
    for (const std::uint32_t i : again) {
        task_row& task = to.tasks[to.bodies[i].task];
        if (task.body == none) {
            task.body = i;
        } else {
            to.bodies[i].earlier = task.last_body;
        }
        task.last_body = i;
    }
}

void match_frames(history& to, exchange& with) {
    for (auto& [key, halves] : with.frames) {
        std::sort(halves.begin(), halves.end(), [](const frame_row& a, const frame_row& b) {
            return std::min(a.begin, a.end) < std::min(b.begin, b.end);
        });
        for (std::size_t i = 0; i + 1 < halves.size(); ++i) {
            if (halves[i].end != unknown || halves[i + 1].begin != unknown) continue;
            // Nobody waits years for a frame: such a time is no time, and sums would overflow.
            if (halves[i + 1].end - halves[i].begin > std::uint64_t{1} << 60) continue;
            to.frames.push_back(halves[i + 1]);
            to.frames.back().begin = halves[i].begin;
        }
    }
    std::sort(to.frames.begin(), to.frames.end(), [](const frame_row& a, const frame_row& b) {
        return std::tie(a.begin, a.number, a.type) < std::tie(b.begin, b.number, b.type);
    });
    std::uint64_t reached = 0;
    for (std::size_t i = 0; i < to.frames.size(); ++i) {
        frame_row& f = to.frames[i];
        f.alone =
            f.begin >= reached && (i + 1 == to.frames.size() || to.frames[i + 1].begin >= f.end);
        reached = std::max(reached, f.end);
    }
}

}  // namespace

void walk_lanes(history& to, const record_tasks& tasks) {
    to.lanes.resize(to.from->lanes.size());
    exchange with;
    for (std::uint32_t lane = 0; lane < to.lanes.size(); ++lane) {
        lane_walk(to, with, lane).run(tasks[lane]);
    }
    answer_questions(to, with);
    link_bodies(to);
    sort_marks(to);
    match_frames(to, with);
}

}  // namespace profile
BRAID_NAMESPACE_END
