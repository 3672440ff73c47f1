#pragma once
#include "device/processor_state.hpp"

#include <cstddef>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

/// In the scheduler's memory; processor::start() takes it over. Null: there is none.
template <class BackEnd, class... Arguments>
BackEnd* make_back_end(scheduler& s, Arguments&&... arguments) {
    static_assert(alignof(BackEnd) <= alignof(std::max_align_t));
    void* const memory =
        core::memory(s.internals())
            .allocate(sizeof(BackEnd), alignof(std::max_align_t), memory_tag::device);
    return memory != nullptr ? ::new (memory) BackEnd(std::forward<Arguments>(arguments)...)
                             : nullptr;
}

}  // namespace device::detail
BRAID_NAMESPACE_END
