// A submission begins: checked, put in order after others, deferred, queued.
#include "device/processor_state.hpp"
#include "device/sequence_state.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {

/// They have a byte in common.
bool meet(const operand& a, const operand& b) {
    struct bytes {
        std::uintptr_t begin, end;
    };
    const auto bytes_of = [](const operand& o) -> bytes {
        if (!o.range.of) {
            const auto begin = reinterpret_cast<std::uintptr_t>(o.memory);
            return {begin, begin + o.bytes};
        }
        const bool whole = o.range.bytes == buffer_range::to_the_end;
        return {o.range.offset, whole ? UINTPTR_MAX : o.range.offset + o.range.bytes};
    };
    const bytes one = bytes_of(a), other = bytes_of(b);
    return a.range.of == b.range.of && one.begin < other.end && other.begin < one.end;
}

/// What is written lies apart from everything else of the step.
bool writes_lie_apart(const given& what) {
    const operand* all[submission::most_operands];
    std::size_t count = 0;
    for (const input& in : what.reads) all[count++] = &in.what();
    for (const output& out : what.writes) {
        const operand& o = out.what();
        if (std::any_of(all, all + count, [&](const operand* other) { return meet(o, *other); })) {
            return false;
        }
        all[count++] = &o;
    }
    return true;
}

bool is_good_count(const group_counts& c) {
    const auto in_range = [](std::uint32_t n) { return n != 0 && n <= group_counts::most; };
    return in_range(c.x) && in_range(c.y) && in_range(c.z) &&
           std::uint64_t{c.x} * c.y * c.z <= scheduler::most_bodies;
}

}  // namespace

// ---- checked -----------------------------------------------------------------------------------

bool processor_state::is_good(const given& what) const {
    const assertion_handler& misuse = core::misuse(rt_);
    if (!BRAID_EXPECT(misuse, what.kernel.on_cores != nullptr,
                      "a kernel needs its version for cores") ||
        !BRAID_EXPECT(misuse, is_good_count(what.groups),
                      "each of the three counts of groups is 1..65,535, and 2^40 in all") ||
        !BRAID_EXPECT(misuse, what.constants.size() <= submission::most_constants,
                      "constants have 128 bytes at most: put more into a buffer") ||
        !BRAID_EXPECT(misuse, what.reads.size() + what.writes.size() <= submission::most_operands,
                      "a submission reads and writes 16 operands at most") ||
        !BRAID_EXPECT(misuse, writes_lie_apart(what),
                      "a submission must not write what it names twice")) {
        return false;
    }
    return true;
}

// ---- admitted ----------------------------------------------------------------------------------

/// One whose task is complete, or null: no memory. Those whose tasks last go to the end of the
/// list; few are looked at, so that it takes the same time however many there are.
record* processor_state::take_record() {
    constexpr int looks = 4;
    record* const newest = over_.last;
    for (int i = 0; i < looks && over_.first != nullptr; ++i) {
        record& r = *over_.first;
        over_.remove(r);
        if (!core::is_open(rt_, r.task)) {
            static_cast<record_facts&>(r) = {};
            return &r;
        }
        over_.push_back(r);
        if (&r == newest) break;
    }
    void* const memory =
        core::memory(rt_).allocate(sizeof(record), alignof(record), memory_tag::device);
    if (memory == nullptr) return nullptr;
    auto* const r = ::new (memory) record(*this, static_cast<std::uint32_t>(records_.size()));
    if (records_.push(r)) return r;
    core::memory(rt_).release(memory, sizeof(record), alignof(record), memory_tag::device);
    return nullptr;
}

/// Null: refused, with a sentence, or without memory, with an empty one.
record* processor_state::admit(const task_context& task, const request& what, refusal& why) {
    const locked lock(lock_);
    if (what.many == nullptr) {
        if (!are_inside(*what.one, why)) return nullptr;
    } else if (what.many->is_submitted) {
        std::snprintf(why.sentence, sizeof why.sentence,
                      "'%.60s' is submitted again before it has ended: take one for each frame in "
                      "flight",
                      what.name);
        return nullptr;
    }
    record* const r = take_record();
    if (r == nullptr) return nullptr;
    r->task = task.id();
    r->at = stage::held;
    r->waits_for = 1;
    fill(*r, what);
    // One that fails anyway may name buffers whose size nobody knows.
    if (what.one != nullptr && r->fate == ending::open && !how_.accepts(r->only, why.sentence)) {
        drop_made(*r);
        return nullptr;
    }
    follow(*r, what);
    if (const record* const other = unordered(*r)) {
        const bool by_way_of_others = r->waits_for != 1 + r->predecessor_count;
        std::snprintf(
            why.sentence, sizeof why.sentence,
            "'%.60s' and '%.60s' use one buffer, and one of them writes it: give the "
            "ticket of '%.60s' in `after`%s",
            r->name, other->name, other->name,
            by_way_of_others ? ", too, as no order by way of another processor is seen" : "");
        drop_made(*r);
        return nullptr;
    }
    for (const buffer_use& u : r->uses) buffers_.cover(u);
    return r;
}

