// A batch is one task with many bodies, which need no slots of their own. A thread that takes part
// holds a ticket with a range of bodies, and runs bodies from the lower end of the range. It puts a
// second, empty ticket into the queue. The thread that takes that ticket fills it with the upper
// half of the bodies that are left. See docs/design/batch.md.
#include "braid/base/index_range.hpp"
#include "braid/core/scope.hpp"
#include "braid/core/spawn_batch.hpp"
#include "core/run/body_frame.hpp"
#include "core/run/ticket_kind.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A ticket, in the storage of its slot. The slot's parent is the batch, or the ticket whose thread
/// put this one into the queue.
struct ticket {
    batch_bodies all;
    std::uint64_t first;  // number of the body at index 0 of `bodies`
    std::uint32_t batch;
    bool held = false;  // false while the parent's `bodies` are marked for this ticket
    /// The bodies that this ticket still has. The range is marked while a child of this ticket is
    /// in a queue and no thread has taken that child yet.
    shared_range bodies{};
};
static_assert(sizeof(ticket) <= closure_bytes);

namespace {

ticket& ticket_of(slot& s) { return *std::launder(reinterpret_cast<ticket*>(s.storage)); }

}  // namespace

void run_room::spawn_members(run_seat& w, const batch_bodies& all) {
    const std::uint32_t batch = w.top->slot;
    const slot& p = slots.at(batch);
    // In these cases each body is a task of its own: a chooser decides about each body, an observer
    // sees each body, and inboxes hold bodies one by one.
    if (identified() || report.observed() || p.has(flag_background) || details.is_direct(p)) {
        std::size_t i = 0;
        for (; i < all.count; ++i) {
            const draft d = open(w, member_options(batch), draft_kind::posted);
            if (d.storage == nullptr) break;
            ::new (d.storage) batch_member{all.shared, i};
            publish(w, d, all.run);
        }
        // If open() had no memory, the remaining bodies run here. In a discarding shutdown they are
        // cancelled here.
        count_members(w, batch, all.count - i);
        run_alone(w, batch, all, i);
        return;
    }
    count_members(w, batch, all.count);
    for (std::size_t first = 0; first < all.count; first += shared_range::capacity) {
        const std::size_t n = std::min(all.count - first, shared_range::capacity);
        if (const std::uint32_t index = open_ticket(w, batch, batch); index != no_index) {
            ::new (static_cast<void*>(slots.at(index).storage))
                ticket{all, first, batch, true, shared_range({0, n})};
            enqueue(w, index);
            continue;
        }
        // There is no memory, and the handler was called. These bodies run here, so none is lost.
        return run_alone(w, batch, all, first);
    }
}

void run_room::count_members(run_seat& w, std::uint32_t batch, std::size_t count) {
    if (count == 0) return;
    seat_counters::add(w.report.counters.created, count);
    count_creation(w, slots.at(batch).environment.load(relaxed), count);
}

/// Runs the bodies from `first` on, without any slot.
void run_room::run_alone(run_seat& w, std::uint32_t batch, const batch_bodies& all,
                         std::size_t first) {
    for (; first < all.count; first += shared_range::capacity) {
        const std::size_t n = std::min(all.count - first, shared_range::capacity);
        ticket alone{all, first, batch, true, shared_range({0, n})};
        run_members(w, no_index, alone);
    }
}

/// Takes a slot for a ticket that is a child of `parent`. The caller must hold a share of `parent`.
/// Returns no_index if there is no memory.
std::uint32_t run_room::open_ticket(run_seat& w, std::uint32_t parent, std::uint32_t batch) {
    constexpr std::uint16_t inherited = flag_never_waits | flag_quiet | flag_category;
    const slot& p = slots.at(batch);
    const auto flags =
        static_cast<std::uint16_t>(flag_own_kind | (p.flags.load(relaxed) & inherited));
    const std::uint32_t index = slots.take(w.slots);
    slot* const made =
        new_task(index, {p.name, flags, p.level.load(relaxed), p.environment.load(relaxed)});
    if (made == nullptr) return no_index;
    slot& s = *made;
    s.kind = &ticket_kind;
    s.module = p.module;
    slots.link_parent(s, parent);
    // relaxed: the caller's share keeps the count above 0 meanwhile.
    slots.at(parent).open.fetch_add(1, relaxed);
    return index;
}

/// Puts an empty child of the ticket `index` into the queue, unless one is queued already. A thread
/// without work takes the child, and fills it with bodies of `index` or of that ticket's ancestors.
/// Returns false if there is no memory.
bool run_room::leave_ticket(run_seat& w, std::uint32_t index) {
    ticket& own = ticket_of(slots.at(index));
    if (!own.bodies.mark()) return true;
    const std::uint32_t left = open_ticket(w, index, own.batch);
    if (left == no_index) {
        own.bodies.unmark();
        return false;
    }
    ::new (static_cast<void*>(slots.at(left).storage)) ticket{own.all, own.first, own.batch};
    enqueue(w, left);
    return true;
}

void run_room::run_ticket(run_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    ticket& own = ticket_of(s);
    if (!std::exchange(own.held, true)) {
        ticket_of(slots.at(s.parent.load(relaxed))).bodies.unmark();
    }
    bool goes_on = run_members(w, index, own);
    while (goes_on && refill_ticket(w, index)) goes_on = run_members(w, index, own);
    if (!goes_on) {
        // This ticket itself goes back into the queue, with the bodies that it still has. If each
        // step made a new ticket as a child of this one, the tickets would form a chain as long as
        // the batch.
        s.runner.store(UINT16_MAX, relaxed);
        enqueue(w, index);
        return;
    }
    s.leave_uncounted();  // the counters count its bodies, not the ticket
    own_work_done(w, index);
}

