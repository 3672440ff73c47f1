#pragma once
// The groups of a phase as tasks: the callable of one, or of a batch.

#include "device/processor_state.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

/// One group of a step, whose operands are those of `what`.
inline void run_group(const step& s, const launch& what, std::uint64_t number) {
#if BRAID_HAS_EXCEPTIONS
    try {
        s.kernel.on_cores(group(what, number));
    } catch (...) {
        s.by->of.note_failure(*s.by, std::current_exception());
    }
#else
    s.kernel.on_cores(group(what, number));
#endif
}

/// When it is destroyed no group runs any more, also where none has run: the phase has ended.
class all_groups {
public:
    explicit all_groups(record& r) : record_(&r) {}
    all_groups(all_groups&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
    all_groups(const all_groups&) = delete;
    all_groups& operator=(const all_groups&) = delete;
    ~all_groups() {
        if (record_ != nullptr) record_->of.ended_on_cores(*record_);
    }

    void operator()() const { (*this)(0); }
    void operator()(std::size_t number) const {
        record& r = *record_;
        const step& s = r.step_with(number);
        run_group(s, s.what, number - s.first_group);
        r.count_group(number);
    }

private:
    record* record_;
};

}  // namespace device::detail
BRAID_NAMESPACE_END
