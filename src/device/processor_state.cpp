// The rest of a processor: its buffers, what it says, how it ends.
#include "device/processor_state.hpp"
#include "braid/core/event.hpp"
#include "device/sequence_state.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {
// relaxed: a number that nobody else has.
atomic<std::uint32_t> processors{0};
}  // namespace

processor_state::processor_state(scheduler& s, processor& owner, const processor_options& o,
                                 back_end& how)
    : code_holder(s.internals()),
      outside_source(kind::awaited, o.name, o.where),
      rt_(s.internals()),
      scheduler_(s),
      owner_(&owner),
      how_(how),
      options_(o),
      id_(processors.fetch_add(1, relaxed) + 1),
      buffers_(rt_, how),
      records_(core::memory(rt_)) {
    how.serve_for(*this, rt_);
    core::attach_source(rt_, *this);
}

processor_state::~processor_state() {
    while (sequences_ != nullptr) {
        sequences_->abandon();
        free_sequence(*sequences_);
    }
    for (record* const r : records_) {
        r->~record();
        core::memory(rt_).release(r, sizeof(record), alignof(record), memory_tag::device);
    }
}

// ---- buffers -----------------------------------------------------------------------------------

bool processor_state::may_make_buffers() const {
    return BRAID_EXPECT(core::misuse(rt_), !in_child(),
                        "a child of fork() makes no buffers of its parent's processors");
}

device::buffer processor_state::make_buffer(const buffer_options& options) {
    if (!BRAID_EXPECT(core::misuse(rt_),
                      options.bytes != 0 && options.bytes <= buffer_options::most_bytes,
                      "a buffer has 1 to 2^40 bytes") ||
        !may_make_buffers()) {
        return {};
    }
    using owner = buffer_pool::owner;
    owner whose = owner::processor;
    void* memory = how_.allocate_buffer(options);
    if (memory == nullptr && how_.has_memory()) {
        whose = owner::cores;
        memory = how_.back_end::allocate_buffer(options);
    }
    device::buffer made;
    std::size_t others = 0;
    {
        const locked lock(lock_);
        others = buffers_.bytes_now();
        if (memory != nullptr) made = buffers_.make(options, memory, whose);
        counts_.refused_buffers += whose == owner::cores;
    }
    if (made) return made;
    core::log(rt_, log_level::error,
              "no memory for buffer '%.60s' of %zu bytes, neither on processor '%s' nor on the "
              "cores; its other buffers have %zu bytes",
              options.name != nullptr ? options.name : "buffer", options.bytes, name(), others);
    return {};
}

/// The place is taken first, so that nobody else imports the same memory meanwhile.
device::buffer processor_state::import_buffer(const import_options& options) {
    const std::span<std::byte> memory = options.memory;
    const buffer_options what{.name = options.name, .bytes = memory.size()};
    if (!BRAID_EXPECT(core::misuse(rt_),
                      !memory.empty() && memory.size() <= buffer_options::most_bytes,
                      "memory of 1 to 2^40 bytes is imported") ||
        !may_make_buffers()) {
        return {};
    }
    device::buffer made;
    char sentence[192] = {};
    {
        const locked lock(lock_);
        if (const char* const other = buffers_.name_at(memory)) {
            std::snprintf(sentence, sizeof sentence,
                          "memory is imported that buffer '%.60s' has already", other);
        } else {
            made = buffers_.make(what, memory.data(), buffer_pool::owner::program);
        }
    }
    if (!BRAID_EXPECT(core::misuse(rt_), sentence[0] == '\0', sentence) || !made) return {};
    const bool imported = how_.import_memory(memory);
    const locked lock(lock_);
    if (imported && buffers_.is_live(made)) return made;
    if (!buffers_.release(made)) how_.forget_memory(memory);  // stale by a loss meanwhile
    return {};
}

std::span<std::byte> processor_state::map(device::buffer b) {
    char sentence[192] = {};
    std::span<std::byte> bytes;
    {
        const looking at(*this);
        bytes = buffers_.bytes(b);
        if (in_child() && !bytes.empty()) {
            if (buffers_.lies_on_processor(b) && !how_.child_has_buffers()) {
                std::snprintf(sentence, sizeof sentence,
                              "a child of fork() has no memory of buffer '%.60s', which lies on "
                              "the processor",
                              buffers_.name(b));
            }
        } else if (buffers_.is_used(b)) {
            std::snprintf(sentence, sizeof sentence,
                          "a submission uses buffer '%.60s': map it when that has ended",
                          buffers_.name(b));
        } else if (bytes.empty()) {
            std::snprintf(sentence, sizeof sentence,
                          "the buffer is stale: it was released, or its processor was lost");
        }
    }
    if (!BRAID_EXPECT(core::misuse(rt_), sentence[0] == '\0', sentence)) return {};
    return bytes;
}

bool processor_state::release(device::buffer b) {
    const looking at(*this);
    return in_child() ? buffers_.is_live(b) : buffers_.release(b);
}

// ---- what it says ------------------------------------------------------------------------------

