#include "core/life/scopes_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void scopes_room::count_end(life_seat& w, scope_state& in, end_of_task end, std::uint64_t count) {
    scope_state::shard& shard = in.counts[scope_state::shard_of(w.index)];
    if (end == end_of_task::cancelled) shard.cancelled.fetch_add(count, relaxed);
    if (end == end_of_task::failed) shard.failed.fetch_add(count, relaxed);
    if (w.scope_ended_in != &in) flush_scope_ends(w);
    w.scope_ended_in = &in;
    w.scope_ends += count;
    if (w.depth != w.loop_depth) flush_scope_ends(w);
}

void scopes_room::flush_scope_ends(life_seat& w) {
    scope_state* const in = std::exchange(w.scope_ended_in, nullptr);
    if (in == nullptr) return;
    scope_state::shard& shard = in->counts[scope_state::shard_of(w.index)];
    // The key is computed here, from the address alone, because the scope may be destroyed once
    // these ends are counted.
    const std::uint64_t key = scope_key(in);
    // acq_rel: release pairs with the acquire loads in scope_done(), and acquire pairs with
    // mark_waited().
    const std::uint64_t before = shard.ended.fetch_add(std::exchange(w.scope_ends, 0), acq_rel);
    if ((before & scope_state::waited_bit) == 0) return;
    // The scope is read only while a waiter's record is in the bucket, so the scope is alive.
    lot().wake(
        key, UINT32_MAX, [&](wait_record&) { return scope_done(*in); },
        [this](unsigned seat) { notify(seat); });
}

bool scopes_room::scope_done(const scope_state& s) {
    std::uint64_t ended = 0;
    std::uint64_t created = 0;
    // acquire: pairs with the release in flush_scope_ends() and count_creation(). `ended` is read
    // before `created`, so every task that is counted as ended is counted as created, and so are
    // the tasks that it created.
    for (const scope_state::shard& shard : s.counts) {
        ended += shard.ended.load(acquire) & ~scope_state::waited_bit;
    }
    for (const scope_state::shard& shard : s.counts) created += shard.created.load(acquire);
    return ended == created;
}

bool scopes_room::mark_waited(scope_state& all) {
    for (scope_state::shard& shard : all.counts) {
        // This changes the word in which flush_scope_ends() counts, by one read-modify-write. So
        // flush_scope_ends() sees the bit, or scope_done() below sees its count. acquire: sees what
        // the ended tasks wrote.
        shard.ended.fetch_or(scope_state::waited_bit, acquire);
    }
    return !scope_done(all);
}

}  // namespace detail
BRAID_NAMESPACE_END
