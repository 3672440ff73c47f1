#pragma once
// The place of each task from its `spawned` on, because `started` tells only its name.

#include "braid/core/task.hpp"
#include "profile/tracy/places.hpp"

#include <bit>
#include <cstdint>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// An entry for each slot of the scheduler, whose number is the lower half of an id. Entries are
/// plain data: a task's `spawned` comes before it is handed to the thread that runs it, and its
/// slot goes to the next task after its end, as with everything that the scheduler keeps there.
/// Segment k holds 1024 << k entries, so that growing copies nothing.
class tracy_task_places {
public:
    tracy_task_places() = default;
    tracy_task_places(const tracy_task_places&) = delete;
    tracy_task_places& operator=(const tracy_task_places&) = delete;
    ~tracy_task_places() {
        // relaxed: the scheduler is gone, and with it every other thread that called.
        for (auto& s : segments_) delete[] s.load(relaxed);
    }

    /// Without memory the task has none.
    void set(task_id id, const tracy_place* place) {
        const where_it_is at(id);
        // acquire: pairs with the release in grow(); the entries are zero.
        entry* segment = segments_[at.segment].load(acquire);
        if (segment == nullptr) segment = grow(at.segment);
        if (segment != nullptr) segment[at.offset] = {id.value, place};
    }
    /// Null: not told. Some are not: those of try_post().
    const tracy_place* of(task_id id) const {
        const where_it_is at(id);
        const entry* const segment = segments_[at.segment].load(acquire);  // as in set()
        if (segment == nullptr || segment[at.offset].id != id.value) return nullptr;
        return segment[at.offset].place;
    }

private:
    struct entry {
        std::uint64_t id = 0;
        const tracy_place* place = nullptr;
    };
    static constexpr std::uint64_t first_bits = 10, first = std::uint64_t{1} << first_bits;
    static constexpr unsigned segment_count = 33 - first_bits;

    struct where_it_is {
        unsigned segment;
        std::uint64_t offset;
        explicit where_it_is(task_id id) {
            const std::uint64_t shifted = static_cast<std::uint32_t>(id.value) + first;
            segment = static_cast<unsigned>(std::bit_width(shifted) - 1 - first_bits);
            offset = shifted - (first << segment);
        }
    };

    [[gnu::noinline]] entry* grow(unsigned k) {
        entry* const made = new (std::nothrow) entry[first << k];
        entry* there = nullptr;
        if (made == nullptr) return nullptr;
        // release: pairs with the acquire in set() and of(); on failure acquire, as there.
        if (segments_[k].compare_exchange_strong(there, made, release, acquire)) return made;
        delete[] made;
        return there;
    }

    atomic<entry*> segments_[segment_count]{};
};

}  // namespace profile
BRAID_NAMESPACE_END