/// Fills this empty ticket with half of the bodies of its fullest ancestor. Returns false if no
/// ancestor has bodies left.
bool run_room::refill_ticket(run_seat& w, std::uint32_t index) {
    ticket& own = ticket_of(slots.at(index));
    while (true) {
        // All ancestors are open, because a ticket stays open while it has an open child.
        ticket* fullest = nullptr;
        std::size_t most = 0, all = 0;
        for (std::uint32_t at = slots.at(index).parent.load(relaxed); at != own.batch;
             at = slots.at(at).parent.load(relaxed)) {
            ticket& above = ticket_of(slots.at(at));
            const std::size_t left = above.bodies.left();
            all += left;
            if (left <= most) continue;
            most = left;
            fullest = &above;
        }
        if (fullest == nullptr) return false;
        index_range taken;
        if (!fullest->bodies.take_half(taken)) continue;
        own.bodies.refill(taken);
        // Other threads must find the ancestors' remaining bodies even if the first body of this
        // ticket takes long. For this ticket's own bodies, next() puts a child into the queue.
        if (all > taken.size()) leave_ticket(w, index);
        return true;
    }
}

class run_room::members_source {
public:
    /// `index` is the ticket's slot. no_index means that the ticket has no slot, and that no other
    /// thread takes bodies from it.
    members_source(run_room& rt, run_seat& w, std::uint32_t index, ticket& from)
        : rt_(rt),
          w_(w),
          index_(index),
          ticket_(from),
          batch_(rt.slots.at(from.batch)),
          level_(rt.slots.level_of(batch_)) {}

    [[gnu::always_inline]] void invoke(body_frame& frame) {
        started_ = frame.start();
        batch_member member{ticket_.all.shared, at_};
        ticket_.all.run(&member, &frame.context());
    }
    [[gnu::always_inline]] bool ended(body_frame& frame) {
        frame.timed(batch_.name, batch_.has(flag_quiet), started_);
        if (!frame.failed()) {
            ++executed_;
        } else {
            ++failed_;
            rt_.record_failure(w_, ticket_.batch, frame.take_error(), ordinal());
        }
        left_early_ = index_ != no_index && rt_.wanted_elsewhere(w_, level_);
        return !left_early_;
    }
    [[gnu::always_inline]] bool next(body_frame&) {
        while (true) {
            const shared_range::first_index body = ticket_.bodies.take_first();
            if (body.left == 0) return false;
            if (body.left > 1 && !body.marked && index_ != no_index) rt_.leave_ticket(w_, index_);
            at_ = ticket_.first + body.index;
            if (rt_.phase(relaxed) != life::discarding && !scope_cancelled(batch_)) return true;
            if (cancelled_++ == 0) rt_.record_failure(w_, ticket_.batch, nullptr, ordinal());
        }
    }

    /// Counts the bodies that have ended. Called after the last body, outside of it. Returns false
    /// if the thread must do other work before the next body.
    [[gnu::always_inline]] bool finish(body_frame& frame) {
        frame.end_times(batch_.name);
        frame.close();
        seat_counters::add(w_.report.counters.executed, executed_);
        if (failed_ != 0) seat_counters::add(w_.report.counters.failed, failed_);
        if (cancelled_ != 0) seat_counters::add(w_.report.counters.cancelled, cancelled_);
        if (scope_state* const in = scope_of(batch_.environment.load(relaxed))) {
            if (failed_ != 0) rt_.count_end(w_, *in, end_of_task::failed, failed_);
            if (cancelled_ != 0) rt_.count_end(w_, *in, end_of_task::cancelled, cancelled_);
            if (executed_ != 0) rt_.count_end(w_, *in, end_of_task::executed, executed_);
        }
        return !left_early_;
    }

private:
    std::uint32_t ordinal() const { return static_cast<std::uint32_t>(at_ + 1); }

    run_room& rt_;
    run_seat& w_;
    const std::uint32_t index_;
    ticket& ticket_;
    const slot& batch_;
    const unsigned level_;
    std::size_t at_ = 0;
    std::int64_t started_ = 0;
    std::uint64_t executed_ = 0, failed_ = 0, cancelled_ = 0;
    bool left_early_ = false;
};

/// Runs the ticket's bodies. Returns false if it stopped early, because the thread must do other
/// work first (see wanted_elsewhere()).
bool run_room::run_members(run_seat& w, std::uint32_t index, ticket& own) {
    const std::uint32_t shown_as = index == no_index ? own.batch : index;
    slots.at(shown_as).runner.store(w.index, relaxed);
    members_source members(*this, w, index, own);
    running_task body = body_of(w, shown_as, slots.id_of(own.batch));
    body_frame frame(*this, w, body, slots.id_of(shown_as));
    if (members.next(frame)) run_sequence(frame, members);
    return members.finish(frame);
}

task_options run_room::member_options(std::uint32_t parent) const {
    const slot& p = slots.at(parent);
    task_options o{.name = p.name, .parent = slots.id_of(parent), .where = {}};
    const std::uint8_t level = p.level.load(relaxed);
    o.priority = static_cast<priority_level>(slots.level_of(p));
    o.category = p.has(flag_category) ? level : std::uint8_t{0};
    o.runs_as = p.has(flag_background) ? task_class::background : task_class::frame;
    if (const detail_block* d = details.find(p); d != nullptr && d->direct.load(relaxed)) {
        o.on = {d->seat.load(relaxed), d->visit, number_in_refs()};
        o.workers = d->workers;
    }
    o.environment = p.environment.load(relaxed);
    o.never_waits = p.has(flag_never_waits);
    o.may_be_long = p.has(flag_quiet);
    o.module = p.module;
    return o;
}

}  // namespace detail
BRAID_NAMESPACE_END
