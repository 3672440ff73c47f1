#pragma once

#include "core/control/worker.hpp"

#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Room for the guest's seat that needs no other memory.
struct spare_seat {
    static constexpr std::uint32_t ring = 8;
    alignas(worker) std::byte bytes[sizeof(worker)];
    ready_queue::cell cells[level_count * ring];
};

}  // namespace detail
BRAID_NAMESPACE_END
