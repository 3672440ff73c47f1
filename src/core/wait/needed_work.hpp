#pragma once
// Which tasks an awaited task needs. See "How needed work is found" in docs/design/wait.md.

#include "core/task/words.hpp"
#include "core/wait/wait_room.hpp"

#include <algorithm>
#include <iterator>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The tasks that an awaited task is known to need: itself, its open predecessors, and what
/// running members wait for. An entry is needed when it is one of them, below one of them, or
/// must end before one of those can start. Behind them lies what it may need, see follow().
///
/// The list is kept with the seat and used again for the next task of the same wait: ids carry
/// generations, so a member that is complete by then just matches nothing.
class needed_work {
public:
    needed_work(const wait_room& rt, wait_seat& w)
        : rt_(rt), waiter_(w), list_(w.needed), count_(w.needed_count), known_(w.known_needed) {}

    void find(task_id awaited) {
        count_ = 0;
        add(awaited);
        for (unsigned i = 0; i < count_; ++i) add_predecessors(list_[i]);
        follow(false);
        known_ = count_;
        if (any_is_limited_ || any_is_direct()) follow(true);
    }

    /// `perhaps`: also where it may be needed.
    bool contains(std::uint64_t entry, bool perhaps) const {
        return contains(entry, perhaps ? count_ : known_, 2);
    }

private:
    static constexpr unsigned limit = std::size(decltype(wait_seat::needed){}), width = 4;

    bool contains(std::uint64_t entry, unsigned count, unsigned reach) const {
        for (unsigned i = 0; i < count; ++i) {
            if (entry == list_[i].value || rt_.descends(index_of(entry), list_[i])) return true;
        }
        if (reach == 0) return false;
        // Upwards: does somebody needed wait for this one?
        const slot& s = rt_.slot_at(index_of(entry));
        std::uint32_t e = first_edge(s.successors.load(acquire));
        for (unsigned n = 0; n < width && e < no_edge && rt_.has_edge(e); ++n) {
            const edge& to = rt_.edge_at(e);
            const bool counts = to.await.load(relaxed) != edge_torn;
            if (counts && contains(to.to.load(relaxed), count, reach - 1)) return true;
            e = to.next.load(relaxed);
        }
        const std::uint32_t parent = s.parent.load(relaxed);
        return parent != no_index && rt_.has_slot(parent) &&
               contains(rt_.id_of(parent).value, count, reach - 1);
    }

    /// What running members wait for may bring further members in. `guesses`: also what may not be
    /// needed.
    /// - A wait that may run out of time may go on without what it waits for.
    /// - A task for another thread alone may not start before what that thread waits for in its
    ///   bodies is complete. Or it starts on top of them, and what is run here in the meantime may
    ///   wait for this waiter.
    void follow(bool guesses) {
        for (unsigned before = 0; before != count_;) {
            const unsigned from = before;
            before = count_;
            add_awaited_by_members(guesses);
            for (unsigned i = from; i < count_; ++i) add_predecessors(list_[i]);
        }
    }

    void add(task_id id) {
        if (!id || count_ == limit) return;
        for (unsigned i = 0; i < count_; ++i) {
            if (list_[i] == id) return;
        }
        list_[count_++] = id;
    }

    void add_predecessors(task_id id) {
        unsigned n = 0;
        rt_.any_predecessor(id, [&](task_id from) {
            if (rt_.is_open(from)) add(from);
            return ++n == limit;
        });
    }

    void add_awaited_by_members(bool guesses) {
        const unsigned seats = rt_.seat_count();
        for (unsigned i = 0; i < seats; ++i) {
            const wait_seat* w = &rt_.seat_at(i);
            const unsigned shown =
                std::min<unsigned>(w->shown.load(acquire), wait_seat::shown_depth);
            const bool all = guesses && w != &waiter_ && shown != 0 && awaits_seat(w->index);
            // Whatever lies on top of a member must end before the member goes on.
            const auto is_member = [&](std::uint64_t task) { return contains(task, count_, 0); };
            look_at_stack(w->frames, shown, all, is_member, [&](std::uint64_t id, bool limited) {
                if (!limited || guesses) return add(task_id{id});
                any_is_limited_ = true;
            });
        }
    }

    /// Without one there is nothing to guess.
    bool any_is_direct() const {
        return std::any_of(list_, list_ + count_,
                           [&](task_id id) { return rt_.is_direct(rt_.slot_at(id)); });
    }

    bool awaits_seat(unsigned seat) const {
        for (unsigned i = 0; i < count_; ++i) {
            const slot& s = rt_.slot_at(list_[i]);
            if (!rt_.is_open(list_[i]) || !rt_.is_direct(s) || s.runner.load(relaxed) != UINT16_MAX)
                continue;
            const detail_block* d = rt_.detail_of(s);
            if (d != nullptr && d->seat.load(relaxed) == seat) return true;
        }
        return false;
    }

    const wait_room& rt_;
    const wait_seat& waiter_;
    task_id* list_;
    unsigned& count_;
    unsigned& known_;  // of those in the list; the rest is guessed
    bool any_is_limited_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
