#pragma once
// Threads that come and go, by kind: what the scheduler knows of each kind as a whole.

#include "core/worker.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Room for the guest's seat that needs no other memory.
struct spare_seat {
    static constexpr std::uint32_t ring = 8;
    alignas(worker) std::byte bytes[sizeof(worker)];
    ready_queue::cell cells[level_count * ring];
};

/// All of it guarded by the mutex.
struct background_class {
    std::mutex mutex;
    inbox ready[level_count];
    unsigned threads = 0, waiting = 0;
    worker* idle[sleepers::capacity] = {};
    unsigned idle_count = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
