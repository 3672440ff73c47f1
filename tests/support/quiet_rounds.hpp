#pragma once
// Work that needs no memory once its threads have met it.

#include <braid/core/scheduler.hpp>

namespace braid_test {

/// Whether 20 rounds in a row allocate nothing before 2,000 have run. A thread takes its caches
/// when it first meets the work, and on a loaded machine that may be late.
template <class Round>
bool comes_to_allocate_nothing(const braid::scheduler& s, Round&& round) {
    int quiet = 0;
    for (int i = 0; i < 2000 && quiet < 20; ++i) {
        const std::uint64_t before = s.allocations();
        round();
        quiet = before == s.allocations() ? quiet + 1 : 0;
    }
    return quiet == 20;
}

}  // namespace braid_test
