#pragma once
// Finds the tasks that must end before an awaited task can end. The waiter may run these tasks on
// top of its wait. See "How needed work is found" in docs/design/wait.md.

#include "core/slots/words.hpp"
#include "core/wait/wait_list.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The tasks that one wait needs. The list starts with the members, which the awaited task surely
/// needs: the task itself, its open predecessors, and what running members wait for. A ready task
/// is needed if it is a member, if it descends from a member, or if it must end before one of those
/// can start. After the members, the list holds tasks that are perhaps needed; see follow().
///
/// The list is in the waiter's seat, and the next search of the same wait uses it again. Ids carry
/// generations, so a member that has completed by then matches no ready task. In a wait for several
/// tasks, all of them are members, but they take no room in the list.
class needed_work {
public:
    needed_work(wait_room& rt, wait_seat& w, const wait_target& target)
        : rt_(rt),
          waiter_(w),
          target_(target),
          list_(w.needed),
          count_(w.needed_count),
          known_(w.known_needed),
          perhaps_(w.perhaps_needed) {}

    /// Fills the list in steps, the surest tasks first. Each step leaves room for the next one.
    void find() {
        count_ = 0;
        room_ = limit / 2;
        if (target_.list == nullptr) {
            add(target_.task);
        } else {
            target_.list->any_open([&](task_id id) {
                add_predecessors(id);
                return count_ == room_;
            });
        }
        for (unsigned i = 0; i < count_; ++i) add_predecessors(list_[i]);
        room_ = limit * 3 / 4;
        follow(sure);
        known_ = count_;
        room_ = limit * 7 / 8;
        if (any_is_limited_) follow(limited);
        perhaps_ = count_;
        room_ = limit;
        if (any_is_direct()) follow(for_threads);
    }

    /// Says how sure it must be that a task is needed. Each value includes what the values before
    /// it include.
    enum certainty : std::uint8_t {
        sure,
        /// Includes what other threads wait for with a time limit. Such a wait may run out of time,
        /// and its task then goes on without what it waited for.
        limited,
        /// Includes a guess. If only one other thread may run a member, that thread may first have
        /// to end the bodies on its stack. So what these bodies wait for may be needed. But that
        /// thread may also run the member on top of these bodies. In that case, what this thread
        /// has run because of the guess may wait for this waiter.
        for_threads,
    };
    bool contains(std::uint64_t entry, certainty how) const {
        return contains(entry, how == sure ? known_ : how == limited ? perhaps_ : count_, 2);
    }

private:
    static constexpr unsigned limit = std::size(decltype(wait_seat::needed){}), width = 4;

    bool contains(std::uint64_t entry, unsigned count, unsigned reach) const {
        for (unsigned i = 0; i < count; ++i) {
            if (entry == list_[i].value || rt_.slots.descends(index_of(entry), list_[i]))
                return true;
        }
        if (target_.list != nullptr && is_below_listed(entry)) return true;
        if (reach == 0) return false;
        // The entry is not in the list, and descends from no task in it. Checks whether a needed
        // task waits for the entry: goes up to its successors and to its parent, `reach` levels at
        // most.
        const slot& s = rt_.slots.at(index_of(entry));
        std::uint32_t e = first_edge(s.successors.load(acquire));
        for (unsigned n = 0; n < width && e < no_edge && rt_.edges.has(e); ++n) {
            const edge& to = rt_.edges.at(e);
            const bool counts = to.await.load(relaxed) != edge_torn;
            if (counts && contains(to.to.load(relaxed), count, reach - 1)) return true;
            e = to.next.load(relaxed);
        }
        const std::uint32_t parent = s.parent.load(relaxed);
        return parent != no_index && rt_.slots.has(parent) &&
               contains(rt_.slots.id_of(parent).value, count, reach - 1);
    }

    /// Returns true if the entry is one of the tasks that this wait is for, or a descendant of one.
    bool is_below_listed(std::uint64_t entry) const {
        constexpr unsigned deep = 64;
        if (rt_.slots.at(index_of(entry)).depth.load(relaxed) > deep) {
            const auto is_below = [&](task_id id) {
                return rt_.slots.descends(index_of(entry), id);
            };
            return target_.list->any_open(is_below);
        }
        for (unsigned n = 0; n <= deep; ++n) {
            if (target_.list->has(task_id{entry})) return true;
            const std::uint32_t parent = rt_.slots.at(index_of(entry)).parent.load(relaxed);
            if (parent == no_index || !rt_.slots.has(parent)) return false;
            entry = rt_.slots.id_of(parent).value;
        }
        return false;
    }

    /// Adds what running members wait for. Repeats this until nothing is added, because a new
    /// member may wait for further tasks.
    void follow(certainty how) {
        for (unsigned before = limit + 1; before != count_ && count_ != room_;) {
            before = count_;
            add_awaited_by_members(how);
            for (unsigned i = before; i < count_; ++i) add_predecessors(list_[i]);
        }
    }

