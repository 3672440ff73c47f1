#pragma once
// A piece of code with known bounds, which tests take for a module, and who holds it.

#include <braid/braid.hpp>
#include <braid/core/safepoint.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#define BRAID_IN_PIECE [[gnu::noinline, gnu::section("braid_test_piece")]]
extern "C" const char __start_braid_test_piece[], __stop_braid_test_piece[];

namespace braid_test {

BRAID_IN_PIECE [[maybe_unused]] static void marker() { asm volatile(""); }
BRAID_IN_PIECE [[maybe_unused]] static void wait_within(braid::scheduler& s, braid::task_id id) {
    s.wait(id);
    asm volatile("");  // so that the call is not the last thing, and the frame stays
}

inline braid::code_range piece() {
    return {.begin = reinterpret_cast<std::uintptr_t>(__start_braid_test_piece),
            .end = reinterpret_cast<std::uintptr_t>(__stop_braid_test_piece)};
}

struct reported {
    braid::code_use use;
    std::string name, thread;
    braid::task_id task;
    braid::held_code as_reported;
};

/// All holders of the piece, at a safepoint that is reached.
inline std::vector<reported> holders(braid::safepoint& rest,
                                     const braid::code_range& of = piece()) {
    std::vector<reported> all;
    EXPECT_TRUE(rest.reached()) << rest.awake();
    const std::size_t count = rest.holders(
        of,
        [](void* to, const braid::held_code& what) {
            static_cast<std::vector<reported>*>(to)->push_back(
                {what.use, what.name, what.thread, what.task, what});
        },
        &all);
    EXPECT_EQ(count, all.size());
    return all;
}
inline std::vector<reported> holders(braid::scheduler& s, const braid::code_range& of = piece()) {
    braid::safepoint rest(s, braid::seconds(20));
    return holders(rest, of);
}

}  // namespace braid_test

#define BRAID_EXPECT_ONE(list, what, called)                                  \
    do {                                                                      \
        const auto& all_reported = (list);                                    \
        ASSERT_EQ(all_reported.size(), 1U);                                   \
        EXPECT_EQ(all_reported[0].use, what) << text_of(all_reported[0].use); \
        EXPECT_EQ(all_reported[0].name, called);                              \
    } while (false)