bool processor_state::are_inside(const given& what, refusal& why) const {
    for (const input& in : what.reads) {
        if (!is_inside(in.what(), why)) return false;
    }
    for (const output& out : what.writes) {
        if (!is_inside(out.what(), why)) return false;
    }
    return true;
}

/// A stale buffer is no mistake: the processor may have been lost a moment ago.
bool processor_state::is_inside(const operand& o, refusal& why) const {
    if (!o.range.of || !buffers_.is_live(o.range.of)) return true;
    const std::size_t size = buffers_.bytes(o.range.of).size();
    const buffer_range& r = o.range;
    const bool inside = r.offset < size && (r.bytes == buffer_range::to_the_end ||
                                            (r.bytes != 0 && r.bytes <= size - r.offset));
    if (!inside) {
        std::snprintf(why.sentence, sizeof why.sentence,
                      "a range lies within its buffer: '%.60s' has %zu bytes",
                      buffers_.name(o.range.of), size);
    }
    return inside;
}

void processor_state::fill(record& r, const request& what) {
    r.name = what.name;
    r.idempotent = what.order.idempotent;
    r.reruns_left = static_cast<std::uint8_t>(std::min(what.order.retry, 255U));
    r.level = what.order.priority;
    r.where = what.order.where;
    r.number = ++numbers_;
    if (options_.latencies) r.submitted = active_policy::now();
    if (what.order.deadline.value != no_limit.value) {
        r.deadline = braid::detail::deadline_after(now(), what.order.deadline);
    }
    if (what.many == nullptr) {
        fill(r.only, *what.one);
        r.steps = {&r.only, 1};
        r.uses = uses_of(r);
        for (const operand& o : r.only.all_operands())
            r.bytes += o.range.of ? o.range.bytes : o.bytes;
    } else {
        r.sequence = what.many;
        r.sequence->is_submitted = true;
        r.steps = r.sequence->steps();
        r.uses = r.sequence->uses();
        r.bytes = r.sequence->bytes();
    }
    for (const buffer_use& u : r.uses) {
        if (buffers_.is_live(u.of)) continue;
        doom(r, error_code::stale, "a buffer of '%.60s' is stale: it was released, or lost",
             r.name);
        r.uses = {};
        return;
    }
    for (buffer_use& u : r.uses) {
        u.by = &r;
        buffers_.begin_use(u);
    }
}

/// Ranges get their ends, unless their buffer is stale.
void processor_state::fill(step& s, const given& what) const {
    s.kernel = what.kernel;
    if (s.kernel.name == nullptr) s.kernel.name = "kernel";
    s.what.groups = what.groups;
    s.what.constant_bytes = what.constants.size();
    std::copy(what.constants.begin(), what.constants.end(), s.what.constants);
    s.what.reads = static_cast<unsigned>(what.reads.size());
    s.what.writes = static_cast<unsigned>(what.writes.size());
    operand* to = s.operands;
    for (const input& in : what.reads) *to++ = in.what();
    for (const output& out : what.writes) *to++ = out.what();
    for (operand* o = s.operands; o != to; ++o) {
        buffer_range& range = o->range;
        if (!range.of || range.bytes != buffer_range::to_the_end) continue;
        const std::size_t size = buffers_.bytes(range.of).size();
        range.bytes = size - std::min(range.offset, size);
    }
}

/// For its only step.
std::span<buffer_use> processor_state::uses_of(record& r) {
    buffer_use* to = r.own_uses;
    unsigned n = 0;
    for (const operand& o : r.only.all_operands()) {
        const bool writes = n++ >= r.only.what.reads;
        if (!o.range.of) continue;
        *to++ = {.of = o.range.of,
                 .begin = o.range.offset,
                 .end = o.range.offset + o.range.bytes,
                 .writes = writes};
    }
    return {r.own_uses, to};
}

// ---- in order ----------------------------------------------------------------------------------