    void add(task_id id) {
        if (!id || count_ == room_) return;
        for (unsigned i = 0; i < count_; ++i) {
            if (list_[i] == id) return;
        }
        list_[count_++] = id;
    }

    void add_predecessors(task_id id) {
        unsigned n = 0;
        rt_.edges.any_predecessor(id, [&](task_id from) {
            if (rt_.slots.is_open(from)) add(from);
            return ++n == limit || count_ == room_;
        });
    }

    /// A wait for several tasks that a scan has found on a thread's stack. Its frame shows only one
    /// of these tasks; add_listed() finds the others.
    struct several {
        std::uint16_t seat, depth;
        bool perhaps;
    };
    struct several_waits {
        several found[64];
        unsigned count = 0;
    };

    void add_awaited_by_members(certainty how) {
        several_waits waits;
        const unsigned seats = rt_.seat_count();
        for (unsigned i = 0; i < seats; ++i) add_awaited_on(rt_.seat_at(i), how, waits);
        if (waits.count == 0) return;
        // The first pass adds only tasks that certain threads must run, in case there is not room
        // for all.
        add_listed({waits.found, waits.count}, how, true);
        add_listed({waits.found, waits.count}, how, false);
    }

    void add_awaited_on(const wait_seat& w, certainty how, several_waits& waits) {
        const unsigned shown = std::min<unsigned>(w.shown.load(acquire), wait_seat::shown_depth);
        const bool all = how == for_threads && &w != &waiter_ && shown != 0 && awaits_seat(w.index);
        // A task on top of a member's body must end before the member can go on. So what such a
        // task waits for is needed, too.
        const auto is_member = [&](std::uint64_t task) { return contains(task, count_, 0); };
        const auto found = [&](unsigned depth, std::uint64_t wait, std::uint64_t awaited) {
            if (shown_frame::is_limited(wait) && how == sure) {
                any_is_limited_ = true;
                return;
            }
            add(task_id{awaited});
            if (!shown_frame::is_for_several(wait) || waits.count == std::size(waits.found)) return;
            waits.found[waits.count++] = {w.index, static_cast<std::uint16_t>(depth), all};
        };
        look_at_stack(w.frames, shown, all, is_member, found);
    }

    /// Adds the tasks of these waits, which it finds by the waits' records in the parking lot.
    /// While the lock of a record's bucket is held, the record's waiter cannot return. So the
    /// waiter's stack frames below its wait cannot change. `direct_only` selects the tasks that
    /// only certain threads may run.
    void add_listed(std::span<const several> waits, certainty how, bool direct_only) {
        if (count_ == room_) return;
        rt_.lot().look_at_all([&](const wait_record& r) {
            if (r.is_task || (r.limited && how == sure)) return false;
            const auto* const of = std::find_if(
                waits.data(), waits.data() + waits.size(),
                [&](const several& one) { return one.seat == r.seat && one.depth == r.depth; });
            if (of == waits.data() + waits.size()) return false;
            const task_id id{r.key};
            if (!rt_.slots.is_open(id) || (direct_only && !rt_.details.is_direct(rt_.slots.at(id))))
                return false;
            if (of->perhaps || any_below_is_member(*of)) add(id);
            return count_ == room_;
        });
    }

    bool any_below_is_member(const several& of) const {
        const wait_seat& w = rt_.seat_at(of.seat);
        return std::any_of(w.frames, w.frames + of.depth, [&](const shown_frame& frame) {
            return contains(frame.task(), count_, 0);
        });
    }

    /// Returns true if only certain threads may run one of the members. Without such a member there
    /// is nothing to guess.
    bool any_is_direct() const {
        return any_member([&](task_id id) { return rt_.details.is_direct(rt_.slots.at(id)); });
    }

    bool awaits_seat(unsigned seat) const {
        return any_member([&](task_id id) {
            const slot& s = rt_.slots.at(id);
            if (!rt_.slots.is_open(id) || !rt_.details.is_direct(s) ||
                s.runner.load(relaxed) != UINT16_MAX)
                return false;
            const detail_block* d = rt_.details.find(s);
            return d != nullptr && d->seat.load(relaxed) == seat;
        });
    }

    template <class Test>
    bool any_member(Test&& test) const {
        return std::any_of(list_, list_ + count_, test) ||
               (target_.list != nullptr && target_.list->any_open(test));
    }

    wait_room& rt_;
    const wait_seat& waiter_;
    const wait_target& target_;
    task_id* list_;
    unsigned& count_;
    unsigned& known_;    // number of entries that are surely needed (`sure`)
    unsigned& perhaps_;  // number of entries for `limited`; guesses follow them
    unsigned room_ = 0;  // the current step stops at this number of entries
    bool any_is_limited_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
