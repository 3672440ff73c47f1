#pragma once
// The same pages at two addresses, so that one can be closed while the other is used.

#include <cstddef>

namespace braid::platform {

/// Each as map_guarded() has them.
struct pages_twice {
    void *first = nullptr, *second = nullptr;
};
/// Null, both: the system refuses.
pages_twice map_twice(std::size_t bytes) noexcept;
void unmap_twice(const pages_twice& pages, std::size_t bytes) noexcept;

}  // namespace braid::platform