void processor_state::follow(record& r, const request& what) {
    for (const ticket& t : what.order.after) {
        if (!t) continue;
        if (t.processor != id_) {
            ++r.waits_for;  // see follow_others()
            continue;
        }
        record* const other = t.index < records_.size() ? records_[t.index] : nullptr;
        // Another one has its record: its task was complete (D2).
        if (other == nullptr || other->done != t.done) continue;
        if (ended_well(*other)) continue;
        if (other->how != ending::open) {
            doom_after(r, *other);
            continue;
        }
        ++r.waits_for;
        order_edge& edge = r.edges[r.predecessor_count];
        edge = {&r, other->successors};
        other->successors = &edge;
        r.predecessors[r.predecessor_count++] = other;
    }
}

/// The first that uses a buffer of `r`, and that `r` would have to come after and does not.
const record* processor_state::unordered(record& r) {
    for (const buffer_use& u : r.uses) {
        const buffer_use* other = nullptr;
        while ((other = buffers_.next_before(u, other)) != nullptr) {
            if (!comes_after(r, *other->by)) return other->by;
        }
    }
    return nullptr;
}

/// Both have not ended. Depth first, each once.
bool processor_state::comes_after(record& r, const record& other) {
    ++walks_;
    record* to_visit = &r;
    r.next_visit = nullptr;
    while (to_visit != nullptr) {
        const record& at = *std::exchange(to_visit, to_visit->next_visit);
        for (unsigned i = 0; i < at.predecessor_count; ++i) {
            record* const p = at.predecessors[i];
            if (p == nullptr || p->visit == walks_) continue;
            if (p == &other) return true;
            p->visit = walks_;
            p->next_visit = std::exchange(to_visit, p);
        }
    }
    return false;
}

/// The record has a share of `waits_for` for each ticket of another processor: the cores pass that
/// on.
class successor_of_other {
public:
    explicit successor_of_other(record& r) : record_(&r) {}
    successor_of_other(successor_of_other&& o) noexcept
        : record_(std::exchange(o.record_, nullptr)) {}
    successor_of_other(const successor_of_other&) = delete;
    successor_of_other& operator=(const successor_of_other&) = delete;
    /// Where this did not run, what it came after has failed.
    ~successor_of_other() {
        if (record_ != nullptr) record_->of.go_on_after(*record_, false);
    }
    void operator()() {
        record& r = *std::exchange(record_, nullptr);
        r.of.go_on_after(r, true);
    }

private:
    record* record_;
};

/// How many tasks it has written to `by`.
unsigned processor_state::follow_others(record& r, const request& what, std::span<task_id> by) {
    const core::making_children making(rt_);
    unsigned count = 0;
    for (const ticket& t : what.order.after) {
        if (!t || t.processor == id_) continue;
        by[count++] = scheduler_.spawn({.name = r.name, .after = {t.done.task()}, .parent = r.task},
                                       successor_of_other(r));
    }
    return count;
}

void processor_state::go_on_after(record& r, bool went_well) {
    {
        const locked lock(lock_);
        if (!went_well) {
            doom(r, error_code::predecessor,
                 "'%.60s' was not run, as what it comes after on another processor has failed",
                 r.name);
        }
        drop_wait(r);
        come_in();
    }
    go_on();
}

/// Where two tasks have one place, the later submissions of one count as another task's.
void processor_state::join_those_of_task(record& r) {
    record*& newest = newest_by_task_[r.task.value % std::size(newest_by_task_)];
    // A record that has no id yet, as this one, may have served another submission before.
    const bool is_same =
        newest != nullptr && newest != &r && newest->task == r.task && newest->done;
    r.first_of_task = is_same ? newest->first_of_task : &r;
    ++r.first_of_task->unsettled;
    newest = &r;
}

// ---- deferred, and asked -----------------------------------------------------------------------

ticket processor_state::submit(task_context& task, const submission& what) {
    const given only{what.kernel,
                     {what.reads.begin(), what.reads.size()},
                     {what.writes.begin(), what.writes.size()},
                     what.groups,
                     what.constants};
    if (!is_good(only)) return {};
    return submit(task, {.name = what.kernel.name != nullptr ? what.kernel.name : "kernel",
                         .one = &only,
                         .order = {.after = what.after,
                                   .deadline = what.deadline,
                                   .retry = what.retry,
                                   .idempotent = what.idempotent,
                                   .priority = what.priority,
                                   .where = what.where}});
}

ticket processor_state::submit(task_context& task, sequence_state& all,
                               const sequence_order& order) {
    if (!BRAID_EXPECT(core::misuse(rt_), &all.of == this,
                      "a sequence is submitted to the processor that it was made for") ||
        !BRAID_EXPECT(core::misuse(rt_), !all.steps().empty(), "the sequence has no steps")) {
        return {};
    }
    return submit(task, {.name = all.name, .many = &all, .order = order});
}

