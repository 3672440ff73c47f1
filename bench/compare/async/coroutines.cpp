#include "async/coroutines.hpp"

#include "async/bare.hpp"
#include "async/run_as_worker.hpp"

#include <braid/async.hpp>
#include <braid/core/scheduler.hpp>

#include <memory>

namespace bench::async {
namespace {

std::shared_ptr<braid::scheduler> on_this_thread() {
    return std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 0});
}

// ---- called

constexpr std::int64_t calls = 1'000'000;

/// Not inlined, so that no compiler puts the frame into the caller's.
template <class Co>
[[gnu::noinline]] Co number(std::int64_t n) {
    co_return n;
}

template <class Co>
Co sum_of_numbers(std::int64_t count) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += co_await number<Co>(i);
    co_return sum;
}

/// ns for each of the coroutines that `sum_all` awaits.
template <class SumAll>
double time_of_calls(std::int64_t count, SumAll&& sum_all) {
    std::int64_t sum = 0;
    const double ns = time_ns([&] { sum = sum_all(); });
    check_equal(sum, count * (count - 1) / 2, "the sum");
    return ns / static_cast<double>(count);
}

void add_call(suite& s) {
    s.at("async.call", "ns", "a coroutine is awaited that does not suspend")
        .add("braid",
             [] {
                 return [b = on_this_thread()] {
                     return time_of_calls(calls, [&] {
                         using number = braid::co<std::int64_t>;
                         return run_as_worker(*b, sum_of_numbers<number>(calls));
                     });
                 };
             })
        .add("bare loop", [] {
            return [] {
                return time_of_calls(
                    calls, [] { return sum_of_numbers<bare<std::int64_t>>(calls).run(); });
            };
        });
}

// ---- spawned

constexpr std::int64_t spawns = 200'000;

braid::co<std::int64_t> sum_of_spawned(braid::scheduler& b) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < spawns; ++i) {
        sum += co_await braid::co_spawn(b, {}, number<braid::co<std::int64_t>>(i));
    }
    co_return sum;
}

std::int64_t sum_of_waited(braid::task_context& task) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < spawns; ++i) task.wait(task.spawn([&sum, i] { sum += i; }));
    return sum;
}

std::int64_t sum_of_futures(braid::scheduler& b) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < spawns; ++i) sum += b.async([i] { return i; }).get();
    return sum;
}

void add_spawn(suite& s) {
    s.at("async.spawn", "ns", "a coroutine is spawned and awaited, or a task waited for")
        .add("braid",
             [] {
                 return [b = on_this_thread()] {
                     return time_of_calls(spawns,
                                          [&] { return run_as_worker(*b, sum_of_spawned(*b)); });
                 };
             })
        .add("spawn, wait",
             [] {
                 return [b = on_this_thread()] {
                     return time_of_calls(spawns, [&] { return b->async(sum_of_waited).get(); });
                 };
             })
        .add("async, get", [] {
            return [b = on_this_thread()] {
                return time_of_calls(
                    spawns, [&] { return b->async([&] { return sum_of_futures(*b); }).get(); });
            };
        });
}

// ---- in conversation

braid::co<std::int64_t> asks(braid::channel<std::int64_t>& to, braid::channel<std::int64_t>& from) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < exchanges; ++i) {
        co_await to.push(i);
        sum += co_await from.pop();
    }
    co_return sum;
}

braid::co<> answers(braid::channel<std::int64_t>& from, braid::channel<std::int64_t>& to) {
    for (int i = 0; i < exchanges; ++i) co_await to.push(co_await from.pop());
}

double braid_pingpong(braid::scheduler& b) {
    braid::channel<std::int64_t> there(b, {.capacity = 1}), back(b, {.capacity = 1});
    return time_of_calls(exchanges, [&] {
        braid::future<void> other = braid::co_spawn(b, {}, answers(there, back));
        const std::int64_t sum = run_as_worker(b, asks(there, back));
        other.get();
        return sum;
    });
}

void add_pingpong(suite& s) {
    row& r = s.at("async.pingpong", "ns", "a number from one coroutine to another and back");
    r.add("braid", [] { return [b = on_this_thread()] { return braid_pingpong(*b); }; });
    add_asio_pingpong(r);
}

}  // namespace

void add_coroutines(suite& s) {
    add_call(s);
    add_spawn(s);
    add_pingpong(s);
}

}  // namespace bench::async
