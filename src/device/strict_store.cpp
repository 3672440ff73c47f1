#include "device/strict_store.hpp"

#include "base/platform/pages_twice.hpp"
#include "base/platform/platform.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {

constexpr std::byte untouched{0xA5};  // between an operand and the begin of its first page

// acq_rel: a thread that faults reads what open() has written.
atomic<strict_store*> only{nullptr};
thread_local bool in_kernel = false;

constexpr std::size_t rounded(std::size_t bytes, std::size_t page) {
    return (bytes + page - 1) / page * page;
}

}  // namespace

bool strict_store::open(std::size_t bytes) {
    strict_store* nobody = nullptr;
    if (!only.compare_exchange_strong(nobody, this, acq_rel, relaxed)) return false;
    const std::size_t page = platform::page_bytes();
    // Each operand may have a page of rest, and has a guard.
    region_bytes_ = rounded(bytes, page) + 2 * launch::most_operands * page;
    region_ = static_cast<std::byte*>(platform::map_guarded(region_bytes_));
    if (region_ == nullptr) {
        only.store(nullptr, release);
        return false;
    }
    platform::watch_access(&on_fault);
    return true;
}

strict_store::~strict_store() {
    if (region_ == nullptr) return;
    only.store(nullptr, release);
    platform::unmap_guarded(region_, region_bytes_);
}

// ---- a job runs --------------------------------------------------------------------------------

/// Memory of the program lies where it does.
std::span<std::byte> strict_store::for_transfers(std::span<std::byte> operand) const {
    const auto at = reinterpret_cast<std::uintptr_t>(operand.data());
    for (const block* b = blocks_; b != nullptr; b = b->next) {
        const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(b->memory);
        if (offset < b->bytes) return {b->twin + offset, operand.size()};
    }
    return operand;
}

void strict_store::begin_job(const step& s) {
    running_ = &s;
    local_ = s.what;
    for (unsigned n = 0; n < local_.reads + local_.writes; ++n) {
        places_[n].outside = for_transfers(s.what.operands[n]);
    }
    kernels_.fetch_add(1, seq_cst);
    shown_.clear();
    for (block* b = blocks_; b != nullptr; b = b->next) {
        shown_.push(*b);  // without memory it stays without a name
        platform::protect(b->memory, b->bytes, platform::access::none);
    }
}

void strict_store::end_job() {
    for (block* b = blocks_; b != nullptr; b = b->next) {
        platform::protect(b->memory, b->bytes, platform::access::all);
    }
    kernels_.fetch_add(1, seq_cst);
}

void strict_store::bring_in() {
    const std::size_t page = platform::page_bytes();
    platform::protect(region_, region_bytes_, platform::access::none);
    std::byte* at = region_;
    for (unsigned n = 0; n < local_.reads + local_.writes; ++n) {
        place& p = places_[n];
        const std::span<std::byte> from = p.outside;
        const std::size_t whole = rounded(from.size(), page);
        p.pages = at;
        p.begin = at + (whole - from.size());
        p.guard = at + whole;
        at = p.guard + page;
        local_.operands[n] = {p.begin, from.size()};
        if (from.empty()) continue;
        platform::protect(p.pages, whole, platform::access::all);
        std::fill(p.pages, p.begin, untouched);
        std::memcpy(p.begin, from.data(), from.size());
        if (n < local_.reads) platform::protect(p.pages, whole, platform::access::read);
    }
}

void strict_store::bring_out() const {
    for (unsigned n = local_.reads; n < local_.reads + local_.writes; ++n) {
        const place& p = places_[n];
        if (!p.outside.empty()) std::memcpy(p.outside.data(), p.begin, p.outside.size());
    }
}

void strict_store::begin() { in_kernel = true; }

bool strict_store::end(std::span<char> why) {
    in_kernel = false;
    for (unsigned n = local_.reads; n < local_.reads + local_.writes; ++n) {
        const place& p = places_[n];
        const std::byte* const touched =
            std::find_if(p.pages, p.begin, [](std::byte b) { return b != untouched; });
        if (touched == p.begin) continue;
        std::snprintf(why.data(), why.size(),
                      "kernel '%.60s' writes byte %td of its output %u, which has %zu",
                      running_->kernel.name, touched - p.begin, n - local_.reads,
                      local_.operands[n].size());
        return false;
    }
    return true;
}

// ---- buffers -----------------------------------------------------------------------------------

