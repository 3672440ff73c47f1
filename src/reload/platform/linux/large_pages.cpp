#include "reload/platform/platform.hpp"

#include <sys/mman.h>

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

void want_large_pages(std::byte* memory, std::size_t bytes) {
    constexpr std::size_t large = std::size_t{2} << 20;
    void* begin = memory;
    if (std::align(large, large, begin, bytes) == nullptr) return;
    madvise(begin, bytes / large * large, MADV_HUGEPAGE);
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
