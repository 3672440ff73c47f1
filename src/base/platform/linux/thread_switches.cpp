#include "base/platform/thread_switches.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstddef>
#include <cstring>
#include <ctime>

// The C library registers the area of each thread and says where it lies, since 2.35.
extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}

namespace braid::platform {
namespace {

#if defined(__x86_64__) && defined(__linux__)
// A section that no thread is ever in. The kernel checks what it is told, so there has to be one: a
// few bytes of code, and a way out of them behind the signature that it asks for.
asm(R"(
    .pushsection .text
    .balign 16
braid_section_begin:
    nop
    nop
braid_section_end:
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
braid_section_abort:
    ud2
    .popsection
    .pushsection .data.rel.ro, "aw"
    .balign 32
    .globl braid_section
    .hidden braid_section
braid_section:
    .long 0, 0
    .quad braid_section_begin
    .quad braid_section_end - braid_section_begin
    .quad braid_section_abort
    .popsection
)");
extern "C" const char section_told[] __asm__("braid_section") __attribute__((visibility("hidden")));
constexpr bool has_section = true;
std::uint64_t section_address() noexcept { return reinterpret_cast<std::uintptr_t>(section_told); }
#else
constexpr bool has_section = false;
std::uint64_t section_address() noexcept { return 0; }
#endif

constexpr std::size_t ring_pages = 16;  // 1,600 switches of 40 bytes

}  // namespace

thread_area* own_thread_area() noexcept {
    if (&__rseq_size == nullptr || __rseq_size == 0) return nullptr;
    return reinterpret_cast<thread_area*>(static_cast<char*>(__builtin_thread_pointer()) +
                                          __rseq_offset);
}

std::uint64_t switch_flag::section() noexcept { return section_address(); }

bool switch_flag::works() noexcept {
    static const bool works = try_out();
    return works;
}

/// It stays through work and system calls, and is gone after a sleep.
bool switch_flag::try_out() noexcept {
    thread_area* const area = has_section ? own_thread_area() : nullptr;
    if (area == nullptr) return false;
    const std::atomic_ref<std::uint64_t> word(area->section);
    if (word.load(std::memory_order_relaxed) != 0) return false;  // somebody else uses it
    bool cleared = false;
    bool kept = false;
    // A switch may come at any time, but not each time.
    for (int i = 0; i < 8 && !kept; ++i) {
        word.store(section_address(), std::memory_order_relaxed);
        kept = word.load(std::memory_order_relaxed) != 0;
    }
    word.store(section_address(), std::memory_order_relaxed);
    const timespec shortly{0, 50'000};
    nanosleep(&shortly, nullptr);
    cleared = word.load(std::memory_order_relaxed) == 0;
    word.store(0, std::memory_order_relaxed);
    return kept && cleared;
}

switch_counts own_switch_counts() noexcept {
    rusage usage{};
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return {};
    return {static_cast<std::uint64_t>(usage.ru_nvcsw),
            static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

bool switch_log::open(std::uint32_t thread_number) noexcept {
    perf_event_attr wish{};
    wish.size = sizeof wish;
    wish.type = PERF_TYPE_SOFTWARE;
    wish.config = PERF_COUNT_SW_DUMMY;
    wish.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    wish.sample_id_all = 1;
    wish.context_switch = 1;
    wish.exclude_kernel = 1;
    wish.use_clockid = 1;
    wish.clockid = CLOCK_MONOTONIC;
    file_ = static_cast<int>(
        syscall(SYS_perf_event_open, &wish, thread_number, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file_ < 0) return false;
    void* const pages = mmap(nullptr, (1 + ring_pages) * page_bytes(), PROT_READ | PROT_WRITE,
                             MAP_SHARED, file_, 0);
    if (pages == MAP_FAILED) {
        close(file_);
        file_ = -1;
        return false;
    }
    pages_ = pages;
    return true;
}

switch_log::~switch_log() {
    if (pages_ != nullptr) munmap(pages_, (1 + ring_pages) * page_bytes());
    if (file_ >= 0) close(file_);
}

bool switch_log::next(entry& to) noexcept {
    if (pages_ == nullptr) return false;
    auto& page = *static_cast<perf_event_mmap_page*>(pages_);
    const char* const data = static_cast<const char*>(pages_) + page_bytes();
    const std::size_t size = ring_pages * page_bytes();
    // acquire: pairs with the kernel's release; what it wrote before is there.
    const std::uint64_t head =
        std::atomic_ref<__u64>(page.data_head).load(std::memory_order_acquire);
    const std::atomic_ref<__u64> tail(page.data_tail);
    std::uint64_t at = tail.load(std::memory_order_relaxed);
    bool found = false;
    const auto copy = [&](void* into, std::uint64_t from, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) {
            static_cast<char*>(into)[i] = data[(from + i) % size];
        }
    };
    while (at != head && !found) {
        perf_event_header header{};
        copy(&header, at, sizeof header);
        if (header.size == 0) break;
        if (header.type == PERF_RECORD_SWITCH) {
            std::uint64_t body[2] = {};  // time; core and nothing
            copy(body, at + sizeof header, sizeof body);
            to.time = static_cast<std::int64_t>(body[0]);
            to.core = static_cast<std::uint32_t>(body[1]);
            to.out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
            to.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
            found = true;
        }
        at += header.size;
    }
    // release: pairs with the kernel's acquire; it may write over what was read.
    tail.store(at, std::memory_order_release);
    return found;
}

}  // namespace braid::platform
