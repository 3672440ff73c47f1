// A coroutine loads, decodes and spawns. Between its steps no thread waits for it.
#include <braid/async.hpp>
#include <braid/braid.hpp>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

struct request {
    std::string name;
    std::vector<int> bytes;
};

/// Stands for a disk: answers 1 ms after it was asked, from another thread or none.
braid::co<std::vector<int>> read(request r) {
    co_await braid::sleep_for(braid::milliseconds(1), "disk");
    co_return std::move(r.bytes);
}

/// In parallel: a task for each half.
braid::co<int> decode(braid::scheduler& scheduler, const std::vector<int>& bytes) {
    const auto half = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
    auto low = scheduler.async({.name = "decode"},
                               [&, half] { return std::accumulate(bytes.begin(), half, 0); });
    auto high = scheduler.async({.name = "decode"},
                                [&, half] { return std::accumulate(half, bytes.end(), 0); });
    const int first = co_await std::move(low);
    co_return first + co_await std::move(high);
}

/// Serves requests until there are no more.
braid::co<int> load(braid::scheduler& scheduler, braid::channel<request>& wanted) {
    int sum = 0;
    while (true) {
        auto next = co_await braid::as_result(wanted.pop());
        if (!next.value) co_return sum;
        co_await braid::resume_on(braid::task_class::background);
        const std::vector<int> bytes = co_await read(std::move(*next.value));
        co_await braid::resume_on(braid::task_class::frame);
        sum += co_await decode(scheduler, bytes);
    }
}

}  // namespace

int main() {
    braid::scheduler scheduler;
    braid::channel<request> wanted(scheduler, {.name = "wanted", .capacity = 2});
    braid::future<int> loaded =
        braid::co_spawn(scheduler, {.name = "load"}, load(scheduler, wanted));
    const auto asks = [](braid::channel<request>& to) -> braid::co<> {
        for (int i = 1; i <= 5; ++i) {
            request r{"mesh " + std::to_string(i), std::vector<int>(100, i)};
            co_await to.push(std::move(r));
        }
        to.close();
    };
    braid::co_spawn(scheduler, {.name = "ask"}, asks(wanted)).get();
    const int sum = loaded.get();
    std::printf("loaded: %d\n", sum);
    return sum == 1'500 ? 0 : 1;
}
