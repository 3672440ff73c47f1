#pragma once
// Memory of one device: few large blocks that stay mapped, cut into pieces. Guarded by the
// processor's lock, but for add().

#include "device/outside_back_end.hpp"
#include "device/vulkan/entries.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

struct block;

/// A part of a block, at a multiple of `piece_alignment`.
struct piece {
    block* in = nullptr;
    piece *next = nullptr, *before = nullptr;  // in its block, by offset
    std::size_t offset = 0, bytes = 0;
    bool taken = false;

    std::byte* memory() const;
};
/// What every device takes as the offset of a storage buffer.
inline constexpr std::size_t piece_alignment = 256;

/// One allocation of the device, with one buffer over all of it.
struct block {
    block* next = nullptr;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    std::byte* mapped = nullptr;
    std::size_t bytes = 0;
    std::uint32_t type = 0;
    unsigned taken = 0;  // pieces
    piece* first = nullptr;
    std::span<std::byte> imported;  // memory of the program, within pages that the block has
};

inline std::byte* piece::memory() const { return in->mapped + offset; }

class blocks {
public:
    enum class use : std::uint8_t { buffers, copies };
    static constexpr std::size_t least_bytes = std::size_t{16} << 20;

    blocks(const outside_back_end& host, const device_entries& vk) : host_(host), vk_(vk) {}

    /// Before all others.
    void open(VkDevice device, const VkPhysicalDeviceMemoryProperties& types);
    /// Nothing uses the device any more.
    void close();

    /// Null: no block has room.
    piece* take(std::size_t bytes, use what);
    /// A block for a piece that take() had no room for; without the lock. Null: no memory.
    block* add(std::size_t bytes, use what) const;
    void join(block* b);
    enum class afterwards : std::uint8_t { idle, may_run };
    /// What may still run, as it was given up, keeps its blocks until close().
    void give_back(piece& p, afterwards what = afterwards::idle);

    /// A block over pages of the program, at multiples of `alignment`; without the lock, joined by
    /// join(). Null: no memory, or the driver refuses.
    block* import(std::span<std::byte> memory, std::size_t alignment) const;
    bool has_imported(std::span<const std::byte> memory) const;
    /// Nothing if it was not imported.
    void forget(std::span<const std::byte> memory);

    /// Where all of it lies, imported or not. Null: not in these blocks.
    const block* find_block(std::span<const std::byte> memory) const;
    /// The piece in which it lies. Null: not in these blocks.
    piece* find(const void* memory) const;

private:
    struct order {
        std::uint32_t types[VK_MAX_MEMORY_TYPES] = {};
        unsigned count = 0;
        bool holds(std::uint32_t type) const;
    };
    static order best_first(const VkPhysicalDeviceMemoryProperties& types, use what);
    VkResult make(block& b, std::uint32_t type) const;
    VkResult make_over(block& b) const;
    VkResult make_buffer(block& b, const void* more) const;
    VkResult allocate(block& b, const VkMemoryAllocateInfo& how) const;
    void drop_handles(block& b) const;
    void drop(block* b) const;
    piece* cut(piece& p, std::size_t bytes) const;

    const outside_back_end& host_;
    const device_entries& vk_;
    VkDevice device_ = VK_NULL_HANDLE;
    order for_buffers_, for_copies_;
    block *first_ = nullptr, *first_imported_ = nullptr;
};

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
