#pragma once
// Open completions: what each of them has, and lists of those that belong to scopes, so that a
// cancellation finds them. A completion that is to be asked goes into a queue, and a thread that
// may run user code asks it.

#include "braid/core/completion.hpp"
#include "core/life/completion_word.hpp"
#include "core/life/resources_room.hpp"

#include <cstdint>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A completion is a task of its own kind, and a child of the task that deferred it. A party
/// outside the scheduler takes the place of its body.
extern const task_kind completion_kind;
/// Asks the completion whose id is `word`. A timer calls this (timer_call) at the deadline.
void ask_late(runtime& rt, whole_seat& w, std::uint64_t word, const arrival& what);

/// What a completion has, in the storage of its slot. It is written before the completion is armed,
/// except for the links, `listed`, and what the asking thread and the winner write.
struct completion_facts {
    completion_hint hint;
    std::int64_t armed_at = 0;
    // The links of the list are guarded by the list's lock. Once a cancellation has taken the
    // completion out of the list to ask it, they belong to that cancellation.
    std::uint32_t next = no_index, before = no_index;
    int code = 0;                    // written by the winner
    std::uint32_t extra = no_index;  // a completion_extra, which few completions have
    enum class end : std::uint8_t { by_result, cancelled, late };
    end how = end::by_result;
    bool asked_late = false;   // the deadline has asked it
    bool due_is_well = false;  // a missed deadline is no failure
    bool awaited = false;      // a body awaits it, so it has no share of the parent's open work
    bool listed = false;       // lies in a list; guarded by the list's lock
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
        : resources_room(o, plan), extras_(memory(), memory_tag::completion) {}

    static bool is_outside(const slot& s) {
        // seq_cst: as in ask_all().
        return (index_of(s.open.load(seq_cst)) & completion_open) != 0;
    }

    completion_extra& extra_at(std::uint32_t index) const { return extras_[index]; }
    /// Returns no_index if there is no memory.
    std::uint32_t take_extra(life_seat& w) { return extras_.take(w.completion_extras); }
    void give_extra(life_seat& w, std::uint32_t index) { extras_.give(w.completion_extras, index); }

    /// Lists and arms a completion of a scope in one step. A thread that cancels the scope finds
    /// the completion armed, or has cancelled the scope before.
    void list_and_arm(std::uint32_t index, std::uint32_t as, std::uint32_t shares);
    void unlist(std::uint32_t index);
    /// Asks each listed completion of a scope that was cancelled. Looks once at each completion.
    void ask_all_of(life_seat& w, const scope_state& in);
    /// Asks every open completion that is not shielded, when a discarding shutdown has begun.
    void ask_all(life_seat& w);
    /// Asks a completion if it is open and was not asked before. If `late` is true, the deadline
    /// asks, and a shielded completion is asked, too.
    void ask(life_seat& w, task_id id, bool late = false);
    /// Puts a completion into a queue. A thread that may run code of the program then asks or
    /// finishes it.
    void put_completion(life_seat& w, std::uint32_t index);
    /// Calls f(index) for each open completion, and holds a share during the call, so that the
    /// completion stays as it is. If this was the last share of a completion that was settled
    /// meanwhile, the completion goes into a queue.
    template <class F>
    void each_open(life_seat& w, F&& f);

private:
    struct alignas(64) shard {
        mutable mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// Slots that one thread takes one after the other come in batches of neighbours, and
    /// neighbours share a shard.
    shard& shard_of(std::uint32_t index) { return lists_[index / 32 % shards]; }
    void unlink(shard& in, completion_facts& own) BRAID_REQUIRES(in.lock);
    std::uint32_t take_asked(shard& in, const scope_state& of);

    index_pool<completion_extra> extras_;
    shard lists_[shards];
};

template <class F>
void completion_lists::each_open(life_seat& w, F&& f) {
    for (std::uint32_t index = 0; index < slot_count(); ++index) {
        slot& s = slot_at(index);
        if (!is_outside(s) || !hold_completion(s.open, s.generation())) continue;
        f(index);
        if (drop_completion(s.open)) put_completion(w, index);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
