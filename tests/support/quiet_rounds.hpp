#pragma once
// Work that needs no memory once its threads have met it.

#include <braid/core/scheduler.hpp>

namespace braid_test {

/// Whether 20 rounds in a row leave `count()` as it was. A thread takes its caches when it first
/// meets the work, and a loaded machine may let that be late: so rounds go on until they are quiet,
/// or until 1,000 were not, which is more than all caches together need.
template <class Count, class Round>
bool comes_to_stand_still(Count&& count, Round&& round) {
    int quiet = 0;
    for (int others = 0; quiet < 20 && others < 1000;) {
        const auto before = count();
        round();
        const bool same = before == count();
        quiet = same ? quiet + 1 : 0;
        others += same ? 0 : 1;
    }
    return quiet == 20;
}

/// Whether the work comes to take no memory of the scheduler's.
template <class Round>
bool comes_to_allocate_nothing(const braid::scheduler& s, Round&& round) {
    return comes_to_stand_still([&] { return s.allocations(); }, round);
}

}  // namespace braid_test
