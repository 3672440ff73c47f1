#include "core/task/stable_ids.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

std::uint64_t stable_ids::next_root(std::uint64_t name) {
    const basic_locked<active_policy> lock(mutex_);
    creations_by_name* row = roots_;
    while (row != roots_ + names - 1 && row->name != name && row->name != 0) ++row;
    row->name = row != roots_ + names - 1 ? name : of_name("others");
    return join(row->name, row->count++);
}

}  // namespace detail
BRAID_NAMESPACE_END
