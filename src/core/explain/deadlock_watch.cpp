#include "core/explain/deadlock_watch.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

bool nothing_is_open(const wait_room& rt) {
    const scheduler_statistics ended_first = rt.totals();
    const scheduler_statistics begun = rt.totals();
    return ended_first.ended() + ended_first.settled == begun.created + begun.deferred;
}

void report_to_program(const wait_room& rt, const char* message) {
    const deadlock_handler& to = rt.options().deadlock.handler;
    if (to.function == nullptr) {
        return rt.options().log.function(rt.options().log.user, log_level::error, message);
    }
#if BRAID_HAS_EXCEPTIONS
    try {
        to.function(to.user, message);
    } catch (...) {
        rt.log(log_level::error, "%s: the handler of a deadlock threw an exception",
               rt.options().name);
    }
#else
    to.function(to.user, message);
#endif
}

/// What helps, by the kinds of need in the circle.
const char* cure(const bool (&has)[needs_of_a_task]) {
    const auto any = [&](need a) { return has[static_cast<unsigned>(a)]; };
    if (any(need::under)) {
        return "No thread could stand in for the one on whose stack they lie: raise max_reserves, "
               "or let a task come `after` what it waits for.";
    }
    if (any(need::resource)) {
        return "A task must not wait for one that needs a resource which it holds meanwhile.";
    }
    if ((any(need::waits) || any(need::scope) || any(need::awaits)) && any(need::child)) {
        return "A task must not wait for what it is a part of.";
    }
    if (any(need::waits) || any(need::scope)) {
        return "What follows one of these waits has to become a task of its own, `after` what it "
               "waits for.";
    }
    return "One of these dependencies has to go.";
}

}  // namespace

looked deadlock_watch::look(wait_room& rt, wait_seat& w) {
    // Nothing is read of a scheduler that rests, as for a reload, or that ends.
    if (rt.frozen().on() || rt.phase() == life::closed) return looked::in_part;
    bool has_reported = false;
    while (true) {
        sentence message;
        const looked what = search(rt, w, message);
        if (message.size() == 0) return has_reported ? looked::woke : what;
        has_reported = true;
        report_to_program(rt, message.text());
    }
}

/// Writes a message where there is news.
looked deadlock_watch::search(wait_room& rt, wait_seat& w, sentence& message) {
    const locked lock(mutex_);
    if (nothing_is_open(rt)) {
        search_.rewind();
        return looked::nothing_open;
    }
    bool in_part = false;
    while (search_.next(rt, in_part)) {
        if (!is_news()) continue;
        describe(rt, w, message);
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

/// A task is named by its body, where that is in the circle, too.
const need_node& deadlock_watch::best_named(unsigned member) const {
    const dependent& d = search_.member(member % search_.count());
    if (d.why != need::own_body) return d.node;
    return search_.member((member + 1) % search_.count()).node;
}

void deadlock_watch::describe(wait_room& rt, wait_seat& w, sentence& to) {
    constexpr unsigned most_named = 8;
    const unsigned count = search_.count();
    bool has[needs_of_a_task] = {};
    unsigned tasks = 0, first = 0;
    for (unsigned i = count; i-- != 0;) {
        const need why = search_.member(i).why;
        has[static_cast<unsigned>(why)] = true;
        if (why == need::own_body) continue;
        ++tasks;
        first = i;
    }
    task_writer writer(rt, &w, to);
    to.add("%s: a deadlock of %u task%s: ", rt.options().name, tasks, tasks == 1 ? "" : "s");
    writer.name(best_named(first));
    unsigned named = 0;
    for (unsigned n = 0; n < count; ++n) {
        const dependent& d = search_.member((first + n) % count);
        if (d.why == need::own_body) continue;
        ++named;
        if (named > most_named && named != tasks) continue;
        if (named == tasks && tasks > most_named + 1) {
            to.add(", … and %u more, of which the last ", tasks - most_named);
        } else {
            to.add("%s", named == 1 ? " " : ", which ");
        }
        writer.need_of(d, best_named(first + n + 1));
    }
    to.add(". No thread can go on with %s. %s", tasks == 1 ? "it" : "any of them", cure(has));
}

}  // namespace detail
BRAID_NAMESPACE_END
