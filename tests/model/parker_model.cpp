// No wake-up is lost, and what the waker wrote before is visible after park() (I5).
#include "base/parker.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using parker = braid::basic_parker<policy>;

/// One owner that looks and parks; `Wakers` threads that each change the world and notify.
template <unsigned Wakers>
struct look_then_park : rl::test_suite<look_then_park<Wakers>, Wakers + 1> {
    parker here;
    atomic<std::uint32_t> done[Wakers];
    plain<int> written[Wakers];

    void thread(unsigned index) {
        if (index < Wakers) {
            written[index] = 1;
            done[index].store(1, std::memory_order::relaxed);
            here.notify();
            return;
        }
        bool all = false;
        while (!all) {
            all = true;
            for (auto& d : done) all = all && d.load(std::memory_order::relaxed) != 0;
            if (!all) here.park();
        }
    }
};

/// Without a deadline park() returns after a notification only, and shows what came before it.
struct park_makes_visible : rl::test_suite<park_makes_visible, 2> {
    parker here;
    plain<int> written;

    void thread(unsigned index) {
        if (index == 0) {
            written = 1;
            here.notify();
            return;
        }
        require(here.park(), "in time, for there is no deadline");
        require(written == 1, "the waker's write is visible");
    }
};

/// A deadline that passes while the notification arrives: taken along or kept, never lost.
struct deadline_or_notification : rl::test_suite<deadline_or_notification, 2> {
    parker here;
    plain<int> written;

    void before() { policy::clock = 0; }
    void thread(unsigned index) {
        if (index == 0) {
            written = 1;
            here.notify();
            return;
        }
        if (!here.park(1)) {
            require(policy::now() >= 1, "out of time only after the deadline");
            here.park();
        }
        require(written == 1, "the waker's write is visible");
    }
};

}  // namespace

int main() {
    bool good = explore_all<look_then_park<1>>("parker: one waker");
    good = good && explore_bounded<look_then_park<2>>("parker: two wakers", 3);
    good = good && explore_randomly<look_then_park<2>>("parker: two wakers", 1'000'000);
    good = good && explore_randomly<look_then_park<3>>("parker: three wakers", 500'000);
    good = good && explore_all<park_makes_visible>("parker: what the waker wrote");
    good = good && explore_all<deadline_or_notification>("parker: deadline");
    return good ? 0 : 1;
}
