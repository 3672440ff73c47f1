// Memory that runs out anywhere: what runs goes on, and the next try succeeds.
#include "reload_test.hpp"

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
