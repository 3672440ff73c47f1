// Tracy was built to do nothing: events are forwarded, and none of its functions is needed.
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>
#include <braid/profile/tracy.hpp>

namespace {

class started_counter final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        count += e.kind == braid::event_kind::started;
    }
    std::atomic<int> count{0};
};

TEST(TracyOff, ForwardsAndDoesNothingElse) {
    started_counter counter;
    braid::profile::tracy_observer alone, tracy({.forward_to = &counter});
    for (braid::profile::tracy_observer* o : {&alone, &tracy}) {
        braid::scheduler s({.workers = 1, .observer = o});
        for (int i = 0; i < 10; ++i) s.wait(s.spawn({.name = "task"}, [] {}));
    }
    EXPECT_EQ(counter.count, 10);
}

}  // namespace
