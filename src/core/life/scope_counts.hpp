#pragma once
// What a scope counts when a task is made. The end: count_end() in complete.cpp.

#include "braid/core/scope.hpp"
#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

inline void runtime::count_creation(worker& w, const task_environment* environment,
                                    std::uint64_t count) {
    if (environment == nullptr || environment->within == nullptr) return;
    scope::shard& shard = environment->within->shard_[scope::shard_of(w.index)];
    // release: pairs with the acquire in the sums of a scope's wait.
    if (w.index < scope::shards - 1) {
        shard.created.store(shard.created.load(relaxed) + count, release);  // this seat's alone
    } else {
        shard.created.fetch_add(count, release);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
