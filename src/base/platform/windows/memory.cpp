#include "base/platform/pages_twice.hpp"
#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <cstddef>

namespace braid::platform {
namespace {

SYSTEM_INFO system_info() noexcept {
    SYSTEM_INFO info{};
    GetSystemInfo(&info);
    return info;
}

std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
    return (bytes + to - 1) / to * to;
}

/// Where reservations begin: multiples of 64 KiB.
std::size_t grain() noexcept { return system_info().dwAllocationGranularity; }

std::byte* guard_behind(std::byte* memory, std::size_t bytes) noexcept {
    return memory + round_up(bytes, grain());
}

/// A view of the section between two places that nobody else can have. Null: the system refuses.
void* map_view(HANDLE section, std::size_t bytes) noexcept {
    const std::size_t guard = grain();
    const std::size_t all = round_up(bytes, guard) + 2 * guard;
    // Another thread may take the place between two calls.
    for (int tries = 0; tries < 16; ++tries) {
        auto* const base =
            static_cast<std::byte*>(VirtualAlloc(nullptr, all, MEM_RESERVE, PAGE_NOACCESS));
        if (base == nullptr) return nullptr;
        VirtualFree(base, 0, MEM_RELEASE);
        std::byte* const memory = base + guard;
        void* const before = VirtualAlloc(base, guard, MEM_RESERVE, PAGE_NOACCESS);
        void* const behind =
            VirtualAlloc(guard_behind(memory, bytes), guard, MEM_RESERVE, PAGE_NOACCESS);
        void* const view =
            before != nullptr && behind != nullptr
                ? MapViewOfFileEx(section, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, bytes, memory)
                : nullptr;
        if (view != nullptr) return view;
        if (before != nullptr) VirtualFree(before, 0, MEM_RELEASE);
        if (behind != nullptr) VirtualFree(behind, 0, MEM_RELEASE);
    }
    return nullptr;
}

void unmap_view(void* view, std::size_t bytes) noexcept {
    auto* const memory = static_cast<std::byte*>(view);
    UnmapViewOfFile(memory);
    VirtualFree(memory - grain(), 0, MEM_RELEASE);
    VirtualFree(guard_behind(memory, bytes), 0, MEM_RELEASE);
}

}  // namespace

std::size_t page_bytes() noexcept { return system_info().dwPageSize; }

void protect(void* memory, std::size_t bytes, access how) noexcept {
    constexpr DWORD rights[] = {PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE};
    DWORD before = 0;
    VirtualProtect(memory, bytes, rights[static_cast<unsigned>(how)], &before);
}

void* map_guarded(std::size_t bytes) noexcept {
    const std::size_t page = page_bytes();
    if (bytes > SIZE_MAX - 3 * page) return nullptr;
    const std::size_t whole = round_up(bytes, page);
    void* const mapped = VirtualAlloc(nullptr, whole + 2 * page, MEM_RESERVE, PAGE_NOACCESS);
    if (mapped == nullptr) return nullptr;
    std::byte* const memory = static_cast<std::byte*>(mapped) + page;
    if (whole == 0 || VirtualAlloc(memory, whole, MEM_COMMIT, PAGE_READWRITE) != nullptr) {
        return memory;
    }
    VirtualFree(mapped, 0, MEM_RELEASE);
    return nullptr;
}

void unmap_guarded(void* memory, std::size_t) noexcept {
    VirtualFree(static_cast<std::byte*>(memory) - page_bytes(), 0, MEM_RELEASE);
}

pages_twice map_twice(std::size_t bytes) noexcept {
    if (bytes == 0 || bytes > SIZE_MAX / 2) return {};
    const std::uint64_t whole = round_up(bytes, page_bytes());
    const HANDLE section =
        CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE,
                           static_cast<DWORD>(whole >> 32), static_cast<DWORD>(whole), nullptr);
    if (section == nullptr) return {};
    const pages_twice pages{map_view(section, whole), map_view(section, whole)};
    CloseHandle(section);  // the pages stay until both are unmapped
    if (pages.first != nullptr && pages.second != nullptr) return pages;
    unmap_twice(pages, bytes);
    return {};
}

void unmap_twice(const pages_twice& pages, std::size_t bytes) noexcept {
    const std::size_t whole = round_up(bytes, page_bytes());
    if (pages.first != nullptr) unmap_view(pages.first, whole);
    if (pages.second != nullptr) unmap_view(pages.second, whole);
}

}  // namespace braid::platform
