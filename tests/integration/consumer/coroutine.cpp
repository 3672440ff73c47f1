#include <braid/async.hpp>
#include <braid/core/scheduler.hpp>

namespace {

braid::co<int> doubled(braid::channel<int>& from) {
    co_await braid::sleep_for(braid::microseconds(100));
    const auto n = co_await braid::as_result(from.pop());
    co_return n.value.value_or(0) * 2;
}

}  // namespace

int doubled_by_a_coroutine(braid::scheduler& scheduler, int number) {
    braid::channel<int> numbers(scheduler);
    auto result = braid::co_spawn(scheduler, {.name = "doubled"}, doubled(numbers));
    numbers.try_push(int{number});
    return result.get();
}
