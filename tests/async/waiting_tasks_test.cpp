// A1: lists of suspended tasks that end while one of their tasks is cancelled.
#include <braid/async/waiting_tasks.hpp>

#include "co_fixture.hpp"

#include <sys/mman.h>
#include <memory>
#include <new>

namespace {

using braid::detail::locked;
using braid::detail::waiting_lock;
using braid::detail::waiting_task;
using braid::detail::waiting_tasks;

class WaitingTasks : public braid_test::coroutine_test {};
INSTANTIATE_TEST_SUITE_P(Workers, WaitingTasks, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

/// A list alone on its page: a thread that touches the page after end() dies of it.
class list_on_a_page {
public:
    list_on_a_page()
        : page_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
          guard_(std::make_unique<waiting_lock>()),
          list_(::new(page_) waiting_tasks(guard_->internals())) {}
    ~list_on_a_page() { munmap(page_, size); }
    list_on_a_page(const list_on_a_page&) = delete;
    list_on_a_page& operator=(const list_on_a_page&) = delete;

    waiting_tasks& list() { return *list_; }
    waiting_task* take() {
        const locked lock(guard_->internals());
        return list_->take();
    }
    void end() {
        guard_.reset();
        list_->~waiting_tasks();
        mprotect(page_, size, PROT_NONE);
    }

private:
    static constexpr std::size_t size = 4096;
    void* page_;
    std::unique_ptr<waiting_lock> guard_;
    waiting_tasks* list_;
};

class in_list : public braid::detail::awaiter {
public:
    in_list(waiting_tasks& list, waiting_task& own) : list_(list), own_(own) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        braid::detail::co_loop& loop = enter(by);
        loop.suspend();
        ASSERT_TRUE(list_.arm(own_, *loop.context, "list", std::source_location::current()));
        const locked lock(*own_.lock);
        ASSERT_TRUE(list_.list(own_));
    }
    void await_resume() { braid::detail::co_loop::raise(take()); }

private:
    waiting_tasks& list_;
    waiting_task& own_;
};

bool was_asked(const waiting_task& w) {
    const locked lock(*w.lock);
    return w.cancelled;
}

TEST_P(WaitingTasks, ATaskThatWasTakenIsCancelledWithoutItsListWhichIsGone) {
    braid::scheduler s(options());
    list_on_a_page page;
    waiting_task own;
    braid::scope level(s);
    const auto waits = [](waiting_tasks& list, waiting_task& w) -> braid::co<> {
        co_await in_list(list, w);
    };
    braid::future<void> f = braid::co_spawn(s, {.within = &level}, waits(page.list(), own));
    until_suspended(s, 1);
    ASSERT_EQ(page.take(), &own);
    page.end();
    level.cancel();
    until(s, [&] { return was_asked(own); });
    EXPECT_TRUE(braid::detail::complete_awaited(s.internals(), own.id));
    EXPECT_THROW(f.get(), braid::task_cancelled);
    level.wait();
    expect_all_ended(s);
}

}  // namespace
