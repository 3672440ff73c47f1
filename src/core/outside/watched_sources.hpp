#pragma once
// A table that finds the source for an event of a descriptor. The poller reports a tag, which names
// a place in the table and the number of that place's use. So no source is searched for, however
// many are watched.

#include "base/accounted_array.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class outside_source;

/// Maps tags to sources. Only one thread at a time may use the table. It takes 16 bytes for each
/// source that is watched at the same time.
class watched_sources {
public:
    explicit watched_sources(accounted_memory& memory) : places_(memory) {}

    /// Adds the source, and returns the tag by which find() finds it until renew() or remove().
    /// Returns 0, which is no tag, if there is no memory. O(1); allocates when more sources are
    /// watched than ever before.
    std::uint64_t add(outside_source& s) {
        if (free_ == none && !add_place()) return 0;
        const std::uint32_t index = free_;
        place& p = places_[index];
        free_ = p.next_free;
        p.source = &s;
        return std::uint64_t{p.use} << 32 | index;
    }
    /// Gives an added source a new tag, which it returns. The old tag then finds no source.
    std::uint64_t renew(std::uint64_t tag) {
        const auto index = static_cast<std::uint32_t>(tag);
        place& p = places_[index];
        if (++p.use == 0) p.use = 1;
        return std::uint64_t{p.use} << 32 | index;
    }
    void remove(std::uint64_t tag) {
        const auto index = static_cast<std::uint32_t>(renew(tag));
        places_[index].source = nullptr;
        places_[index].next_free = free_;
        free_ = index;
    }
    /// Returns the source with that tag, or null if the source was removed or has another tag by
    /// now. Any tag but 0 may be passed.
    outside_source* find(std::uint64_t tag) const {
        const auto index = static_cast<std::uint32_t>(tag);
        if (index >= places_.size() || places_[index].use != tag >> 32) return nullptr;
        return places_[index].source;
    }

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    struct place {
        outside_source* source;
        std::uint32_t use;  // number of the use, above 0; tags of earlier uses find nothing
        std::uint32_t next_free;
    };

    bool add_place() {
        const auto index = static_cast<std::uint32_t>(places_.size());
        if (!places_.push({nullptr, 1, none})) return false;
        free_ = index;
        return true;
    }

    accounted_array<place, memory_tag::runtime> places_;
    std::uint32_t free_ = none;
};

}  // namespace detail
BRAID_NAMESPACE_END
