#include "reload/plan/two_threads.hpp"

#include <atomic>
#include <exception>
#include <thread>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

// relaxed: a child sets it on its only thread.
std::atomic<bool> stays_alone{false};

/// What both threads take from.
struct shared_calls {
    const std::size_t count;
    const std::function<void(std::size_t)>& f;
    std::atomic<std::size_t> next{0};
};

void run(shared_calls& all, std::exception_ptr& thrown) noexcept {
    try {
        // relaxed: what a call has written is seen after the join.
        for (std::size_t i = 0;
             (i = all.next.fetch_add(1, std::memory_order_relaxed)) < all.count;) {
            all.f(i);
        }
    } catch (...) {
        thrown = std::current_exception();
        all.next.store(all.count, std::memory_order_relaxed);  // as above
    }
}

}  // namespace

void on_two_threads(std::size_t count, const std::function<void(std::size_t)>& f) {
    shared_calls all{count, f};
    std::exception_ptr here, beside;
    std::thread other;
    try {
        if (count > 1 && !stays_alone.load(std::memory_order_relaxed))
            other = std::thread([&all, &beside] { run(all, beside); });
    } catch (...) {  // no thread, or no memory for one: this one does it all
    }
    run(all, here);
    if (other.joinable()) other.join();
    if (here || beside) std::rethrow_exception(here ? here : beside);
}

void stay_on_one_thread() noexcept { stays_alone.store(true, std::memory_order_relaxed); }

}  // namespace reload::detail
BRAID_NAMESPACE_END
