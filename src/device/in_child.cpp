// A child of fork() has a copy of the processor, and neither its threads nor its device. What tasks
// of a scheduler submit that was made there, as those of a reload's trial do, runs on the cores at
// once, by the thread that submits it; everything before it has ended, or is the parent's.
#include "device/processor_state.hpp"
#include "device/sequence_state.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {

void run_groups(const step& s) {
    for (std::uint64_t n = 0; n < s.groups(); ++n) s.kernel.on_cores(group(s.what, n));
}

/// What a step has thrown; behind it none runs.
std::exception_ptr run_all(std::span<step> steps) {
#if BRAID_HAS_EXCEPTIONS
    try {
        for (const step& s : steps) run_groups(s);
    } catch (...) {
        return std::current_exception();
    }
#else
    for (const step& s : steps) run_groups(s);
#endif
    return nullptr;
}

}  // namespace

ticket processor_state::submit_in_child(task_context& task, const request& what) {
    step only;
    std::span<step> steps{&only, 1};
    refusal why;
    if (what.one != nullptr) {
        const looking at(*this);
        if (are_inside(*what.one, why)) fill(only, *what.one);
        if (find_operands(only)) how_.accepts(only, why.sentence);
    } else {
        steps = what.many->steps();
    }
    if (!BRAID_EXPECT(core::misuse(rt_), why.sentence[0] == '\0', why.sentence)) return {};
    const completion_id done = task.defer({.name = what.name, .where = what.order.where});
    if (!done) return no_memory(task, what);
    bool all_found = true;
    for (step& s : steps) all_found = all_found && find_in_child(s, why);
    completion_result how;
    if (all_found) {
        how.error = run_all(steps);
    } else if (why.sentence[0] != '\0') {
        how = {.code = error_code::stale, .sentence = why.sentence};
    }
    core::settle(task.internals().rt, core::seat_of(task), done, how);
    return {done, core::number_of(rt_), id_, UINT32_MAX};
}

/// False: a buffer is stale, for which `why` has a sentence; or not to be had here.
bool processor_state::find_in_child(step& s, refusal& why) const {
    const looking at(*this);
    if (!find_operands(s)) {
        std::snprintf(why.sentence, sizeof why.sentence,
                      "a buffer of '%.60s' is stale: it was released, or lost", s.kernel.name);
        return false;
    }
    if (has_in_child(s)) return true;
    core::log(rt_, log_level::warning,
              "a child of fork() does not run '%.60s', as processor '%s' has the memory of its "
              "buffers",
              s.kernel.name, name());
    return false;
}

bool processor_state::has_in_child(const step& s) const {
    const auto has = [this](const operand& o) BRAID_REQUIRES(lock_) {
        return !o.range.of || how_.child_has_buffers() || !buffers_.lies_on_processor(o.range.of);
    };
    for (const operand& o : s.all_operands()) {
        if (!has(o)) return false;
    }
    return true;
}

}  // namespace device::detail
BRAID_NAMESPACE_END
