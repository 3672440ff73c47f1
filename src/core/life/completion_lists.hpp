#pragma once
// The data of each open completion, and lists of the completions that belong to scopes. The
// cancellation of a scope finds its completions in these lists, and asks them. To ask a completion
// means to find out whether it may end early, mostly by calling its hint. The hint is user code. So
// the completion goes into a queue, and a thread that may run user code asks it.

#include "braid/core/completion.hpp"
#include "core/life/completion_word.hpp"
#include "core/life/resources_room.hpp"

#include <cstdint>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The task_kind of completions. A completion is a child of the task that defers or awaits it. It
/// has no body: another party ends it, mostly one outside the scheduler.
extern const task_kind completion_kind;
/// Asks the completion whose id is `word`. The completion's timer calls this at the deadline (see
/// timer_call).
void ask_late(runtime& rt, whole_seat& w, std::uint64_t word, const arrival& what);

/// The data of one completion, in the storage of its slot. It is written before the completion is
/// armed. Only the links and `listed` change later, and what the asking thread and the party that
/// settles the completion write.
struct completion_facts {
    completion_hint hint;
    std::int64_t armed_at = 0;
    // Links of the completion's list, guarded by the list's lock. Once a cancellation has removed
    // the completion from the list in order to ask it, only that cancellation uses the links.
    std::uint32_t next = no_index, before = no_index;
    int code = 0;                    // written by the party that settles
    std::uint32_t extra = no_index;  // index of a completion_extra; few need one
    enum class end : std::uint8_t { by_result, cancelled, late };
    end how = end::by_result;
    bool asked_late = false;   // the deadline has asked it
    bool due_is_well = false;  // passing the deadline is no failure, as in a sleep
    bool awaited = false;      // a body awaits it, so it has no share of the parent's open work
    bool listed = false;       // is in a list; guarded by the list's lock
};
static_assert(sizeof(completion_facts) <= closure_bytes);

inline completion_facts& completion_at(slot& s) {
    return *std::launder(reinterpret_cast<completion_facts*>(s.storage));
}
inline const completion_facts& completion_at(const slot& s) {
    return *std::launder(reinterpret_cast<const completion_facts*>(s.storage));
}

struct completion_extra {
    completion_keep held;
    timer_id timer{};
};

class completion_lists : public resources_room {
public:
    completion_lists(const scheduler_options& o, const seat_plan& plan)
        : resources_room(o, plan), extras_(memory, memory_tag::completion) {}

    static bool is_outside(const slot& s) {
        // seq_cst: as in ask_all().
        return (index_of(s.open.load(seq_cst)) & completion_open) != 0;
    }

    completion_extra& extra_at(std::uint32_t index) const { return extras_[index]; }
    /// Returns no_index if there is no memory.
    std::uint32_t take_extra(life_seat& w) { return extras_.take(w.completion_extras); }
    void give_extra(life_seat& w, std::uint32_t index) { extras_.give(w.completion_extras, index); }

    /// Puts a completion of a scope into a list and arms it, both under the list's lock. A thread
    /// that cancels the scope later finds the completion armed. A thread that cancelled it before
    /// may have missed the completion, so the caller checks for that after this call.
    void list_and_arm(std::uint32_t index, std::uint32_t as, std::uint32_t shares);
    void unlist(std::uint32_t index);
    /// Asks each listed completion of a cancelled scope. Scans each list once.
    void ask_all_of(life_seat& w, const scope_state& in);
    /// Called when a discarding shutdown has begun. Asks every open completion that is not
    /// shielded.
    void ask_all(life_seat& w);
    /// Asks the completion if it is open and was not asked before. `late` means that its deadline
    /// has passed; even a shielded completion is asked then.
    void ask(life_seat& w, task_id id, bool late = false);
    /// Puts the completion into a queue. A thread that may run user code takes it from there, and
    /// asks or finishes it.
    void put_completion(life_seat& w, std::uint32_t index);
    /// Calls f(index) for each open completion. A share is held during the call, so the
    /// completion's slot is not recycled. If the completion was settled meanwhile and this was its
    /// last share, it goes into a queue to be finished.
    template <class F>
    void each_open(life_seat& w, F&& f);

private:
    struct alignas(64) shard {
        mutable mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// A thread takes its slots in batches of neighbouring indices, and neighbours share a shard.
    shard& shard_of(std::uint32_t index) { return lists_[index / 32 % shards]; }
    void unlink(shard& in, completion_facts& own) BRAID_REQUIRES(in.lock);
    std::uint32_t take_asked(shard& in, const scope_state& of);

    index_pool<completion_extra> extras_;
    shard lists_[shards];
};

template <class F>
void completion_lists::each_open(life_seat& w, F&& f) {
    for (std::uint32_t index = 0; index < slots.count(); ++index) {
        slot& s = slots.at(index);
        if (!is_outside(s) || !hold_completion(s.open, s.generation())) continue;
        f(index);
        if (drop_completion(s.open)) put_completion(w, index);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
