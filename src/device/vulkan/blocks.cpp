#include "device/vulkan/blocks.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

namespace {
constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + piece_alignment - 1) / piece_alignment * piece_alignment;
}
}  // namespace

bool blocks::order::holds(std::uint32_t type) const {
    return std::find(types, types + count, type) != types + count;
}

/// Both map and need no flushes. What cores copy through lies where they read fast; buffers lie
/// with the device.
blocks::order blocks::best_first(const VkPhysicalDeviceMemoryProperties& types, use what) {
    constexpr VkMemoryPropertyFlags needed =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const auto worth = [&](std::uint32_t i) {
        const VkMemoryPropertyFlags flags = types.memoryTypes[i].propertyFlags;
        const int near = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        const int fast_to_read = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
        return what == use::buffers ? 2 * near + fast_to_read : 2 * fast_to_read + near;
    };
    order best;
    for (std::uint32_t i = 0; i < types.memoryTypeCount; ++i) {
        if ((types.memoryTypes[i].propertyFlags & needed) == needed) best.types[best.count++] = i;
    }
    std::sort(best.types, best.types + best.count, [&](std::uint32_t a, std::uint32_t b) {
        return worth(a) != worth(b) ? worth(a) > worth(b) : a < b;
    });
    return best;
}

void blocks::open(VkDevice device, const VkPhysicalDeviceMemoryProperties& types) {
    device_ = device;
    for_buffers_ = best_first(types, use::buffers);
    for_copies_ = best_first(types, use::copies);
}

void blocks::close() {
    while (first_ != nullptr) drop(std::exchange(first_, first_->next));
    while (first_imported_ != nullptr) {
        drop(std::exchange(first_imported_, first_imported_->next));
    }
}

// ---- blocks ------------------------------------------------------------------------------------

block* blocks::add(std::size_t bytes, use what) const {
    if (bytes > SIZE_MAX - piece_alignment) return nullptr;
    void* const memory = host_.allocate(sizeof(block));
    if (memory == nullptr) return nullptr;
    auto* const b = ::new (memory) block;
    b->bytes = std::max(padded(bytes), least_bytes);
    void* const whole = host_.allocate(sizeof(piece));
    if (whole != nullptr) {
        b->first = ::new (whole) piece{.in = b, .bytes = b->bytes};
        const order& types = what == use::buffers ? for_buffers_ : for_copies_;
        for (unsigned i = 0; i < types.count; ++i) {
            if (make(*b, types.types[i]) == VK_SUCCESS) return b;
        }
    }
    drop(b);
    return nullptr;
}

VkResult blocks::make_buffer(block& b, const void* more) const {
    VkBufferCreateInfo buffer{};
    buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer.pNext = more;
    buffer.size = b.bytes;
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    const VkResult r = vk_.CreateBuffer(device_, &buffer, nullptr, &b.buffer);
    if (r != VK_SUCCESS) b.buffer = VK_NULL_HANDLE;
    return r;
}

VkResult blocks::allocate(block& b, const VkMemoryAllocateInfo& how) const {
    const VkResult r = vk_.AllocateMemory(device_, &how, nullptr, &b.memory);
    if (r != VK_SUCCESS) b.memory = VK_NULL_HANDLE;
    b.type = how.memoryTypeIndex;
    return r == VK_SUCCESS ? vk_.BindBufferMemory(device_, b.buffer, b.memory, 0) : r;
}

