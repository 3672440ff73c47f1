#include "graph/serial_walk.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool serial_walk::prepare(const graph_state& g) {
    if (sorted_ == g.sorted) return true;
    const auto n = static_cast<std::uint32_t>(g.plan.size());
    graph_array<std::uint32_t> left(core::memory(g.rt));  // predecessors that are not in the order
    order_.clear();
    if (!order_.reserve(n) || !lost_.reset(n) || !left.reset(n)) return false;
    constexpr std::uint32_t taken = UINT32_MAX;
    for (std::uint32_t i = 0; i < n; ++i) left[i] = g.plan[i].task ? g.plan[i].waits_for : taken;
    for (std::uint32_t i = 0; i < n;) {
        if (left[i] != 0) {
            ++i;
            continue;
        }
        left[i] = taken;
        order_.push(i);
        // Back to the earliest that may go now.
        std::uint32_t next = i + 1;
        g.each_successor(i, [&](std::uint32_t to) {
            if (--left[to] == 0) next = std::min(next, to);
        });
        i = next;
    }
    sorted_ = g.sorted;
    return true;
}

std::exception_ptr serial_walk::run(const graph_state& g, task_context& context) {
    std::fill(lost_.begin(), lost_.end(), std::uint8_t{0});
    std::exception_ptr failure;
    std::uint32_t failed = UINT32_MAX;
    for (const std::uint32_t i : order_) {
        const graph_plan& p = g.plan[i];
        if (lost_[i] == 0 && p.call != nullptr) {
            p.call(p.task.storage(), &context);
            const core::running_body body(core::seat_of(context));
            if (!body.failed()) continue;
            lost_[i] = 1;
            std::exception_ptr error = body.take_error();
            if (i < failed) failure = std::move(error);
            failed = std::min(failed, i);
        }
        if (lost_[i] != 0) g.each_successor(i, [&](std::uint32_t to) { lost_[to] = 1; });
    }
    return failure;
}

}  // namespace detail
BRAID_NAMESPACE_END
