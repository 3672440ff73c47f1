#include "base/platform/pages_twice.hpp"
#include "base/platform/platform.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace braid::platform {
namespace {

/// With both guards. 0: there is no such number.
std::size_t mapped_bytes(std::size_t bytes) noexcept {
    const std::size_t page = page_bytes();
    if (bytes > SIZE_MAX - 3 * page) return 0;
    return (bytes + page - 1) / page * page + 2 * page;
}

/// Null: the system refuses.
void* map_file(int file, std::size_t bytes) noexcept {
    void* const memory = map_guarded(bytes);
    if (memory == nullptr) return nullptr;
    const std::size_t whole = mapped_bytes(bytes) - 2 * page_bytes();
    if (mmap(memory, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == memory) {
        return memory;
    }
    unmap_guarded(memory, bytes);
    return nullptr;
}

}  // namespace

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void protect(void* memory, std::size_t bytes, access how) noexcept {
    constexpr int rights[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    mprotect(memory, bytes, rights[static_cast<unsigned>(how)]);
}

void* map_guarded(std::size_t bytes) noexcept {
    const std::size_t all = mapped_bytes(bytes);
    if (all == 0) return nullptr;
    void* const mapped = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    std::byte* const memory = static_cast<std::byte*>(mapped) + page_bytes();
    if (mprotect(memory, all - 2 * page_bytes(), PROT_READ | PROT_WRITE) == 0) return memory;
    munmap(mapped, all);
    return nullptr;
}

void unmap_guarded(void* memory, std::size_t bytes) noexcept {
    munmap(static_cast<std::byte*>(memory) - page_bytes(), mapped_bytes(bytes));
}

pages_twice map_twice(std::size_t bytes) noexcept {
    const std::size_t all = mapped_bytes(bytes);
    const int file = all != 0 ? memfd_create("braid", MFD_CLOEXEC) : -1;
    if (file == -1) return {};
    pages_twice pages;
    if (ftruncate(file, static_cast<off_t>(all - 2 * page_bytes())) == 0) {
        pages = {map_file(file, bytes), map_file(file, bytes)};
    }
    close(file);  // the pages stay until both are unmapped
    if (pages.first != nullptr && pages.second != nullptr) return pages;
    unmap_twice(pages, bytes);
    return {};
}

void unmap_twice(const pages_twice& pages, std::size_t bytes) noexcept {
    if (pages.first != nullptr) unmap_guarded(pages.first, bytes);
    if (pages.second != nullptr) unmap_guarded(pages.second, bytes);
}

}  // namespace braid::platform
