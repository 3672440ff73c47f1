// The end of a join whose branch is public: the owner takes the branch back, or waits for its
// thief.
#include "core/wait/search.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

bool wait_room::join_popped(wait_seat& w, fork_slot* slot) {
    const bool stolen = !take_back_join(w, slot);
    if (stolen) {
        w.top->context.internals().id_taken = true;  // the thief may know the id
        w.joins->top = slot + 1;                     // keeps the slot in use for the result
        wait_for_branch(w, *slot);
    }
    end_join(w, slot, stolen);
    if (!report.observed() && !w.joins->identified) return !stolen;
    if (stolen) {
        if (!report.observed()) return false;
        const auto thief = static_cast<std::uint16_t>(
            slot->state.load(relaxed) >> fork_slot::seat_shift & fork_slot::seat_mask);
        report.branch(w.index, event_kind::joined, slots.id_of(w.top->slot), *slot, thief);
    } else {
        // relaxed: the slot belongs to this thread alone again.
        slot->state.store(fork_slot::unstolen, relaxed);
    }
    return false;
}

void wait_room::wait_for_branch(wait_seat& w, fork_slot& branch) {
    constexpr unsigned looks = 512;
    constexpr auto nothing = [](std::uint64_t) { return false; };
    for (unsigned n = 0; !serial && n < looks; ++n) {
        // acquire: pairs with branch_source::finish().
        if ((branch.state.load(acquire) & fork_slot::finished) != 0) return;
        if (enough_stack(*this, w) && steal_needed_branch(w, {.branch = &branch}, nothing)) {
            n = 0;
            continue;
        }
        active_policy::relax();
    }
    wait(w, {.branch = &branch}, no_limit, help::needed, nullptr);
}

bool wait_room::steal_needed_branch(wait_seat& w, const wait_target& target, id_test wanted) {
    if (target.branch != nullptr) {
        // Takes only branches that the thief has made while it ran this one. All other branches of
        // the thief are below the height `from`.
        const std::uint32_t seen = target.branch->state.load(relaxed);
        if ((seen & fork_slot::taken) == 0 || (seen & fork_slot::finished) != 0) return false;
        const ready_seat& thief = seat_at(seen >> fork_slot::seat_shift & fork_slot::seat_mask);
        const std::uint32_t from = seen >> fork_slot::height_shift & fork_slot::height_mask;
        return run_claimed(w, claim_branch(w, thief, from, [](std::uint64_t) { return true; }));
    }
    if (w.kind == seat_kind::background) return false;
    if (target.run_everything) return steal_branch(w);
    if (target.signal != nullptr) return false;
    const unsigned count = seat_count();
    for (unsigned n = 1; n < count; ++n) {
        const ready_seat& victim = seat_at((w.index + n) % count);
        if (run_claimed(w, claim_branch(w, victim, 0, wanted))) return true;
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
