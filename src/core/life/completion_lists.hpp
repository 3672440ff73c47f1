#pragma once
// Completions that are open: what each has, and those of scopes in lists, so that cancelling finds
// them. A completion that is to be asked goes into a queue: a thread that may run user code asks.

#include "braid/core/completion.hpp"
#include "core/life/completion_word.hpp"
#include "core/life/resources_room.hpp"

#include <cstdint>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A completion is a task of its own kind, a child of the one that deferred. Its body is
/// somebody outside.
extern const task_kind completion_kind;
/// Asks the one whose id `word` is: a timer_call.
void ask_late(runtime& rt, whole_seat& w, std::uint64_t word, const arrival& what);

/// In the storage of its slot. Written before it is armed, but for what a winner writes.
struct completion_facts {
    completion_hint hint;
    std::int64_t armed_at = 0;
    // Guarded by the list's lock; once one that asks has taken it out, that one's.
    std::uint32_t next = no_index, before = no_index;
    int code = 0;                    // the winner's
    std::uint32_t extra = no_index;  // what few have: a completion_extra
    enum class end : std::uint8_t { by_result, cancelled, late };
    end how = end::by_result;
    bool asked_late = false;   // by its deadline,
    bool due_is_well = false;  // which is no failure
    bool awaited = false;      // by a body that suspends: it has no share of the parent's open work
    bool listed = false;       // guarded by the list's lock
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
    /// no_index: no memory.
    std::uint32_t take_extra(life_seat& w) { return extras_.take(w.completion_extras); }
    void give_extra(life_seat& w, std::uint32_t index) { extras_.give(w.completion_extras, index); }

    /// Within a scope: a thread that cancels it finds it armed, or has cancelled before.
    void list_and_arm(std::uint32_t index, std::uint32_t as, std::uint32_t shares);
    void unlist(std::uint32_t index);
    /// The scope was cancelled: each of its completions that is listed is asked. Looks once at
    /// each.
    void ask_all_of(life_seat& w, const scope_state& in);
    /// A discarding shutdown began: every one that is not shielded is asked.
    void ask_all(life_seat& w);
    /// Asks one, if it is open and was not asked; by its deadline also a shielded one.
    void ask(life_seat& w, task_id id, bool late = false);
    /// Into a queue: a thread that may run code of the program goes on with it.
    void put_completion(life_seat& w, std::uint32_t index);
    /// Calls f(index) for each that is open, and stays as it is meanwhile. The last share of one
    /// that was settled goes into a queue.
    template <class F>
    void each_open(life_seat& w, F&& f);

private:
    struct alignas(64) shard {
        mutable mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// Slots that one thread takes one after the other come in batches.
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