void* strict_store::allocate(std::size_t bytes, const char* name) {
    void* const memory = memory_.allocate(sizeof(block), alignof(block), memory_tag::device);
    if (memory == nullptr) return nullptr;
    const platform::pages_twice pages = platform::map_twice(bytes);
    if (pages.first == nullptr) {
        memory_.release(memory, sizeof(block), alignof(block), memory_tag::device);
        return nullptr;
    }
    blocks_ = ::new (memory) block{blocks_, static_cast<std::byte*>(pages.first),
                                   static_cast<std::byte*>(pages.second), bytes, name};
    // relaxed: it changes with the lock that the caller has.
    const bool job_runs = kernels_.load(relaxed) % 2 != 0;
    if (job_runs) platform::protect(pages.first, bytes, platform::access::none);
    return pages.first;
}

void strict_store::free(void* memory) {
    block** link = &blocks_;
    while ((*link)->memory != memory) link = &(*link)->next;
    block* const b = std::exchange(*link, (*link)->next);
    platform::unmap_twice({b->memory, b->twin}, b->bytes);
    memory_.release(b, sizeof(block), alignof(block), memory_tag::device);
}

// ---- a fault -----------------------------------------------------------------------------------

/// True: it is tried again. A thread of the program may touch a buffer while a job runs, which
/// nobody forbids; it waits until the job has ended.
bool strict_store::on_fault(const platform::access_fault& fault) {
    strict_store* const s = only.load(acquire);
    if (s == nullptr) return false;
    if (in_kernel) {
        s->explain(fault.address, fault.writes);
        return false;
    }
    if (!fault.is_closed) return false;
    // Where no job has begun since this thread tried last, the page is no buffer's.
    thread_local std::uintptr_t tried = 0;
    thread_local std::uint64_t before = 0;
    const std::uint64_t kernels = s->kernels_.load(seq_cst);
    const bool again = tried == fault.address && before == kernels;
    tried = fault.address;
    before = kernels;
    if (again) return false;
    while (s->kernels_.load(seq_cst) % 2 != 0) std::this_thread::yield();
    return true;
}

/// In a handler of signals.
void strict_store::explain(std::uintptr_t address, bool writes) const {
    const char* const verb = writes ? "writes" : "reads";
    if (explain_operand(address, verb) || explain_buffer(address, verb)) return;
    char text[256];
    std::snprintf(text, sizeof text,
                  "braid: kernel '%.60s' %s address %#zx, where it has no operand\n",
                  running_->kernel.name, verb, static_cast<std::size_t>(address));
    platform::write_error(text);
}

bool strict_store::explain_operand(std::uintptr_t address, const char* verb) const {
    const std::size_t page = platform::page_bytes();
    for (unsigned n = 0; n < local_.reads + local_.writes; ++n) {
        const place& p = places_[n];
        const auto begin = reinterpret_cast<std::uintptr_t>(p.pages);
        if (address < begin || address >= reinterpret_cast<std::uintptr_t>(p.guard) + page) {
            continue;
        }
        const auto byte =
            static_cast<std::ptrdiff_t>(address - reinterpret_cast<std::uintptr_t>(p.begin));
        const bool reads = n < local_.reads;
        const std::size_t size = local_.operands[n].size();
        const bool inside = byte >= 0 && static_cast<std::size_t>(byte) < size;
        char text[256];
        std::snprintf(text, sizeof text,
                      "braid: kernel '%.60s' %s byte %td of its %s %u, which has %zu%s; address "
                      "%#zx\n",
                      running_->kernel.name, verb, byte, reads ? "input" : "output",
                      reads ? n : n - local_.reads, size, inside ? " and is only read" : "",
                      static_cast<std::size_t>(address));
        platform::write_error(text);
        return true;
    }
    return false;
}

bool strict_store::explain_buffer(std::uintptr_t address, const char* verb) const {
    for (const block& b : shown_) {
        const auto begin = reinterpret_cast<std::uintptr_t>(b.memory);
        if (address < begin || address >= begin + b.bytes) continue;
        char text[256];
        std::snprintf(text, sizeof text,
                      "braid: kernel '%.60s' %s byte %zu of buffer '%.60s' at the program's "
                      "address %#zx: a kernel has what it names, in its store\n",
                      running_->kernel.name, verb, static_cast<std::size_t>(address - begin),
                      b.name, static_cast<std::size_t>(address));
        platform::write_error(text);
        return true;
    }
    return false;
}

}  // namespace device::detail
BRAID_NAMESPACE_END
