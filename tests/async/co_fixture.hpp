#pragma once
// What tests of coroutines share: an observer that counts suspensions.

#include <braid/async.hpp>
#include <braid/core/observer.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <atomic>
#include <exception>
#include <string>

namespace braid_test {

/// libstdc++ counts the owners of an exception where ThreadSanitizer does not see it, so that its
/// contents are read without that only. Otherwise the code is `usual`.
inline int code_of(const braid::completion_error& e, int usual) {
    return sanitized ? usual : e.code();
}
inline bool says(const std::exception& e, const char* text) {
    return sanitized || std::string(e.what()).find(text) != std::string::npos;
}

/// Counts suspensions and resumptions.
struct pauses final : braid::observer {
    void on_event(const braid::task_event& e) override {
        suspended += e.kind == braid::event_kind::suspended;
        resumed += e.kind == braid::event_kind::resumed;
    }
    std::atomic<unsigned> suspended{0}, resumed{0};
};

class coroutine_test : public scheduler_test {
protected:
    braid::scheduler_options options() {
        braid::scheduler_options o = scheduler_test::options();
        o.observer = &pauses_;
        return o;
    }
    /// Also without workers.
    void until_suspended(braid::scheduler& s, unsigned count) const {
        while (pauses_.suspended < count) run_for_a_while(s);
    }
    template <class Condition>
    static void until(braid::scheduler& s, Condition&& condition) {
        while (!condition()) run_for_a_while(s);
    }
    static void run_for_a_while(braid::scheduler& s) {
        braid::event never(s);
        s.do_work_while_waiting_for(never, braid::microseconds(50));
    }
    pauses pauses_;
};

}  // namespace braid_test

/// Gives a suite of coroutines its worker counts: BRAID_COROUTINE_TEST(Await); TEST_P(Await, …).
#define BRAID_COROUTINE_TEST(Suite)                                                          \
    class Suite : public braid_test::coroutine_test {};                                      \
    INSTANTIATE_TEST_SUITE_P(Workers, Suite, testing::ValuesIn(braid_test::worker_counts()), \
                             [](const auto& count) { return std::to_string(count.param); })