VkResult blocks::make(block& b, std::uint32_t type) const {
    VkResult r = make_buffer(b, nullptr);
    if (r != VK_SUCCESS) return r;
    VkMemoryRequirements needs{};
    vk_.GetBufferMemoryRequirements(device_, b.buffer, &needs);
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = type;
    r = (needs.memoryTypeBits & (1U << type)) == 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                                   : allocate(b, memory);
    void* mapped = nullptr;
    if (r == VK_SUCCESS) r = vk_.MapMemory(device_, b.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    b.mapped = static_cast<std::byte*>(mapped);
    if (r != VK_SUCCESS) drop_handles(b);
    return r;
}

void blocks::drop_handles(block& b) const {
    vk_.DestroyBuffer(device_, std::exchange(b.buffer, VK_NULL_HANDLE), nullptr);
    vk_.FreeMemory(device_, std::exchange(b.memory, VK_NULL_HANDLE), nullptr);
}

void blocks::drop(block* b) const {
    while (b->first != nullptr) {
        host_.release(std::exchange(b->first, b->first->next), sizeof(piece));
    }
    drop_handles(*b);
    host_.release(b, sizeof(block));
}

void blocks::join(block* b) {
    block*& list = b->imported.empty() ? first_ : first_imported_;
    b->next = std::exchange(list, b);
}

// ---- memory of the program ---------------------------------------------------------------------

block* blocks::import(std::span<std::byte> memory, std::size_t alignment) const {
    void* const room = host_.allocate(sizeof(block));
    if (room == nullptr) return nullptr;
    auto* const b = ::new (room) block;
    const std::size_t before = reinterpret_cast<std::uintptr_t>(memory.data()) % alignment;
    b->imported = memory;
    b->mapped = memory.data() - before;
    b->bytes = (before + memory.size() + alignment - 1) / alignment * alignment;
    if (make_over(*b) == VK_SUCCESS) return b;
    drop(b);
    return nullptr;
}

/// Pages cannot be flushed, so that their type has to be coherent, too.
VkResult blocks::make_over(block& b) const {
    VkExternalMemoryBufferCreateInfo outside{};
    outside.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    outside.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkResult r = make_buffer(b, &outside);
    if (r != VK_SUCCESS) return r;
    VkMemoryHostPointerPropertiesEXT pages{};
    pages.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    r = vk_.GetMemoryHostPointerPropertiesEXT(
        device_, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, b.mapped, &pages);
    if (r != VK_SUCCESS) return r;
    VkMemoryRequirements needs{};
    vk_.GetBufferMemoryRequirements(device_, b.buffer, &needs);
    const std::uint32_t possible = needs.memoryTypeBits & pages.memoryTypeBits;
    const std::uint32_t* const end = for_copies_.types + for_copies_.count;
    const std::uint32_t* const type = std::find_if(
        for_copies_.types, end, [=](std::uint32_t t) { return (possible & (1U << t)) != 0; });
    if (type == end || needs.size > b.bytes) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkImportMemoryHostPointerInfoEXT host{};
    host.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    host.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    host.pHostPointer = b.mapped;
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.pNext = &host;
    memory.allocationSize = b.bytes;
    memory.memoryTypeIndex = *type;
    return allocate(b, memory);
}

bool blocks::has_imported(std::span<const std::byte> memory) const {
    for (const block* b = first_imported_; b != nullptr; b = b->next) {
        if (have_a_byte_in_common(b->imported, memory)) return true;
    }
    return false;
}

void blocks::forget(std::span<const std::byte> memory) {
    for (block** link = &first_imported_; *link != nullptr; link = &(*link)->next) {
        block* const b = *link;
        if (b->imported.data() != memory.data()) continue;
        *link = b->next;
        return drop(b);
    }
}

// ---- pieces ------------------------------------------------------------------------------------

piece* blocks::take(std::size_t bytes, use what) {
    if (bytes > SIZE_MAX - piece_alignment) return nullptr;
    const std::size_t wanted = padded(bytes);
    const order& types = what == use::buffers ? for_buffers_ : for_copies_;
    for (block* b = first_; b != nullptr; b = b->next) {
        if (!types.holds(b->type)) continue;
        for (piece* p = b->first; p != nullptr; p = p->next) {
            if (!p->taken && p->bytes >= wanted) return cut(*p, wanted);
        }
    }
    return nullptr;
}

/// Null: no memory for a further piece.
piece* blocks::cut(piece& p, std::size_t bytes) const {
    if (p.bytes != bytes) {
        void* const memory = host_.allocate(sizeof(piece));
        if (memory == nullptr) return nullptr;
        auto* const rest = ::new (memory) piece{.in = p.in,
                                                .next = p.next,
                                                .before = &p,
                                                .offset = p.offset + bytes,
                                                .bytes = p.bytes - bytes};
        if (p.next != nullptr) p.next->before = rest;
        p.next = rest;
        p.bytes = bytes;
    }
    p.taken = true;
    ++p.in->taken;
    return &p;
}

/// A block that is larger than all others need goes with its last piece.
void blocks::give_back(piece& p, afterwards what) {
    block& b = *p.in;
    p.taken = false;
    const auto merge = [this](piece& a) {  // with the one behind it
        piece* const next = a.next;
        a.bytes += next->bytes;
        a.next = next->next;
        if (a.next != nullptr) a.next->before = &a;
        host_.release(next, sizeof(piece));
    };
    piece* const before = p.before;
    if (p.next != nullptr && !p.next->taken) merge(p);
    if (before != nullptr && !before->taken) merge(*before);
    if (--b.taken != 0 || b.bytes == least_bytes || what == afterwards::may_run) return;
    block** link = &first_;
    while (*link != &b) link = &(*link)->next;
    *link = b.next;
    drop(&b);
}

const block* blocks::find_block(std::span<const std::byte> memory) const {
    const auto is_in = [at = reinterpret_cast<std::uintptr_t>(memory.data()),
                        n = memory.size()](std::span<const std::byte> all) {
        const auto begin = reinterpret_cast<std::uintptr_t>(all.data());
        return begin <= at && at - begin <= all.size() && n <= all.size() - (at - begin);
    };
    for (const block* b = first_; b != nullptr; b = b->next) {
        if (is_in({b->mapped, b->bytes})) return b;
    }
    for (const block* b = first_imported_; b != nullptr; b = b->next) {
        if (is_in(b->imported)) return b;
    }
    return nullptr;
}

piece* blocks::find(const void* memory) const {
    const block* const b = find_block({static_cast<const std::byte*>(memory), 1});
    if (b == nullptr || b->first == nullptr) return nullptr;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - b->mapped);
    piece* p = b->first;
    while (offset >= p->offset + p->bytes) p = p->next;
    return p;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
