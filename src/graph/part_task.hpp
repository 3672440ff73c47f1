#pragma once
// A task below a run that stands for a part of it. It always runs, also when the scope of the run
// is cancelled or nothing is to run any more: what it stands for has to end one way or another.

#include "core/extension.hpp"

#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Calls part.run(core::seat&) later, on some thread. False: no memory, or shut down.
template <class Part>
bool post_part(runtime& rt, core::seat& w, task_id run, const char* name, const Part& part) {
    static_assert(std::is_trivially_copyable_v<Part> && sizeof(Part) <= closure_bytes);
    static constexpr task_environment no_scope{};
    const draft opened =
        open_task(rt, &w, {.name = name, .parent = run, .environment = &no_scope, .where = {}},
                  draft_kind::posted);
    if (opened.storage == nullptr) return false;
    core::runs_always(opened);
    ::new (opened.storage) Part(part);
    publish_task(rt, opened, [](void* storage, task_context* context) {
        if (context == nullptr) return;
        const Part self = *std::launder(static_cast<Part*>(storage));
        self.run(core::seat_of(*context));
    });
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
