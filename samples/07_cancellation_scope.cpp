// A scope counts its tasks, waits for them as one and cancels what has not started.
#include <braid/braid.hpp>

#include <atomic>
#include <cstdio>

int main() {
    braid::scheduler scheduler;
    braid::scope search(scheduler);
    std::atomic<int> looked{0};
    for (int place = 0; place < 1'000; ++place) {
        search.post([&](braid::task_context& task) {
            if (task.cancelled()) return;
            if (++looked == 10) search.cancel();  // found: the others need not look
        });
    }
    search.wait();
    const braid::scope_account account = search.account();
    std::printf("%llu ran, %llu never had to\n", static_cast<unsigned long long>(account.executed),
                static_cast<unsigned long long>(account.cancelled));
    return account.executed + account.cancelled == 1'000 ? 0 : 1;
}
