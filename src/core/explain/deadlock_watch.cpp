#include "core/explain/deadlock_watch.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

bool nothing_is_open(wait_room& rt) {
    const scheduler_statistics ended_first = rt.totals();
    const scheduler_statistics begun = rt.totals();
    return ended_first.ended() + ended_first.settled == begun.created + begun.deferred &&
           !somebody_waits_for_a_task(rt);
}

void report_to_program(const wait_room& rt, const char* message) {
    const deadlock_handler& to = rt.options.deadlock.handler;
    if (to.function == nullptr) {
        return rt.options.log.function(rt.options.log.user, log_level::error, message);
    }
#if BRAID_HAS_EXCEPTIONS
    try {
        to.function(to.user, message);
    } catch (...) {
        rt.report.log(log_level::error, "%s: the handler of a deadlock threw an exception",
                      rt.options.name);
    }
#else
    to.function(to.user, message);
#endif
}

/// Returns advice, chosen by the kinds of need in the cycle.
const char* cure(const bool (&has)[needs_of_a_task]) {
    const auto any = [&](need a) { return has[static_cast<unsigned>(a)]; };
    if (any(need::buried)) {
        return "No thread could stand in for the one on whose stack they lie: raise max_reserves, "
               "or let a task come `after` what it waits for.";
    }
    if (any(need::resource)) {
        return "A task holds what it uses until it has returned: what follows the wait has to "
               "become a task of its own, `after` the awaited one, or one of the two has to go "
               "without the resource.";
    }
    const bool waits =
        any(need::waits) || any(need::through) || any(need::scope) || any(need::under);
    if ((waits || any(need::awaits)) && any(need::child)) {
        return "A task must not wait for what it is a part of.";
    }
    if (waits) {
        return "What follows one of these waits has to become a task of its own, `after` what it "
               "waits for.";
    }
    return "One of these dependencies has to go.";
}

}  // namespace

looked deadlock_watch::look(wait_room& rt, wait_seat& w) {
    // Does not read a scheduler that is frozen, for example for a reload, or that ends.
    if (rt.frozen().on() || rt.phase() == life::closed) return looked::in_part;
    bool has_reported = false;
    for (bool begins = true;; begins = false) {
        circle found;
        const looked what = search(rt, found, begins);
        if (found.tasks == 0) {
            if (has_reported) return looked::woke;
            return what == looked::in_part ? what : look_for_standstill(rt, w, what);
        }
        has_reported = true;
        sentence message;
        describe(rt, w, found, message);
        report_to_program(rt, message.text());
    }
}

looked deadlock_watch::look_for_standstill(wait_room& rt, wait_seat& w, looked else_what) {
    if (rt.serial != nullptr) return else_what;  // the gate reports it
    standstill::seen seen;
    bool knows_circles = false;
    {
        const locked lock(mutex_);
        seen = standstill_.look(rt, w);
        knows_circles = count_ != 0;
    }
    switch (seen) {
        case standstill::seen::perhaps:
            return looked::in_part;  // the next check comes soon
        case standstill::seen::news:
        case standstill::seen::outside: {
            sentence text;
            const bool says_why = standstill::describe(rt, w, seen, text);
            // If the text gives no reason, a cycle that was reported is the reason, and no thread
            // can end it. The text is then not logged.
            if (says_why || !knows_circles)
                rt.options.log.function(rt.options.log.user, log_level::warning, text.text());
            // If describe() has dropped a task's last share, that task ends, so something goes on
            // after all.
            return w.to_complete != no_index ? looked::woke : else_what;
        }
        case standstill::seen::ended:
            if (!knows_circles)
                rt.report.log(log_level::info, "%s: it goes on again", rt.options.name);
            break;
        case standstill::seen::goes_on:
        case standstill::seen::known:
            break;
    }
    return else_what;
}

/// Searches for a cycle that was not reported yet, and copies it to `found`.
looked deadlock_watch::search(wait_room& rt, circle& found, bool begins) {
    const locked lock(mutex_);
    if (nothing_is_open(rt)) {
        search_.rewind();
        return looked::nothing_open;
    }
    if (count_ == most_reports) return looked::in_vain;
    if (begins) search_.begin();
    bool in_part = false;
    while (search_.next(rt, in_part)) {
        if (!is_news()) continue;
        copy(found);
        return looked::in_part;
    }
    if (in_part) return looked::in_part;
    search_.rewind();
    return looked::in_vain;
}

bool deadlock_watch::is_news() {
    std::uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < search_.count(); ++i) {
        least = std::min(least, search_.member(i).node.task.value);
    }
    auto* const end = reported_ + count_;
    if (count_ == most_reports || std::find(reported_, end, least) != end) return false;
    reported_[count_++] = least;
    return true;
}

/// Returns the node by which a member is named. A task is named by its body if the body is in the
/// cycle, too.
const need_node& deadlock_watch::best_named(unsigned member) const {
    const dependent& d = search_.member(member % search_.count());
    if (d.why != need::own_body) return d.node;
    return search_.member((member + 1) % search_.count()).node;
}

void deadlock_watch::copy(circle& to) const {
    const unsigned count = search_.count();
    unsigned first = 0;
    while (search_.member(first).why == need::own_body) ++first;
    for (unsigned n = 0; n < count; ++n) {
        const dependent& d = search_.member((first + n) % count);
        to.has[static_cast<unsigned>(d.why)] = true;
        if (d.why == need::own_body) continue;
        // If there are more members than places, the last member gets the last place.
        auto& place = to.named[std::min(to.tasks, circle::most_named - 1)];
        place = {d, best_named(first + n + 1)};
        ++to.tasks;
    }
}

void deadlock_watch::describe(wait_room& rt, wait_seat& w, const circle& found, sentence& to) {
    const unsigned tasks = found.tasks, named = std::min(tasks, circle::most_named);
    task_writer writer(rt, &w, to);
    to.add("%s: a deadlock of %u task%s: ", rt.options.name, tasks, tasks == 1 ? "" : "s");
    writer.name(found.named[named - 1].needed);  // the last member needs the first
    for (unsigned n = 0; n < named; ++n) {
        if (n + 1 == named && tasks > named) {
            to.add(", … and %u more, of which the last ", tasks - named + 1);
        } else {
            to.add("%s", n == 0 ? " " : ", which ");
        }
        writer.need_of(found.named[n].does, found.named[n].needed);
    }
    to.add(". No thread can go on with %s. %s", tasks == 1 ? "it" : "any of them", cure(found.has));
}

}  // namespace detail
BRAID_NAMESPACE_END
