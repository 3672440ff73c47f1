#pragma once
// Everything that Braid asks of an operating system. One implementation per folder beside this
// file; no POSIX or Win32 header is included anywhere else.

#include <cstddef>
#include <cstdint>

namespace braid::platform {

/// Sleeps while `*word == expected`, at most until `deadline_ns` (monotonic; INT64_MAX: forever).
/// May return early. The caller looks again.
void futex_wait(const void* word, std::uint32_t expected, std::int64_t deadline_ns) noexcept;
void futex_wake_one(const void* word) noexcept;

/// CLOCK_MONOTONIC in ns; 36 ns a call. The coarse one costs 5 ns and ticks every 1-4 ms.
std::int64_t monotonic_ns() noexcept;
std::int64_t coarse_monotonic_ns() noexcept;

void cpu_relax() noexcept;

// ---- threads ------------------------------------------------------------------------------

enum class thread_class : std::uint8_t {
    normal,
    idle,  // runs only when nothing else wants the core (SCHED_IDLE, or nice 19)
};

struct thread_request {
    const char* name = nullptr;   // cut to 15 characters by Linux
    std::size_t stack_bytes = 0;  // 0: the system's default
    thread_class scheduling = thread_class::normal;
    int nice = 0;         // -20 (most favoured) .. 19
    int pin_to_cpu = -1;  // -1: not pinned
    void (*entry)(void* argument) = nullptr;
    void* argument = nullptr;
};

/// What thread_time() takes, for the calling thread.
int this_thread_time_clock() noexcept;
/// Processor time that thread has had, in ns. Below 0: it has ended. About 0.3 us.
std::int64_t thread_time(int clock) noexcept;

/// Opaque; 0 means "no thread".
using thread_handle = std::uintptr_t;

/// 0 when the system refuses; the request's extras (name, nice, pin) are best effort.
/// `request` is read by the new thread and must stay until `entry` has been called.
thread_handle start_thread(const thread_request& request) noexcept;
void join_thread(thread_handle thread) noexcept;
void detach_thread(thread_handle thread) noexcept;
bool is_current(thread_handle thread) noexcept;

/// Cores by number, those of the first 1024.
struct core_set {
    std::uint64_t words[16] = {};

    bool operator==(const core_set&) const = default;
    bool empty() const {
        std::uint64_t any = 0;
        for (const std::uint64_t word : words) any |= word;
        return any == 0;
    }
    /// This one without `core`; empty when that is not in it.
    core_set without(std::uint32_t core) const {
        core_set rest = *this;
        if (core >= 1024 || (words[core / 64] >> core % 64 & 1) == 0) return {};
        rest.words[core / 64] &= ~(std::uint64_t{1} << core % 64);
        return rest;
    }
};
/// The core on which the calling thread runs at the moment; UINT32_MAX when unknown. 1-2 ns.
std::uint32_t current_core() noexcept;
/// The system's number for the calling thread.
std::uint32_t current_thread_number() noexcept;
/// The cores that the calling thread may run on; none of them when unknown.
core_set own_cores() noexcept;
/// 0: the calling thread. False: the system refuses. About 1 µs.
bool set_cores(std::uint32_t thread_number, const core_set& cores) noexcept;

/// The bounds of the calling thread's stack: [low, high). Both 0 when unknown.
struct stack_bounds {
    std::uintptr_t low = 0, high = 0;
};
stack_bounds current_stack() noexcept;

/// Calls `frame` with an address within the call at which each frame of the calling thread's stack
/// stands, innermost first, as long as it says true. By unwind tables, so it ends at code that has
/// none. Takes locks.
void walk_stack(bool (*frame)(void* user, std::uintptr_t address), void* user) noexcept;

/// Control bits of the floating-point unit (rounding, flush-to-zero): read from the creator of
/// a scheduler, applied to its threads so that results do not depend on who runs a task.
std::uint64_t float_control() noexcept;
void set_float_control(std::uint64_t bits) noexcept;

// ---- memory -------------------------------------------------------------------------------

/// So many bytes, rounded up to whole pages and filled with 0. Who touches the page before them or
/// the one behind them ends the process. Null: the system refuses.
void* map_guarded(std::size_t bytes) noexcept;
void unmap_guarded(void* memory, std::size_t bytes) noexcept;

std::size_t page_bytes() noexcept;
enum class access : std::uint8_t { none, read, all };
/// The pages from `memory`, where one begins, that have these bytes, are there for so much.
void protect(void* memory, std::size_t bytes, access how) noexcept;

struct access_fault {
    std::uintptr_t address = 0;
    bool writes = false;
    bool is_closed = false;  // there is a page, which grants less
};
/// Called by a thread that has touched what it may not, in its handler of signals. True: it tries
/// again. False: the process ends as it would have without.
using access_fn = bool (*)(const access_fault& what);
/// One for the process; a later one replaces it.
void watch_access(access_fn asked) noexcept;
/// To the standard error; may be called in a handler of signals.
void write_error(const char* text) noexcept;

// ---- machine ------------------------------------------------------------------------------

/// Cores that this process may use: the smaller of the affinity mask and the cgroup CPU quota
/// (rounded up), at least 1. `root` stands before /proc and /sys; "" is the real system.
unsigned usable_cores(const char* root = "") noexcept;

/// The affinity mask alone, at least 1.
unsigned mask_cores() noexcept;

/// The quota alone, in cores rounded up; 0: no limit. Reads cgroup v2 and v1.
unsigned quota_cores(const char* root) noexcept;

std::uint32_t process_id() noexcept;

/// Another number in a child of fork() than in its parent. From the second call on it costs three
/// loads.
std::uint32_t fork_mark() noexcept;

/// Copies that variable of the environment and takes it out, so that programs which this one starts
/// do not see it. False: it is not there, empty, or longer than the room. Before there are threads.
bool take_environment(const char* name, char* to, std::size_t room) noexcept;
/// Calling thread's name, cut to the room; "" when unknown.
void thread_name(char* to, std::size_t room) noexcept;
/// ns since 1970.
std::int64_t calendar_ns() noexcept;

// ---- other programs -------------------------------------------------------------------------

/// Runs a program that is found in PATH, with `input` on its standard input, and waits for it.
/// Returns its exit status; -1 when it could not be started or was killed. `said`: the first line
/// of its standard error. `arguments` ends with a null pointer.
int run_program(const char* const* arguments, const char* input, std::size_t size, char* said,
                std::size_t room) noexcept;

}  // namespace braid::platform
