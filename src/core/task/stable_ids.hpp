#pragma once
// A stable id names the same task in every run of a program. It depends only on the creator of the
// task and on how many tasks that creator had created before, never on a slot, a seat or the time.
// See decision.hpp and docs/design/seams.md.

#include "braid/base/mutex.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class stable_ids {
public:
    /// Returns the id of the next task that a thread of this name creates outside tasks.
    std::uint64_t next_root(const char* thread) { return next_root(of_name(thread)); }

    /// Mixes `creator` and `n` into an id, by the step of splitmix64 (Steele, Lea, Flood 2014).
    /// Never returns 0.
    static constexpr std::uint64_t join(std::uint64_t creator, std::uint64_t n) {
        std::uint64_t z = creator + (n + 1) * 0x9e37'79b9'7f4a'7c15U;
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
        z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
        return (z ^ z >> 31) | 1;
    }
    static constexpr std::uint64_t of_name(const char* name) {
        std::uint64_t hash = 1;
        for (; name != nullptr && *name != 0; ++name) {
            hash = join(hash, static_cast<unsigned char>(*name));
        }
        return hash;
    }

private:
    /// Threads with the same name share a count, so that no two of their tasks have the same id.
    /// Threads whose names have no room in the table share one count, too.
    static constexpr unsigned names = 64;
    struct creations_by_name {
        std::uint64_t name = 0, count = 0;
    };
    std::uint64_t next_root(std::uint64_t name);

    basic_mutex<active_policy> mutex_;
    creations_by_name roots_[names] BRAID_GUARDED_BY(mutex_);  // the last row is for all others
};

}  // namespace detail
BRAID_NAMESPACE_END
