// The memory of coroutines that wait.
#include "async/coroutines.hpp"
#include "async/news.hpp"

#include <braid/async.hpp>
#include <braid/core/event.hpp>
#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>
#include <braid/core/task_builder.hpp>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace bench::async {
namespace {

constexpr std::int64_t suspended = 1'000'000;
constexpr std::size_t state_bytes = 100;

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// What the coroutines of a row wait for: one task, one event, a place in one channel, or the
/// clock.
struct crowd {
    explicit crowd(braid::scheduler& s) : scheduler(s), all(s) {}

    void let_go() {
        gate.finish();
        set.set();
        numbers.close();
        all.cancel();  // those that sleep
    }

    braid::scheduler& scheduler;
    braid::scope all;
    braid::task_builder gate = scheduler.begin({}, braid::empty);
    braid::event set{scheduler};
    braid::channel<int> numbers{scheduler, {.capacity = 1}};
    std::int64_t to_begin = 0;
    std::int64_t sum = 0;
    std::optional<braid::event> all_began;
};

using some_state = std::array<unsigned char, state_bytes>;

[[gnu::noinline]] void fill(some_state& s, std::int64_t n) {
    for (unsigned char& byte : s) byte = static_cast<unsigned char>(n++);
}

[[gnu::noinline]] std::int64_t sum_of(const some_state& s) {
    return std::accumulate(s.begin(), s.end(), std::int64_t{0});
}

/// Its state is alive over the suspension, which is the await of `Kind` in wait_in().
template <class Kind>
braid::co<> waits(crowd& c, std::int64_t n) {
    some_state state;
    fill(state, n);
    if (--c.to_begin == 0) c.all_began->set();
    try {
        co_await Kind::wait_in(c);
    } catch (const braid::channel_closed&) {
    } catch (const braid::task_cancelled&) {
    }
    c.sum += sum_of(state);
}

struct for_a_task {
    static auto wait_in(crowd& c) { return c.gate.id(); }
};
struct for_an_event {
    static braid::event& wait_in(crowd& c) { return c.set; }
};
struct for_a_number {
    static auto wait_in(crowd& c) { return c.numbers.pop(); }
};
struct for_an_hour {
    static auto wait_in(crowd&) { return braid::sleep_for(braid::seconds(3600)); }
};

std::int64_t sum_of_states() {
    std::int64_t sum = 0;
    some_state state;
    for (std::int64_t n = 0; n < suspended; ++n) {
        fill(state, n);
        sum += sum_of(state);
    }
    return sum;
}

/// Of each, in bytes, in a process that has never had any; less than 0: the answer was wrong.
template <class Kind>
double bytes_of_suspended() {
    constexpr std::int64_t at_once = 1'000;
    braid::scheduler b({.workers = 0});
    crowd c(b);
    std::vector<braid::future<void>> all(suspended);  // not counted
    const double before = resident_bytes();
    for (std::int64_t n = 0; n < suspended;) {
        c.to_begin = at_once;
        c.all_began.emplace(b);
        for (const std::int64_t end = n + at_once; n < end; ++n) {
            all[static_cast<std::size_t>(n)] =
                braid::co_spawn(b, {.within = &c.all}, waits<Kind>(c, n));
        }
        b.work_until(*c.all_began);
    }
    const double after = resident_bytes();
    c.let_go();
    c.all.wait();
    return c.sum == sum_of_states() ? (after - before) / suspended : -1;
}

/// What `take` returns in a copy of this process.
double in_a_child(double (*take)()) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe can be made.");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no second process can be made.");
    double value = -1;
    if (child == 0) {
        malloc_trim(0);  // what lies free in the heap is no longer resident, so it is counted
        value = take();
        _exit(write(ends[1], &value, sizeof value) == sizeof value ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &value, sizeof value) != sizeof value) value = -1;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return value;
}

template <class Kind>
double memory_of_suspended() {
    const double bytes = in_a_child(bytes_of_suspended<Kind>);
    if (bytes < 0) throw wrong_answer("not every coroutine went on with its state");
    return bytes;
}

constexpr std::int64_t awaits = 100'000;

/// Each kind of await that makes a frame, a task or an edge.
braid::co<std::int64_t> awaits_all_kinds(braid::scheduler& b, braid::channel<std::int64_t>& from,
                                         std::int64_t count) {
    constexpr auto same = [](std::int64_t n) -> braid::co<std::int64_t> { co_return n; };
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        sum += co_await same(1);
        sum += co_await braid::co_spawn(b, {}, same(1));
        sum += co_await from.pop();
        co_await b.spawn([&sum] { ++sum; });
    }
    co_return sum;
}

braid::co<> pushes(braid::channel<std::int64_t>& to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) co_await to.push(1);
}

/// What all of them sum up to is 4 * count.
std::int64_t await_all_kinds(braid::scheduler& b, braid::channel<std::int64_t>& numbers,
                             std::int64_t count) {
    braid::future<void> other = braid::co_spawn(b, {}, pushes(numbers, count));
    const std::int64_t sum = braid::co_spawn(b, {}, awaits_all_kinds(b, numbers, count)).get();
    other.get();
    return sum;
}

double allocations(braid::scheduler& b) {
    braid::channel<std::int64_t> numbers(b, {.capacity = 1});
    check_equal(await_all_kinds(b, numbers, 1'000), 4'000, "the sum");
    const counted_news news;
    const std::int64_t sum = await_all_kinds(b, numbers, awaits / 4);
    const std::uint64_t taken = news.count();
    check_equal(sum, awaits, "the sum");
    return static_cast<double>(taken);
}

}  // namespace

void add_memory(suite& s) {
    s.at("async.memory", "bytes", "resident, for each of 1,000,000 suspended, 100 of them state")
        .add("braid", [] { return memory_of_suspended<for_a_task>; });
    s.at("async.memory.event", "bytes", "the same, each of them waits for one event")
        .add("braid", [] { return memory_of_suspended<for_an_event>; });
    s.at("async.memory.pop", "bytes", "the same, each of them waits for what one channel brings")
        .add("braid", [] { return memory_of_suspended<for_a_number>; });
    s.at("async.memory.sleep", "bytes", "the same, each of them has a timer of its own")
        .add("braid", [] { return memory_of_suspended<for_an_hour>; });
    s.at("async.allocations", "calls", "of operator new for 100,000 awaits, once it runs")
        .add("braid", [] {
            return
                [b = std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 0})] {
                    return allocations(*b);
                };
        });
}

}  // namespace bench::async
