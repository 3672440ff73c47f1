#pragma once
// Bytes of buffers and of the program, as disjoint ranges in order: a step is compared with all
// that came before it by one search for each operand.

#include "base/accounted_array.hpp"
#include "device/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

class range_set {
public:
    explicit range_set(braid::detail::accounted_memory& memory) : all_(memory) {}

    /// So many more can be added. False: no memory.
    bool make_room(std::size_t more) { return all_.reserve(all_.size() + more); }
    void clear() { all_.clear(); }

    bool meets(const operand& o) const {
        const range r = range_of(o);
        const range* const first = first_that_ends_behind(r.of, r.begin);
        return r.begin != r.end && first != all_.end() && first->of == r.of && first->begin < r.end;
    }
    /// With make_room(). Ranges that touch become one.
    void add(const operand& o) {
        range r = range_of(o);
        if (r.begin == r.end) return;
        range* const first =
            all_.begin() + (first_that_ends_behind(r.of, r.begin, true) - all_.begin());
        range* last = first;
        for (; last != all_.end() && last->of == r.of && last->begin <= r.end; ++last) {
            r.begin = std::min(r.begin, last->begin);
            r.end = std::max(r.end, last->end);
        }
        if (first == last) {
            const std::ptrdiff_t at = first - all_.begin();
            all_.push(r);
            std::rotate(all_.begin() + at, all_.end() - 1, all_.end());
            return;
        }
        *first = r;
        std::move(last, all_.end(), first + 1);
        for (std::ptrdiff_t gone = last - first - 1; gone != 0; --gone) all_.pop();
    }

private:
    struct range {
        buffer of;
        std::uintptr_t begin = 0, end = 0;
    };
    static range range_of(const operand& o) {
        const auto begin = o.range.of ? o.range.offset : reinterpret_cast<std::uintptr_t>(o.memory);
        return {o.range.of, begin, begin + (o.range.of ? o.range.bytes : o.bytes)};
    }
    /// The first that ends behind `byte`, or, where it may touch, at it.
    const range* first_that_ends_behind(buffer of, std::uintptr_t byte, bool or_at = false) const {
        return std::partition_point(all_.begin(), all_.end(), [&](const range& r) {
            return r.of != of ? r.of < of : r.end < byte || (r.end == byte && !or_at);
        });
    }

    braid::detail::accounted_array<range, memory_tag::device> all_;
};

}  // namespace device::detail
BRAID_NAMESPACE_END
