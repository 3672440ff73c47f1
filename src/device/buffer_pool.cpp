#include "device/buffer_pool.hpp"

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {
constexpr std::uint32_t index_of(buffer b) { return static_cast<std::uint32_t>(b.value) - 1; }
constexpr std::uint32_t generation_of(buffer b) {
    return static_cast<std::uint32_t>(b.value >> 32);
}
}  // namespace

buffer_pool::~buffer_pool() {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) free_memory(i);
}

buffer buffer_pool::make(const buffer_options& options, void* memory, owner whose) {
    if (first_free_ == UINT32_MAX) {
        slot fresh;
        fresh.next_free = UINT32_MAX;
        if (!slots_.push(fresh)) {
            give_back(memory, options.bytes, whose);
            return {};
        }
        first_free_ = static_cast<std::uint32_t>(slots_.size()) - 1;
    }
    const std::uint32_t index = first_free_;
    slot& s = slots_[index];
    first_free_ = s.next_free;
    s.name = options.name != nullptr ? options.name : "buffer";
    s.memory = static_cast<std::byte*>(memory);
    s.bytes = options.bytes;
    s.whose = whose;
    ++s.generation;
    if (whose != owner::program) bytes_ += options.bytes;
    most_bytes_ = bytes_ > most_bytes_ ? bytes_ : most_bytes_;
    return {std::uint64_t{s.generation} << 32 | (index + 1)};
}

const buffer_pool::slot* buffer_pool::find(buffer b) const {
    if (!b || index_of(b) >= slots_.size()) return nullptr;
    const slot& s = slots_[index_of(b)];
    return s.generation == generation_of(b) && s.generation % 2 != 0 ? &s : nullptr;
}

std::span<std::byte> buffer_pool::bytes(buffer b) const {
    const slot* const s = find(b);
    return s != nullptr ? std::span(s->memory, s->bytes) : std::span<std::byte>();
}

bool buffer_pool::is_used(buffer b) const {
    const slot* const s = find(b);
    return s != nullptr && s->users != 0;
}

bool buffer_pool::release(buffer b) {
    if (find(b) == nullptr) return false;
    make_stale(index_of(b));
    return true;
}

void buffer_pool::release_all() {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].generation % 2 != 0) make_stale(i);
    }
}

void buffer_pool::make_stale(std::uint32_t index) {
    slot& s = slots_[index];
    ++s.generation;
    if (s.users == 0) free_memory(index);
}

/// A slot whose generations are used up is not used again.
void buffer_pool::free_memory(std::uint32_t index) {
    slot& s = slots_[index];
    if (s.memory == nullptr) return;
    give_back(s.memory, s.bytes, s.whose);
    if (s.whose != owner::program) bytes_ -= s.bytes;
    s.memory = nullptr;
    if (s.generation >= UINT32_MAX - 1) return;
    s.next_free = first_free_;
    first_free_ = index;
}

void buffer_pool::give_back(void* memory, std::size_t bytes, owner whose) {
    if (whose == owner::processor) return how_.free_buffer(memory, bytes);
    if (whose == owner::cores) return how_.back_end::free_buffer(memory, bytes);
    how_.forget_memory({static_cast<std::byte*>(memory), bytes});
}

const char* buffer_pool::name_at(std::span<const std::byte> memory) const {
    for (const slot& s : slots_) {
        if (s.memory != nullptr && have_a_byte_in_common({s.memory, s.bytes}, memory)) {
            return s.name;
        }
    }
    return nullptr;
}

void buffer_pool::begin_use(buffer_use& u) {
    slot& s = slots_[index_of(u.of)];
    ++s.users;
    u.before = nullptr;
    u.next = s.uses;
    if (s.uses != nullptr) s.uses->before = &u;
    s.uses = &u;
    u.listed = true;
}

void buffer_pool::end_use(buffer_use& u) {
    slot& s = slots_[index_of(u.of)];
    if (u.listed) unlist(s, u);
    if (--s.users == 0 && s.generation % 2 == 0) free_memory(index_of(u.of));
}

void buffer_pool::unlist(slot& s, buffer_use& u) {
    (u.before != nullptr ? u.before->next : s.uses) = u.next;
    if (u.next != nullptr) u.next->before = u.before;
    u.listed = false;
}

const buffer_use* buffer_pool::next_before(const buffer_use& u, const buffer_use* from) const {
    for (const buffer_use* o = from != nullptr ? from->next : slots_[index_of(u.of)].uses;
         o != nullptr; o = o->next) {
        const bool apart = o->end <= u.begin || u.end <= o->begin;
        if (o->by != u.by && !apart && (o->writes || u.writes)) return o;
    }
    return nullptr;
}

void buffer_pool::cover(const buffer_use& u) {
    if (!u.writes) return;
    slot& s = slots_[index_of(u.of)];
    for (buffer_use *o = s.uses, *next = nullptr; o != nullptr; o = next) {
        next = o->next;
        if (o->by != u.by && u.begin <= o->begin && o->end <= u.end) unlist(s, *o);
    }
}

}  // namespace device::detail
BRAID_NAMESPACE_END
