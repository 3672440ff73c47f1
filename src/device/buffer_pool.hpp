#pragma once
// The buffers of one processor: their memory, and which submissions use them. Guarded by the
// processor's lock.

#include "base/accounted_array.hpp"
#include "core/extension.hpp"
#include "device/back_end.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

class buffer_pool {
public:
    buffer_pool(braid::detail::runtime& rt, back_end& how)
        : how_(how), slots_(braid::detail::core::memory(rt)) {}
    ~buffer_pool();

    enum class owner : std::uint8_t { processor, cores, program };
    /// Takes `memory` over, which is the back end's, or stays the program's. Empty: no memory for
    /// its place, and that is released.
    buffer make(const buffer_options& options, void* memory, owner whose);
    /// False: stale. Its memory goes when nothing uses it any more.
    bool release(buffer b);
    void release_all();

    bool is_live(buffer b) const { return find(b) != nullptr; }
    std::span<std::byte> bytes(buffer b) const;
    /// The processor had no memory for it. While it is live.
    bool lies_on_cores(buffer b) const { return find(b)->whose == owner::cores; }
    bool lies_on_processor(buffer b) const { return find(b)->whose == owner::processor; }
    /// A submission that has not ended uses it.
    bool is_used(buffer b) const;
    /// While it is live.
    const char* name(buffer b) const { return find(b)->name; }
    /// Whose name has a byte of `memory`, also while it is stale and used. Null: none.
    const char* name_at(std::span<const std::byte> memory) const;

    /// `u` names bytes of a buffer that is live.
    void begin_use(buffer_use& u);
    void end_use(buffer_use& u);
    /// The next in its list, after `from`, that must come before `u`. Null: the first; none.
    const buffer_use* next_before(const buffer_use& u, const buffer_use* from) const;
    /// What comes after `u` comes after those, too, so nobody has to look at them any more.
    void cover(const buffer_use& u);

    std::size_t bytes_now() const { return bytes_; }
    std::size_t most_bytes() const { return most_bytes_; }

private:
    struct slot {
        const char* name = "";
        std::byte* memory = nullptr;
        std::size_t bytes = 0;
        owner whose = owner::processor;
        std::uint32_t generation = 0;  // even: free, or stale
        std::uint32_t users = 0;
        buffer_use* uses = nullptr;
        std::uint32_t next_free = 0;
    };
    const slot* find(buffer b) const;
    void make_stale(std::uint32_t index);
    void free_memory(std::uint32_t index);
    void give_back(void* memory, std::size_t bytes, owner whose);
    static void unlist(slot& s, buffer_use& u);

    back_end& how_;
    braid::detail::accounted_array<slot, memory_tag::device> slots_;
    std::uint32_t first_free_ = UINT32_MAX;
    std::size_t bytes_ = 0, most_bytes_ = 0;
};

}  // namespace device::detail
BRAID_NAMESPACE_END
