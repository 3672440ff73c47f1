#include "braid/core/resource.hpp"

#include "core/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// True when the task holds all it needs. Otherwise it lies in the line of the one that it lacks
/// and comes back here when that one is granted.
bool runtime::acquire_resources(worker& w, std::uint32_t index) {
    detail_block& d = *detail_of(slot_at(index));
    if (d.resources_held == 0) {
        // The order of ids: two tasks never hold what the other lacks.
        std::sort(d.resources, d.resources + d.resource_count,
                  [](const resource* a, const resource* b) { return a->id_ < b->id_; });
    }
    while (d.resources_held != d.resource_count) {
        resource& r = *d.resources[d.resources_held];
        {
            const std::lock_guard lock(r.mutex_);
            if (r.held_ == r.limit_) {
                slot_at(index).next.store(no_index, relaxed);
                if (r.first_ == no_index) {
                    r.first_ = index;
                } else {
                    slot_at(r.last_).next.store(index, relaxed);
                }
                r.last_ = index;
                return false;
            }
            ++r.held_;
        }
        ++d.resources_held;
        if (observed()) report_resource(w, event_kind::acquired, id_of(index), &r, r.name_);
    }
    return true;
}

void runtime::release_resources(worker& w, std::uint32_t index) {
    detail_block& d = *detail_of(slot_at(index));
    while (d.resources_held != 0) {
        resource& r = *d.resources[--d.resources_held];
        if (observed()) report_resource(w, event_kind::released, id_of(index), &r, r.name_);
        std::uint32_t heir = no_index;
        {
            const std::lock_guard lock(r.mutex_);
            heir = r.first_;
            if (heir == no_index) {
                --r.held_;
            } else if (serial() != nullptr) {
                heir = take_chosen_heir(r);
            } else {
                r.first_ = slot_at(heir).next.load(relaxed);
                if (r.first_ == no_index) r.last_ = no_index;
            }
        }
        if (heir == no_index) continue;
        // Passed on without becoming free in between: first come, first served. A chooser may say
        // otherwise, for those in line may have come in any order.
        ++detail_of(slot_at(heir))->resources_held;
        if (observed()) report_resource(w, event_kind::acquired, id_of(heir), &r, r.name_);
        if (acquire_resources(w, heir)) enqueue(w, heir);
    }
}

}  // namespace detail

resource::resource(scheduler& s, const char* name, std::uint32_t limit)
    : rt_(s.internals()),
      name_(name),
      limit_(std::max<std::uint32_t>(limit, 1)),
      id_(rt_.next_resource.fetch_add(1, relaxed)) {}

resource::~resource() {
    BRAID_EXPECT(rt_.options().assertion, held_ == 0 && first_ == detail::no_index,
                 "a resource must outlive the tasks that use it");
}

BRAID_NAMESPACE_END
