#pragma once
// Scopes count tasks that were made and tasks that have ended, and say whether all have ended.

#include "braid/core/scope.hpp"
#include "core/life/life_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class end_of_task : std::uint8_t { executed, failed, cancelled };

/// Returns the scope of the tasks with that environment, or null if they are in no scope.
inline scope_state* scope_of(const task_environment* e) {
    return e != nullptr && e->within != nullptr ? &e->within->internals() : nullptr;
}

class scopes_room : public ready_room {
public:
    using ready_room::ready_room;

    static void count_creation(const life_seat& w, const task_environment* environment,
                               std::uint64_t count = 1) {
        scope_state* const in = scope_of(environment);
        if (in == nullptr) return;
        scope_state::shard& shard = in->counts[scope_state::shard_of(w.index)];
        // release: pairs with the acquire in scope_done().
        if (w.index < scope_state::shards - 1) {
            shard.created.store(shard.created.load(relaxed) + count, release);  // the only writer
        } else {
            shard.created.fetch_add(count, release);
        }
    }
    /// Counts the ends of `count` tasks. Between two tasks of a thread's loop, the ends are only
    /// added up in the seat. flush_scope_ends() counts them in the scope when the loop goes on to
    /// another scope or finds nothing more to run. In a task's body, or outside a loop, they are
    /// counted at once, because nothing would count them later.
    void count_end(life_seat& w, scope_state& in, end_of_task end, std::uint64_t count = 1);
    /// Counts the added-up ends in their scope. A thread calls this before it does anything that
    /// may last.
    void flush_scope_ends(life_seat& w);
    static bool scope_done(const scope_state& s);
    /// Records, under the lock of the key's bucket, that a thread waits for the scope. Returns
    /// false if all tasks have ended.
    static bool mark_waited(scope_state& all);
    static bool scope_cancelled(const slot& s) {
        const scope_state* const in = scope_of(s.environment.load(relaxed));
        return in != nullptr && in->cancelled.load(acquire);  // pairs with scope::cancel()
    }
};

}  // namespace detail
BRAID_NAMESPACE_END
