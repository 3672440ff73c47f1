#include "base/platform/thread_end.hpp"
#include "base/platform/platform.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace {

namespace platform = braid::platform;

/// Writes its letter as its thread ends, and whether it is still that thread.
struct letter {
    std::string& to;
    char own;
    std::uint32_t thread = 0;
    platform::thread_end_step step = {};

    bool give() {
        thread = platform::current_thread_number();
        step = {.run = [](void* data) noexcept { static_cast<letter*>(data)->write(); },
                .data = this};
        return platform::at_thread_end(step);
    }
    void write() noexcept { to += platform::current_thread_number() == thread ? own : '?'; }
};

TEST(ThreadEnd, StepsRunOnTheThreadItselfTheLatestFirst) {
    std::string written;
    letter a{written, 'a'}, b{written, 'b'}, c{written, 'c'};
    std::thread([&] {
        EXPECT_TRUE(a.give() && b.give() && c.give());
        EXPECT_EQ(written, "");
    }).join();
    EXPECT_EQ(written, "cba");
}

TEST(ThreadEnd, AThreadRunsItsOwnStepsOnly) {
    std::string of_first, of_second;
    letter a{of_first, 'a'}, b{of_second, 'b'};
    std::thread([&] {
        EXPECT_TRUE(a.give());
        std::thread([&] { EXPECT_TRUE(b.give()); }).join();
        EXPECT_EQ(of_second, "b");
        EXPECT_EQ(of_first, "");
    }).join();
    EXPECT_EQ(of_first, "a");
    EXPECT_EQ(of_second, "b");
}

TEST(ThreadEnd, AThreadOfTheLibraryRunsThemToo) {
    std::string written;
    letter a{written, 'a'};
    platform::thread_request request;
    request.argument = &a;
    request.entry = [](void* argument) { EXPECT_TRUE(static_cast<letter*>(argument)->give()); };
    const platform::thread_handle thread = platform::start_thread(request);
    ASSERT_NE(thread, 0U);
    platform::join_thread(thread);
    EXPECT_EQ(written, "a");
}

TEST(ThreadEnd, AStepThatIsGivenWhileTheThreadEndsIsRefused) {
    struct late {
        platform::thread_end_step first, second;
        bool refused = false;
        int runs = 0;
    } l;
    l.first = {.run =
                   [](void* data) noexcept {
                       auto& to = *static_cast<late*>(data);
                       to.refused = !platform::at_thread_end(to.second);
                   },
               .data = &l};
    l.second = {.run = [](void* data) noexcept { ++static_cast<late*>(data)->runs; }, .data = &l};
    std::thread([&] { EXPECT_TRUE(platform::at_thread_end(l.first)); }).join();
    EXPECT_TRUE(l.refused);
    EXPECT_EQ(l.runs, 0);
}

struct owned {
    int given_back = 0;
    bool refuses_another = false;
    owned* another = nullptr;
    platform::thread_end_step end = {};

    void give_back() noexcept {
        ++given_back;
        if (another == nullptr) return;
        refuses_another = !platform::thread_owned<owned>::set(*another);
        // What was refused is not the thread's.
        refuses_another &= platform::thread_owned<owned>::get() != another;
    }
};
using own = platform::thread_owned<owned>;

TEST(ThreadOwned, IsOneThreadsAloneAndGivenBackOnceAsThatEnds) {
    owned first, second;
    EXPECT_EQ(own::get(), nullptr);
    std::thread([&] {
        EXPECT_EQ(own::get(), nullptr);
        EXPECT_TRUE(own::set(first));
        EXPECT_EQ(own::get(), &first);
        std::thread([&] {
            EXPECT_EQ(own::get(), nullptr);
            EXPECT_TRUE(own::set(second));
        }).join();
        EXPECT_EQ(second.given_back, 1);
        EXPECT_EQ(own::get(), &first);
        EXPECT_EQ(first.given_back, 0);
    }).join();
    EXPECT_EQ(first.given_back, 1);
    EXPECT_EQ(second.given_back, 1);
    EXPECT_EQ(own::get(), nullptr);
}

TEST(ThreadOwned, NothingIsOwnedAnyMoreWhenTheEndHasBegun) {
    owned late;
    owned first;
    first.another = &late;
    owned* after = &first;
    platform::thread_end_step last{
        .run = [](void* data) noexcept { *static_cast<owned**>(data) = own::get(); },
        .data = &after};
    std::thread([&] {
        EXPECT_TRUE(platform::at_thread_end(last));  // after what comes now
        EXPECT_TRUE(own::set(first));
    }).join();
    EXPECT_EQ(after, nullptr);
    EXPECT_TRUE(first.refuses_another);
    EXPECT_EQ(late.given_back, 0);
}

}  // namespace
