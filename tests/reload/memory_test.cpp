// Memory that runs out anywhere: what runs goes on, and the next try succeeds.
#include "reload/plan/two_threads.hpp"
#include "reload_test.hpp"

#include <braid/reload/arena.hpp>

#include <climits>
#include <cstdlib>
#include <new>

namespace {
/// How many requests of this thread are granted before one is refused.
thread_local int granted = INT_MAX;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    const bool refused = granted != INT_MAX && granted-- == 0;
    void* const p = refused ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (refused) granted = INT_MAX;
    if (p == nullptr) throw std::bad_alloc();
    return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace braid_test {
namespace {

class ReloadMemory : public reload_test {};

TEST_F(ReloadMemory, ThatRunsOutInACheckLosesNoBuild) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    int tries = 0;
    // Each refused request is followed by a look with memory enough.
    for (int k = 0; k < 400; k += k < 40 ? 1 : 7) {
        put(k % 2 == 0 ? "game_1" : "game_2");
        granted = k;
        modules->check_now();
        const bool refused = granted == INT_MAX;
        granted = INT_MAX;
        const int before = simulate(game, input);
        const reload::outcome went = modules->at_frame_boundary();
        if (refused) {
            ++tries;
            EXPECT_TRUE(went) << k;
            EXPECT_TRUE(went.loaded() != 0 || simulate(game, input) == before);
        }
        (void)look();
        ASSERT_EQ(simulate(game, input), k % 2 == 0 ? 1 : 2) << k;
    }
    EXPECT_GT(tries, 40);
}

TEST_F(ReloadMemory, WithoutAnyForAThreadTheCallerReadsAllFiles) {
    const std::thread::id caller = std::this_thread::get_id();
    int calls = 0;
    const std::function<void(std::size_t)> call = [&](std::size_t) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++calls;
    };
    granted = 0;
    reload::detail::on_two_threads(3, call);
    EXPECT_EQ(granted, INT_MAX) << "the thread needs none";
    EXPECT_EQ(calls, 3);
}

TEST_F(ReloadMemory, ThatRunsOutAtABoundaryIsSaidAndTriedAgain) {
    const simulate_function simulate(add(), "simulate", simulate_stub);
    put("game_1");
    modules->check_now();
    int refused = 0;
    for (;; ++refused) {
        granted = refused;
        const reload::outcome went = modules->at_frame_boundary();
        const bool enough = granted != INT_MAX;
        granted = INT_MAX;
        if (enough) {
            expect_sentence(went, "was loaded");
            break;
        }
        EXPECT_STREQ(went.text(),
                     "There was no memory to check or to load a module; it is tried again.");
        EXPECT_EQ(simulate(game, input), stub_value);
    }
    EXPECT_GT(refused, 0);
    EXPECT_EQ(simulate(game, input), 1);
}

/// LeakSanitizer sees what is left, in the landing's run with it.
TEST_F(ReloadMemory, ThatRunsOutAtABoundaryIsGivenBackByAnObjectThatEndsThere) {
    put("game_1");
    put("sound_1", "sound");
    bool enough = false;
    for (int k = 0; !enough; ++k) {
        modules.emplace(*scheduler, options());
        (void)add();
        (void)add("sound");
        modules->check_now();
        granted = k;
        const reload::outcome went = modules->at_frame_boundary();
        enough = granted != INT_MAX;
        granted = INT_MAX;
        EXPECT_EQ(went.loaded(), enough ? 2u : 0u) << k << ": " << went.text();
        modules.reset();
    }
}

TEST_F(ReloadMemory, ThatRunsOutWhileStateGoesOverLeavesItAsItWas) {
    reload::module& m = add();
    const reload::function<int(reload::arena&)> step(m, "step", [](reload::arena&) { return 0; });
    const reload::function<long(reload::arena&)> energy(m, "energy",
                                                        [](reload::arena&) -> long { return 0; });
    reload::arena state(*modules);
    put("colony_1");
    (void)look();
    int steps = 0, most = 0;
    // Each number of granted requests, in the plan and then at the boundary, until all are granted.
    for (const bool planning : {true, false}) {
        for (int k = 0, enough = 0; enough < 2; ++k, most = std::max(most, k)) {
            ASSERT_EQ(step(state), ++steps);
            const long before = energy(state);
            put(k % 2 == 0 ? "colony_2" : "colony_1");
            if (!planning) modules->check_now();
            granted = k;
            if (planning) modules->check_now();
            if (planning) granted = INT_MAX;
            const reload::outcome went = modules->at_frame_boundary();
            enough += !planning && granted != INT_MAX ? 1 : 0;
            granted = INT_MAX;
            ASSERT_EQ(energy(state), before) << k << ": " << went.text();
            (void)look();
            ASSERT_EQ(energy(state), before) << k;
            if (planning && k == 300) break;
        }
    }
    EXPECT_GT(most, 20);
}

TEST_F(ReloadMemory, ThatRunsOutInATrialOrBeforeItLosesNoBuild) {
    reload::module& m = add();
    const reload::function<int(reload::arena&)> step(m, "step", [](reload::arena&) { return 0; });
    reload::arena state(*modules);
    modules->try_with([&](reload::trial&) { (void)step(state); }, {.within = braid::seconds(20)});
    put("tried_good");
    (void)look();
    int here = 0, in_child = 0;
    // The child goes on to count: with more requests granted than the boundary has, it is refused.
    for (int k = 0; k < 500; k += k < 40 ? 1 : 41) {
        (void)step(state);
        const bool wide = k % 2 == 0;
        put(wide ? "tried_wide" : "tried_good");
        modules->check_now();
        granted = k;
        reload::outcome went = modules->at_frame_boundary();
        here += granted == INT_MAX ? 1 : 0;
        granted = INT_MAX;
        const std::string before = m.build_id();
        while (m.build_id() == before) {
            if (std::string_view(went.text()).find("memory for its trial") != std::string::npos) {
                ++in_child;
                modules->check_now();
            }
            went = modules->at_frame_boundary();
        }
        ASSERT_EQ(step(state) > 600, wide) << k << ": " << went.text();
    }
    EXPECT_GT(here, 1);
    EXPECT_GT(in_child, 3);
}

TEST_F(ReloadMemory, ThatRunsOutOnTheWayBackLosesNoStateAndNoWay) {
    reload::module& m = add();
    const reload::function<int(reload::arena&)> step(m, "step", [](reload::arena&) { return 0; });
    const reload::function<long(reload::arena&)> sum(m, "sum",
                                                     [](reload::arena&) -> long { return 0; });
    reload::arena state(*modules);
    put("tried_good");
    (void)look();
    (void)step(state);
    const long before = sum(state);
    put("tried_wide");
    (void)look();
    modules->roll_back();
    int refused = 0;
    for (;; ++refused) {
        granted = refused;
        const reload::outcome went = modules->at_frame_boundary();
        const bool enough = granted != INT_MAX;
        granted = INT_MAX;
        EXPECT_EQ(sum(state), before);
        if (enough) {
            EXPECT_EQ(went.rolled_back(), 1u);
            break;
        }
        EXPECT_STREQ(went.text(),
                     "There was no memory to check or to load a module; it is tried again.");
    }
    EXPECT_GT(refused, 3);
    EXPECT_EQ(step(state), 2);
}

TEST_F(ReloadMemory, ThatRunsOutWhenAModuleOrAFunctionIsMadeLeavesNothing) {
    put("game_1");
    reload::module& m = add();
    (void)look();
    const reload::function<int(float)> wrong(m, "simulate", [](float) { return stub_value; });
    int refused = 0;
    for (bool made = false; !made; ++refused) {
        granted = refused;
        try {
            const add_function sum(m, "add", add_stub);
            granted = INT_MAX;
            EXPECT_EQ(sum(1, 2), 3);
            made = true;
        } catch (const std::bad_alloc&) {
        }
    }
    EXPECT_GT(refused, 1);
    refused = 0;
    for (bool made = false; !made; ++refused) {
        granted = refused;
        try {
            add("second");
            granted = INT_MAX;
            made = true;
        } catch (const std::bad_alloc&) {
        }
    }
    EXPECT_GT(refused, 1);
    put("game_2", "second");
    EXPECT_EQ(look().loaded(), 1u);
}

}  // namespace
}  // namespace braid_test
