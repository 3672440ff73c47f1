#pragma once
// Searches for deadlocks on behalf of a sentry, and reports each of them once.

#include "core/explain/cycle_search.hpp"
#include "core/explain/sentence.hpp"
#include "core/explain/standstill.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class deadlock_watch {
public:
    /// Called by the seat's thread, at any moment between two bodies.
    looked look(wait_room& rt, wait_seat& w);

private:
    /// A copy of what the report says about a cycle. Names are read without the lock, because a
    /// task that is held open for its name may end then.
    struct circle {
        static constexpr unsigned most_named = 9;
        struct {
            dependent does;
            need_node needed;
        } named[most_named];
        unsigned tasks = 0;
        bool has[needs_of_a_task] = {};
    };

    looked search(wait_room& rt, circle& found, bool begins);
    looked look_for_standstill(wait_room& rt, wait_seat& w, looked else_what);
    bool is_news() BRAID_REQUIRES(mutex_);
    void copy(circle& to) const BRAID_REQUIRES(mutex_);
    const need_node& best_named(unsigned member) const BRAID_REQUIRES(mutex_);
    static void describe(wait_room& rt, wait_seat& w, const circle& found, sentence& to);

    // The limit for one scheduler. A program with this many deadlocks does not need more reports.
    static constexpr unsigned most_reports = 32;

    mutex mutex_;
    cycle_search search_ BRAID_GUARDED_BY(mutex_);
    // The cycles that were reported. Each is represented by the smallest task id in it.
    std::uint64_t reported_[most_reports] BRAID_GUARDED_BY(mutex_) = {};
    unsigned count_ BRAID_GUARDED_BY(mutex_) = 0;
    standstill standstill_ BRAID_GUARDED_BY(mutex_);
};

}  // namespace detail
BRAID_NAMESPACE_END
