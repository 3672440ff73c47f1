// The one way to run bodies, with a source that is none of the scheduler's own.

#include "core/control/runtime.hpp"
#include "core/run/body_frame.hpp"

#include "braid/braid.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace {

using braid::detail::body_frame;
using braid::detail::current_task;

/// Three bodies, of which the second throws.
class three_bodies {
public:
    void invoke(body_frame& frame) {
        started = frame.start();
        braid::detail::guarded(frame.context(), [&] {
            EXPECT_EQ(&current_task()->context, &frame.context()) << "the body is what runs";
            if (++calls == 2) throw 2;
        });
    }
    bool ended(body_frame& frame) {
        EXPECT_EQ(frame.failed(), calls == 2);
        failures += frame.failed();
        frame.take_error();
        frame.timed("of the test", false, started);
        return true;
    }
    bool next(body_frame&) { return calls != 3; }

    int calls = 0, failures = 0;
    std::int64_t started = 0;
};

TEST(RunSequence, ASourceOfTheTestsOwnIsRunAsTheSchedulersAre) {
    braid::scheduler s({.workers = 0, .statistics = true});
    three_bodies bodies;
    s.wait(s.spawn([&](braid::task_context& task) {
        braid::detail::whole_seat& w = *s.internals().bound();
        const braid::detail::running_task* const outer = current_task();
        const unsigned depth = w.depth;
        {
            braid::detail::running_task body = body_of(w, w.top->slot, task.id());
            body_frame frame(s.internals(), w, body, task.id());
            EXPECT_EQ(w.depth, depth + 1);
            run_sequence(frame, bodies);
            frame.end_times("of the test");
        }
        EXPECT_EQ(w.depth, depth);
        EXPECT_EQ(current_task(), outer) << "what lay below runs on";
    }));
    EXPECT_EQ(bodies.calls, 3);
    EXPECT_EQ(bodies.failures, 1);
    std::array<braid::task_type_statistics, 8> rows;
    std::uint64_t timed = 0;
    for (std::size_t i = 0, n = s.statistics(rows.data(), rows.size()); i < n; ++i) {
        if (std::strcmp(rows[i].name, "of the test") == 0) timed += rows[i].count;
    }
    EXPECT_EQ(timed, 3U) << "each of them took its time";
}

}  // namespace