ticket processor_state::submit(task_context& task, const request& what) {
    const assertion_handler& misuse = core::misuse(rt_);
    const auto is_ours = [this](const ticket& t) {
        return !t || t.scheduler == core::number_of(rt_);
    };
    const bool is_child = in_child(), is_own = &task.internals().rt == &rt_;
    if (!BRAID_EXPECT(misuse, !is_child || !is_own,
                      "in a child of fork() the program's own schedulers have no threads: what a "
                      "task of theirs submits there never runs") ||
        !BRAID_EXPECT(misuse, is_child || is_own,
                      "a task submits to processors of its own scheduler") ||
        !BRAID_EXPECT(misuse, static_cast<bool>(task.id()),
                      "a posted task cannot submit, as nobody can wait for it: spawn it") ||
        !BRAID_EXPECT(misuse, what.order.after.size() <= submission::most_after,
                      "a submission comes after 8 others at most") ||
        !BRAID_EXPECT(misuse,
                      std::all_of(what.order.after.begin(), what.order.after.end(), is_ours),
                      "a submission comes after tickets of processors of its scheduler")) {
        return {};
    }
    if (is_child) return submit_in_child(task, what);
    refusal why;
    record* const r = admit(task, what, why);
    if (!BRAID_EXPECT(misuse, why.sentence[0] == '\0', why.sentence)) return {};
    if (r == nullptr) return no_memory(task, what);
    const completion_id done = task.defer({.name = r->name,
                                           .deadline = what.order.deadline,
                                           .cancel = {&ask, r},
                                           .where = what.order.where});
    if (!done) {
        {
            const locked lock(lock_);
            drop_made(*r);
        }
        return no_memory(task, what);
    }
    task_id others[submission::most_after];
    const unsigned other_count = follow_others(*r, what, others);
    const ticket made{done, core::number_of(rt_), id_, r->index};
    action next;
    {
        const locked lock(lock_);
        r->done = done;
        join_those_of_task(*r);
        r->other_count = other_count;
        std::copy(others, others + other_count, r->others);
        ++counts_.submitted;
        // The core does not ask again, and waits for an end.
        if (r->asked_early && end_early(*r)) settle_later(*r);
        drop_wait(*r);
        come_in();
        next = next_action();
    }
    go_on(next);
    return made;
}

ticket processor_state::no_memory(task_context& task, const request& what) {
    std::size_t bytes = 0;
    if (what.one != nullptr) {
        for (const input& in : what.one->reads) bytes += in.what().bytes;
        for (const output& out : what.one->writes) bytes += out.what().bytes;
    } else {
        bytes = what.many->bytes();
    }
    char sentence[192];
    std::snprintf(sentence, sizeof sentence,
                  "'%.60s' was not submitted: no memory for its record of %zu bytes; it reads and "
                  "writes %zu bytes",
                  what.name, sizeof(record), bytes);
    braid::detail::fail_task(
        task, std::make_exception_ptr(completion_error(error_code::out_of_memory, sentence)));
    return {};
}

/// The core asks once; see completion_hint.
bool processor_state::ask(void* data, completion_id id) {
    record& r = *static_cast<record*>(data);
    processor_state& of = r.of;
    bool lets_go = false;
    {
        const locked lock(of.lock_);
        lets_go = is_asked(r, id) && of.end_early(r);
        if (lets_go) --r.first_of_task->unsettled;
        of.come_in();
    }
    of.look_again();  // as it may have been hinted at
    of.go_on();
    return lets_go;
}

/// The time is up, or the submission is not wanted any more. True: its ending was decided here, and
/// the caller ends its task.
bool processor_state::end_early(record& r) {
    const bool late = now() >= r.deadline;
    switch (ask_to_end(r, late)) {
        case answer::ended:
            return false;
        case answer::hint:
            how_.hint(r);
            return false;
        case answer::lets_go:
            finish(r, late ? ending::timed_out : ending::cancelled);
            return true;
        case answer::timed_out:
            break;
    }
    note_ending(r);
    return true;
}

bool processor_state::has_ended(const ticket& t) const {
    if (in_child() || !t ||
        !BRAID_EXPECT(core::misuse(rt_), t.scheduler == core::number_of(rt_),
                      "the ticket is of a processor of another scheduler")) {
        return true;
    }
    if (t.processor != id_) return !core::is_open(rt_, t.done.task());
    const locked lock(lock_);
    if (t.index >= records_.size()) return true;
    const record& r = *records_[t.index];
    return r.done != t.done || r.how != ending::open;
}

}  // namespace device::detail
BRAID_NAMESPACE_END
