#pragma once
// Where the processors of this machine lie, for thieves (nearest victim first) and for pinning.
// From hwloc, read once in a process: it takes milliseconds. Without hwloc all are equally near.

#include "base/platform/platform.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// A hardware thread. Numbers are only compared with each other.
struct processor_place {
    std::uint16_t core = 0;   // siblings on one core share this
    std::uint16_t cache = 0;  // … the last level of cache
    std::uint16_t node = 0;   // … memory
    std::uint8_t speed = 0;   // higher is faster; 0 if all are alike or nobody knows
    bool known = false;
};

struct topology {
    static constexpr std::uint32_t capacity = 1024;
    /// By the system's numbers. One that is not known counts as near.
    processor_place processors[capacity]{};
    std::uint8_t fastest = 0;
    /// How far two processors are apart at most; 0: there is nothing to choose.
    unsigned levels = 0;

    /// 0: on one core, or not known to differ; 1: below one cache; 2: at one memory; 3: further.
    unsigned distance(std::uint32_t a, std::uint32_t b) const {
        if (a >= capacity || b >= capacity || a == b) return 0;
        const processor_place& x = processors[a];
        const processor_place& y = processors[b];
        if (!x.known || !y.known || x.core == y.core) return 0;
        if (x.cache == y.cache) return 1;
        return x.node == y.node ? 2 : 3;
    }
    bool slow(std::uint32_t processor) const {
        return processor < capacity && processors[processor].speed < fastest;
    }
    /// The order in which threads are pinned to the processors of `allowed`: fast ones first, one
    /// of each core before its siblings, near ones together. Returns how many there are.
    std::size_t pin_order(const platform::core_set& allowed, std::uint16_t* order) const;
    /// Sets `fastest` and `levels` by `processors`.
    void summarize();
};

/// False: no hwloc, or it cannot read this machine. `synthetic`: a machine in hwloc's notation
/// instead, for tests.
bool read_topology(topology& into, const char* synthetic = nullptr);

/// This machine's, read by whoever comes first; others get null meanwhile, as without hwloc.
const topology* machine_topology();
/// The same, without reading it.
const topology* known_topology();

BRAID_NAMESPACE_END
