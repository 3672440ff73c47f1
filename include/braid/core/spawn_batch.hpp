#pragma once

#include "braid/core/scheduler.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// `count` children of the running task, pushed together: each runs `run` with a batch_member in
/// its storage.
BRAID_API void spawn_members(task_context& context, std::size_t count, closure_fn run,
                             void* shared);

struct batch_member {
    void* shared;  // the parent's storage: complete only after its children, so it is alive
    std::size_t index;
};

template <class F>
struct batch {
    F f;
    std::size_t count;

    static void run(void* storage, task_context* context) {
        if (context == nullptr) {
            stored<batch>::destroy(storage);
            return;
        }
        spawn_members(*context, stored<batch>::get(storage).count, &run_member, storage);
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
    return detail::submit_as<batch>(*rt_, nullptr, options, detail::draft_kind::shared, &batch::run,
                                    std::forward<F>(f), count);
}

BRAID_NAMESPACE_END
