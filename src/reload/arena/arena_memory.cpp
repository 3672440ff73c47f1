#include "reload/arena/arena_memory.hpp"

#include "reload/platform/platform.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

constexpr std::size_t most_chunk = 16 * 1024 * 1024;

std::size_t padding(const std::byte* at, std::uint64_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return static_cast<std::size_t>(-address & (alignment - 1));
}

}  // namespace

arena_memory::~arena_memory() {
    for (const chunk& one : chunks_) ::operator delete(one.begin);
}

void arena_memory::swap(arena_memory& other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(filled_, other.filled_);
    std::swap(next_size_, other.next_size_);
}

arena_memory::chunk& arena_memory::chunk_with(std::size_t bytes) {
    const auto room = std::ranges::find(chunks_, filled_, &chunk::begin);
    if (room != chunks_.end() && room->size - room->used >= bytes) return *room;
    chunks_.reserve(chunks_.size() + 1);
    chunk fresh;
    fresh.size = std::max(bytes, next_size_);
    fresh.all.reserve(64);
    fresh.begin = static_cast<std::byte*>(::operator new(fresh.size));
    // A trial forks: the kernel copies an entry for each page, in the time of a frame.
    platform::want_large_pages(fresh.begin, fresh.size);
    filled_ = fresh.begin;
    next_size_ = std::min(most_chunk, next_size_ * 2);
    const auto where = std::ranges::lower_bound(chunks_, fresh.begin, {}, &chunk::begin);
    return *chunks_.insert(where, std::move(fresh));
}

std::byte* arena_memory::take(std::uint32_t type, std::uint64_t count, std::uint64_t size,
                              std::uint64_t alignment) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    if (size != 0 && count > (most - 2 * alignment) / size) throw std::bad_alloc();
    const std::uint64_t bytes = count * size;
    chunk& in = chunk_with(bytes + 2 * alignment + 1);
    std::byte* const free = in.begin + in.used;
    std::byte* const at = free + padding(free, alignment);
    in.all.push_back({at, count, bytes, type, nullptr});
    in.used = static_cast<std::size_t>(at - in.begin) + bytes + 1;
    return at;
}

allocation* arena_memory::find(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    auto in = std::ranges::upper_bound(chunks_, at, {}, &chunk::begin);
    if (in == chunks_.begin()) return nullptr;
    --in;
    if (at >= in->begin + in->used) return nullptr;
    auto found = std::ranges::upper_bound(in->all, at, {}, &allocation::at);
    if (found == in->all.begin()) return nullptr;
    --found;
    return found->count != 0 && at <= found->at + found->bytes ? &*found : nullptr;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
