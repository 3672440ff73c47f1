#pragma once
// Threads that come and go, by kind: what the scheduler knows of each kind as a whole.

#include "core/worker.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Foreign threads lease a seat of these for a call.
struct guest_seats {
    // For calls that do not wait, when no other is free. Needs no memory but this.
    worker* spare = nullptr;
    static constexpr std::uint32_t spare_ring = 8;
    alignas(worker) std::byte spare_bytes[sizeof(worker)];
    ready_queue::cell spare_cells[level_count * spare_ring];
    worker* post = nullptr;  // leased to nobody; for try_post() from outside
    atomic<bool> post_taken{false};
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
