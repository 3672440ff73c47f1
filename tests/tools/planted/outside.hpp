#pragma once
// Frames that wait for what no thread of the scheduler does: a timer, a channel into which another
// coroutine pushes late, a completion that another thread ends late. Each for 5 ms.

#include "machine.hpp"

#include <braid/async/channel.hpp>
#include <braid/async/co.hpp>
#include <braid/async/timer.hpp>
#include <braid/braid.hpp>

#include <atomic>

namespace planted {

inline constexpr braid::nanoseconds late = braid::milliseconds(5);

inline braid::co<> sleeps() {
    work(0.3);
    co_await braid::sleep_for(late, "cooldown");
    work(0.3);
}

inline void sleep(braid::scheduler& s) { co_spawn(s, {.name = "weapon"}, sleeps()).get(); }

/// Nothing but its tick sets what the frame waits for.
inline void timer(braid::scheduler& s) {
    braid::event ready(s);
    const auto tick = [&] {
        work(0.3);
        ready.set();
    };
    const braid::timer respawn(s, {.name = "respawn", .in = late}, tick);
    s.do_work_while_waiting_for(ready);
}

inline braid::co<> takes(braid::channel<int>& orders) {
    work(0.3);
    const int how_many = co_await orders.pop();
    work(0.1 * how_many);
}

/// The frame does not wait for it, but for what it pushes.
inline braid::co<> gives(braid::channel<int>& orders) {
    co_await braid::sleep_for(late, "think");
    co_await orders.push(3);
}

inline void channel(braid::scheduler& s) {
    braid::channel<int> orders(s, {.name = "orders"});
    const braid::future<void> giver = co_spawn(s, {.name = "player"}, gives(orders));
    co_spawn(s, {.name = "unit"}, takes(orders)).get();
    s.wait(giver.id());
}

/// A thread of the program that ends what it is given when it has slept.
class disk {
public:
    explicit disk(braid::scheduler& s) : s_(s), reader_(reads{this}) {}
    void read(braid::completion_id id) {
        wanted_.store(id.value, std::memory_order_relaxed);  // ask() makes it visible
        reader_.ask();
    }

private:
    struct reads {
        disk* of;
        void operator()() const {
            pass(late.value * 1e-6);
            of->s_.complete({of->wanted_.load(std::memory_order_relaxed)});  // after ask()
        }
    };

    braid::scheduler& s_;
    std::atomic<std::uint64_t> wanted_{0};
    helper<reads> reader_;
};

inline void completion(braid::scheduler& s) {
    disk slow(s);
    const braid::task_id level = s.spawn({.name = "level"}, [&](braid::task_context& t) {
        slow.read(t.defer({.name = "disk read"}));
        work(0.3);
    });
    s.wait(s.spawn({.name = "place", .after = {level}}, [] { work(0.3); }));
}

/// The frame waits for it, but for the work beside it longer.
inline braid::co<> naps() { co_await braid::sleep_for(braid::milliseconds(1), "nap"); }

}  // namespace planted
