// Whom a thief robs first.

#include "core/control/runtime.hpp"

#include "braid/braid.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using braid::seat_kind;
using braid::detail::whole_seat;

TEST(Victims, TheNearestIsRobbedFirst) {
    constexpr unsigned here_to = 512;  // the real cores are among these
    auto machine = std::make_unique<braid::topology>();
    for (std::uint16_t i = 0; i < 1000; ++i) {
        auto& place = machine->processors[i];
        place = {.core = i, .known = true};
        if (i >= here_to) place.cache = i;       // a cache of its own
        if (i >= here_to + 100) place.node = 1;  // further away
    }
    machine->summarize();

    braid::scheduler scheduler({.workers = 0});
    auto& rt = scheduler.internals();
    rt.set_places(machine.get());
    whole_seat& self = *rt.bound();
    // The farthest first, so that the order of seats is the wrong one.
    const std::uint32_t cores[] = {here_to + 200, here_to + 50, 1};
    std::vector<whole_seat*> victims;
    for (unsigned i = 0; i < 3; ++i) {
        braid::detail::seats_seat* const seat = rt.add_seat(seat_kind::worker, i, "victim");
        ASSERT_NE(seat, nullptr);
        victims.push_back(&seat->whole);
        victims[i]->core.store(cores[i]);
    }
    constexpr auto normal = static_cast<unsigned>(braid::priority_level::normal);
    std::vector<braid::task_id> tasks;
    for (whole_seat* victim : victims) {
        tasks.push_back(scheduler.spawn([] {}));
        ASSERT_EQ(self.ready[normal].pop(), tasks.back().value);
        ASSERT_TRUE(victim->ready[normal].push(tasks.back().value));
    }
    for (const unsigned expected : {2U, 1U, 0U}) {
        const braid::task_id stolen = rt.steal(self, normal);
        EXPECT_EQ(stolen, tasks[expected]);
        self.stole = 0;  // whether steals pay is another question
        ASSERT_TRUE(self.ready[normal].push(stolen.value));
        rt.run(self, {self.ready[normal].pop()});
    }
    for (const braid::task_id task : tasks) EXPECT_TRUE(scheduler.done(task));
    rt.set_places(nullptr);
}

}  // namespace
