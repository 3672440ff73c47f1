// Steps come to a sequence, with barriers where their operands meet.
#include "braid/device/sequence.hpp"

#include "braid/device/processor.hpp"
#include "device/processor_state.hpp"
#include "device/sequence_state.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace device {

namespace detail {

// ---- barriers ----------------------------------------------------------------------------------

/// Three operands a step, which touch no others, and the most that one may have.
bool sequence_state::reserve(std::size_t steps) {
    const std::size_t ranges = 3 * steps + launch::most_operands;
    return steps_.reserve(steps) && uses_.reserve(steps) && named_.make_room(ranges) &&
           written_.make_room(ranges);
}

bool sequence_state::add(step& one) {
    one.behind_barrier = meets_phase(one);
    if (!one.behind_barrier && steps_.size() != 0) {
        const step& last = steps_[steps_.size() - 1];
        one.first_group = last.first_group + last.groups();
    }
    // Uses without their step order more than they have to.
    if (!named_.make_room(launch::most_operands) || !written_.make_room(launch::most_operands) ||
        !note_uses(one) || !steps_.push(one)) {
        return false;
    }
    if (one.behind_barrier) {
        named_.clear();
        written_.clear();
    }
    phases_ += one.behind_barrier || steps_.size() == 1;
    unsigned n = 0;
    for (const operand& o : one.all_operands()) {
        named_.add(o);
        if (n++ >= one.what.reads) written_.add(o);
        memory_bytes_ += o.range.of ? 0 : o.bytes;
    }
    return true;
}

/// The step writes what another one names, or reads what another one writes; or together they have
/// too many groups for a batch.
bool sequence_state::meets_phase(const step& one) const {
    if (steps_.size() == 0) return false;
    const step& last = steps_[steps_.size() - 1];
    if (last.first_group + last.groups() + one.groups() > scheduler::most_bodies) return true;
    unsigned n = 0;
    for (const operand& o : one.all_operands()) {
        if ((n++ < one.what.reads ? written_ : named_).meets(o)) return true;
    }
    return false;
}

bool sequence_state::note_uses(const step& one) {
    unsigned n = 0;
    for (const operand& o : one.all_operands()) {
        if (!note_use(o, n++ >= one.what.reads)) return false;
    }
    return true;
}

/// Ranges that touch are one, so that many steps over one buffer are one use of it.
bool sequence_state::note_use(const operand& o, bool writes) {
    if (!o.range.of) return true;
    const std::size_t begin = o.range.offset, end = begin + o.range.bytes;
    for (buffer_use& u : uses_) {
        if (u.of != o.range.of || u.writes != writes || begin > u.end || end < u.begin) continue;
        u.begin = std::min(u.begin, begin);
        u.end = std::max(u.end, end);
        return true;
    }
    buffer_use fresh;
    fresh.of = o.range.of;
    fresh.begin = begin;
    fresh.end = end;
    fresh.writes = writes;
    return uses_.push(fresh);
}

void sequence_state::clear() {
    steps_.clear();
    uses_.clear();
    named_.clear();
    written_.clear();
    phases_ = memory_bytes_ = 0;
}

std::size_t sequence_state::bytes() const {
    std::size_t sum = memory_bytes_;
    for (const buffer_use& u : uses_) sum += u.end - u.begin;
    return sum;
}

sequence_state* sequence_state::of_sequence(const sequence& s) { return s.state_; }

// ---- for its processor -------------------------------------------------------------------------

sequence_state* processor_state::make_sequence(sequence& owner, const char* name) {
    void* const memory = core::memory(rt_).allocate(sizeof(sequence_state), alignof(sequence_state),
                                                    memory_tag::device);
    if (memory == nullptr) return nullptr;
    auto* const s = ::new (memory)
        sequence_state(*this, owner, core::memory(rt_), name != nullptr ? name : "sequence");
    if (in_child()) return s;
    const locked lock(lock_);
    s->next = std::exchange(sequences_, s);
    return s;
}

bool processor_state::may_change(const sequence_state& s) const {
    bool rests = in_child();
    if (!rests) {
        const locked lock(lock_);
        rests = !s.is_submitted;
    }
    return BRAID_EXPECT(core::misuse(rt_), rests,
                        "a sequence stays as it is until what was submitted with it has ended");
}

bool processor_state::reserve(sequence_state& s, std::size_t steps) {
    return may_change(s) && s.reserve(steps);
}

bool processor_state::add(sequence_state& s, const given& what) {
    if (!is_good(what) || !may_change(s) ||
        !BRAID_EXPECT(core::misuse(rt_), s.steps().size() < sequence::most_steps,
                      "a sequence has 65,536 steps at most")) {
        return false;
    }
    refusal why;
    step one;
    bool there = false;
    {
        const looking at(*this);
        const bool inside = are_inside(what, why);
        if (inside) fill(one, what);
        there = inside && how_.accepts(one, why.sentence) && s.add(one);
    }
    return BRAID_EXPECT(core::misuse(rt_), why.sentence[0] == '\0', why.sentence) && there;
}

bool processor_state::clear(sequence_state& s) {
    if (!may_change(s)) return false;
    s.clear();
    return true;
}

/// The owner goes. Memory stays as long as a submission uses it.
void processor_state::release(sequence_state& s) {
    if (in_child()) return;
    may_change(s);
    const locked lock(lock_);
    s.lose_owner();
    if (!s.is_submitted) free_sequence(s);
}

/// A submission with it has ended.
void processor_state::end_use(sequence_state& s) {
    s.is_submitted = false;
    if (!s.has_owner()) free_sequence(s);
}

void processor_state::free_sequence(sequence_state& s) {
    sequence_state** link = &sequences_;
    while (*link != &s) link = &(*link)->next;
    *link = s.next;
    s.~sequence_state();
    core::memory(rt_).release(&s, sizeof s, alignof(sequence_state), memory_tag::device);
}

}  // namespace detail

// ---- the handle --------------------------------------------------------------------------------

sequence::sequence(processor& of, const char* name) {
    detail::processor_state* const p = detail::processor_state::of_processor(of);
    if (p != nullptr) state_ = p->make_sequence(*this, name);
}

sequence::~sequence() {
    if (state_ != nullptr) state_->of.release(*state_);
}

bool sequence::add(const step& what) {
    return add(what.kernel, {what.reads.begin(), what.reads.size()},
               {what.writes.begin(), what.writes.size()}, what.groups, what.constants);
}

bool sequence::add(const device::kernel& kernel, std::span<const input> reads,
                   std::span<const output> writes, group_counts groups,
                   std::span<const std::byte> constants) {
    return state_ != nullptr && state_->of.add(*state_, {kernel, reads, writes, groups, constants});
}

bool sequence::reserve(std::size_t steps) {
    return state_ != nullptr && state_->of.reserve(*state_, steps);
}

bool sequence::clear() { return state_ != nullptr && state_->of.clear(*state_); }

std::size_t sequence::size() const { return state_ != nullptr ? state_->steps().size() : 0; }

std::size_t sequence::phases() const { return state_ != nullptr ? state_->phases() : 0; }

}  // namespace device
BRAID_NAMESPACE_END