processor_report processor_state::report() const {
    const looking at(*this);
    processor_report r = counts_;
    r.buffer_bytes = buffers_.bytes_now();
    r.most_buffer_bytes = buffers_.most_bytes();
    if (latencies_.count() != 0) {
        r.latency_p50 = latencies_.quantile(0.5);
        r.latency_p99 = latencies_.quantile(0.99);
    }
    r.clock_error = nanoseconds(how_.clock_error());
    return r;
}

/// At rest.
void processor_state::show_code(code_search& to) const {
    const locked lock(lock_);
    for (const record* const r : records_) {
        if (r->at == stage::over || r->at == stage::unused || r->sequence != nullptr) continue;
        to.look_at(code_use::callback, r->only.kernel.name, r->only.kernel.on_cores);
    }
    for (sequence_state* s = sequences_; s != nullptr; s = s->next) {
        for (const step& one : s->steps()) {
            to.look_at(code_use::callback, one.kernel.name, one.kernel.on_cores);
        }
    }
}

// ---- the end -----------------------------------------------------------------------------------

bool processor_state::come_to_rest() {
    {
        const locked lock(lock_);
        come_in();
        closing_ = true;
        for (record* const r : records_) {
            if (r->at != stage::held && r->at != stage::queued) continue;
            finish(*r, ending::cancelled);
            settle_later(*r);
        }
    }
    go_on();
    if (!wait_for_rest()) return false;
    // What has timed out may still be in flight.
    how_.give_up();
    how_.close();
    core::sources(rt_).detach(*this);
    return true;
}

/// The processor has let go of it, or will at once; and the core asks it nothing more.
bool processor_state::is_at_rest(const record& r) const {
    const bool open = r.at != stage::unused && r.at != stage::over && r.how == ending::open;
    return !open && !core::is_open(rt_, r.done.task()) &&
           std::none_of(r.others, r.others + r.other_count,
                        [this](task_id id) { return core::is_open(rt_, id); });
}

/// False: `needed` is a task that something in flight belongs to; empty, if none is open.
bool processor_state::is_at_rest(task_id& needed) const {
    const locked lock(lock_);
    bool all = inside_ == 0;
    for (const record* const r : records_) {
        // Groups on the cores may run for longer than their submission lasted.
        const bool runs = inside_ != 0 && r->at == stage::in_flight;
        if (!runs && is_at_rest(*r)) continue;
        all = false;
        if (core::is_open(rt_, r->task)) needed = r->task;
    }
    return all;
}

/// A task may be open for other reasons, which perhaps the caller has to end; so this thread helps
/// it for a while and looks again.
bool processor_state::wait_for_rest() {
    constexpr std::int64_t first_pause = 50'000, longest_pause = 5'000'000;
    event never(scheduler_);
    std::int64_t patient_until =
        core::under_chooser(rt_)
            ? INT64_MAX
            : braid::detail::deadline_after(now(), core::options(rt_).external_patience);
    for (std::int64_t pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
        task_id needed;
        if (is_at_rest(needed)) return true;
        if (now() >= patient_until) {
            patient_until = INT64_MAX;
            say_what_is_waited_for();
        }
        if (!needed) {
            scheduler_.do_work_while_waiting_for(never, nanoseconds(pause));
            continue;
        }
        const std::int64_t until = braid::detail::saturated_sum(now(), pause);
        core::failure received(rt_);  // dropped unseen: the handler gets it
        const bool over = core::wait(rt_, needed, help::needed, received, nanoseconds(pause));
        if (!over && now() < until) return false;
    }
}

void processor_state::say_what_is_waited_for() const {
    struct {
        const char* name;
        task_id task;
    } rows[16];
    std::size_t count = 0;
    {
        const locked lock(lock_);
        for (const record* const r : records_) {
            const bool runs = inside_ != 0 && r->at == stage::in_flight;
            if (!runs && is_at_rest(*r)) continue;
            if (count < std::size(rows)) rows[count] = {r->name, r->task};
            ++count;
        }
    }
    for (const auto& row : std::span(rows, std::min(count, std::size(rows)))) {
        core::log(rt_, log_level::warning,
                  "the end of processor '%s' waits for '%s' of task '%s', which is in flight",
                  name(), row.name, core::name_of(rt_, row.task));
    }
    if (count <= std::size(rows)) return;
    core::log(rt_, log_level::warning, "and for %zu submissions more", count - std::size(rows));
}

void processor_state::destroy(processor_state* s) {
    braid::detail::accounted_memory& memory = core::memory(s->rt_);
    back_end& how = s->how_;
    s->~processor_state();
    memory.release(s, sizeof(processor_state), alignof(processor_state), memory_tag::device);
    const std::size_t size = how.size();
    how.~back_end();
    memory.release(&how, size, alignof(std::max_align_t), memory_tag::device);
}

/// The scheduler ends first: nobody submits any more.
void processor_state::abandon() {
    how_.give_up();
    how_.close();
    core::sources(rt_).detach(*this);
    if (owner_ != nullptr) owner_->state_ = nullptr;
    destroy(this);
}

}  // namespace device::detail
BRAID_NAMESPACE_END
