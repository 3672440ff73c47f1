#include "braid/device/processor.hpp"

#include "device/processor_state.hpp"
#include "device/sequence_state.hpp"

BRAID_NAMESPACE_BEGIN
namespace device {

namespace core = braid::detail::core;

namespace {

ticket no_memory(task_context& task) {
    braid::detail::fail_task(task, std::make_exception_ptr(completion_error(
                                       error_code::out_of_memory,
                                       "there was no memory for the processor, or the sequence")));
    return {};
}

}  // namespace

void processor::start(scheduler& s, const processor_options& options, detail::back_end* how) {
    if (how == nullptr) return;
    braid::detail::runtime& rt = s.internals();
    processor_options o = options;
    if (o.name == nullptr) o.name = how->kind();
    const braid::detail::limiter limits = core::limits(rt, "processor_options");
    limits.clamp(o.max_in_flight, 1U, processor_options::most_in_flight, "max_in_flight");
    limits.clamp(o.max_bytes, std::size_t{1}, std::size_t{SIZE_MAX}, "max_bytes");
    limits.clamp(o.hang_after.value, std::int64_t{1}, std::int64_t{INT64_MAX}, "hang_after");
    limits.clamp(o.back_off.value, std::int64_t{0}, std::int64_t{INT64_MAX}, "back_off");
    using state = detail::processor_state;
    void* const memory =
        core::memory(rt).allocate(sizeof(state), alignof(state), memory_tag::device);
    if (memory != nullptr) {
        state_ = ::new (memory) state(s, *this, o, *how);
        how->open();
        return;
    }
    const std::size_t size = how->size();
    how->~back_end();
    core::memory(rt).release(how, size, alignof(std::max_align_t), memory_tag::device);
}

/// From a task of its own that is open, which is reported, memory stays; and in a child of fork().
processor::~processor() {
    if (state_ == nullptr || state_->in_child()) return;
    if (state_->come_to_rest()) {
        detail::processor_state::destroy(state_);
    } else {
        state_->lose_owner();
    }
}

ticket processor::submit(task_context& task, const submission& what) {
    return state_ != nullptr ? state_->submit(task, what) : no_memory(task);
}

ticket processor::submit(task_context& task, sequence& all, const sequence_order& order) {
    detail::sequence_state* const steps = detail::sequence_state::of_sequence(all);
    if (state_ == nullptr || steps == nullptr) return no_memory(task);
    return state_->submit(task, *steps, order);
}

bool processor::ended(const ticket& t) const { return state_ == nullptr || state_->has_ended(t); }

device::buffer processor::buffer(const buffer_options& options) {
    return state_ != nullptr ? state_->make_buffer(options) : device::buffer{};
}

device::buffer processor::import_buffer(const import_options& options) {
    return state_ != nullptr ? state_->import_buffer(options) : device::buffer{};
}

std::span<std::byte> processor::map_bytes(device::buffer b) {
    return state_ != nullptr ? state_->map(b) : std::span<std::byte>{};
}

bool processor::release(device::buffer b) { return state_ != nullptr && state_->release(b); }

bool processor::revive() { return state_ != nullptr && state_->revive(); }

const char* processor::name() const { return state_ != nullptr ? state_->name() : ""; }

processor_report processor::report() const {
    return state_ != nullptr ? state_->report() : processor_report{};
}

}  // namespace device
BRAID_NAMESPACE_END
