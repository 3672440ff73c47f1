#pragma once
// Buffers for reads whose caller brings none. Given back they are kept, by powers of two, until the
// reader ends.

#include "base/accounted_memory.hpp"
#include "braid/base/mutex.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

class buffer_shelf {
public:
    struct buffer {
        std::byte* data = nullptr;  // null: no memory
        std::size_t room = 0;
        int known_as = unknown;  // to the back end
    };
    static constexpr int unknown = -1, refused = -2;
    /// Fit for direct reads.
    static constexpr std::size_t alignment = 4096;

    explicit buffer_shelf(accounted_memory& memory) : memory_(memory) {}
    buffer_shelf(const buffer_shelf&) = delete;
    buffer_shelf& operator=(const buffer_shelf&) = delete;
    /// All have been given back.
    ~buffer_shelf() {
        for (unsigned power = 0; power < powers; ++power) {
            while (idle* const one = free_[power]) {
                free_[power] = one->next;
                memory_.release(one, std::size_t{1} << power, alignment, memory_tag::file);
            }
        }
    }

    buffer take(std::size_t bytes) {
        const unsigned power = power_of(bytes);
        if (power >= powers) return {};
        const std::size_t room = std::size_t{1} << power;
        {
            const locked lock(mutex_);
            in_use_ += room;
            if (idle* const one = free_[power]) {
                free_[power] = one->next;
                return {reinterpret_cast<std::byte*>(one), room, one->known_as};
            }
        }
        void* const made = memory_.allocate(room, alignment, memory_tag::file);
        if (made == nullptr) {
            const locked lock(mutex_);
            in_use_ -= room;
        }
        return {static_cast<std::byte*>(made), room};
    }
    void give(std::byte* data, std::size_t bytes, int known_as) {
        const unsigned power = power_of(bytes);
        const locked lock(mutex_);
        in_use_ -= std::size_t{1} << power;
        free_[power] = ::new (static_cast<void*>(data)) idle{free_[power], known_as};
    }
    std::size_t in_use() const {
        const locked lock(mutex_);
        return in_use_;
    }

private:
    struct idle {
        idle* next;
        int known_as;
    };
    static constexpr unsigned powers = 48;
    static unsigned power_of(std::size_t bytes) {
        return static_cast<unsigned>(std::bit_width(std::max(bytes, alignment) - 1));
    }

    accounted_memory& memory_;
    mutable mutex mutex_;
    std::size_t in_use_ BRAID_GUARDED_BY(mutex_) = 0;
    idle* free_[powers] BRAID_GUARDED_BY(mutex_) = {};
};

}  // namespace detail
BRAID_NAMESPACE_END
