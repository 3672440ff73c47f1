#pragma once

#include "braid/base/policy.hpp"
#include "braid/core/scheduler.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The bodies of a batch. `run` is called with a batch_member for each index.
struct batch_bodies {
    closure_fn run;
    void* shared;  // the batch's closure, which is kept until all bodies have run
    std::size_t count;
};
BRAID_API void spawn_members(task_context& context, const batch_bodies& all);
/// Returns false and calls the assertion handler if `count` is above scheduler::most_bodies.
BRAID_API bool good_batch(const runtime& rt, std::size_t count);

struct batch_member {
    void* shared;
    std::size_t index;
};

template <class F>
struct batch {
    batch(F&& body, std::size_t n) : f(std::move(body)), count(n) {}
    batch(const F& body, std::size_t n) : f(body), count(n) {}

    F f;
    std::size_t count;

    static void run(void* storage, task_context* context) {
        if (context == nullptr) {
            stored<batch>::destroy(storage);
            return;
        }
        batch& all = stored<batch>::get(storage);
        spawn_members(*context, {&run_member, storage, all.count});
    }
    static void run_member(void* storage, task_context* context) {
        if (context == nullptr) return;
        const batch_member m = *std::launder(static_cast<batch_member*>(storage));
        const F& f = stored<batch>::get(m.shared).f;
        guarded(*context, [&] { f(m.index); });
    }
};

}  // namespace detail

template <class F>
    requires std::is_invocable_v<const std::decay_t<F>&, std::size_t>
task_id scheduler::spawn_batch(const task_options& options, std::size_t count, F&& f) {
    using batch = detail::batch<std::decay_t<F>>;
    if (count > most_bodies && !detail::good_batch(*rt_, count)) return {};
    return detail::submit_as<batch>(*rt_, nullptr, options, detail::draft_kind::shared, &batch::run,
                                    std::forward<F>(f), count);
}

BRAID_NAMESPACE_END
