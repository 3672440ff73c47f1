#pragma once
// The store of a unit where a kernel finds what it names and nothing else. Each operand ends where
// a page begins that nobody may touch. While a job runs, its transfers included, buffers cannot be
// touched at the program's addresses either: their pages are there a second time, where transfers
// reach them. Who touches what is closed ends the process with a sentence.

#include "base/accounted_array.hpp"
#include "base/platform/platform.hpp"
#include "braid/base/policy.hpp"
#include "device/record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

class strict_store {
public:
    explicit strict_store(braid::detail::accounted_memory& memory)
        : memory_(memory), shown_(memory) {}
    ~strict_store();
    strict_store(const strict_store&) = delete;
    strict_store& operator=(const strict_store&) = delete;

    /// For operands of so many bytes in all. False: the system refuses, or the process has another
    /// one, since a fault does not say whose it is.
    bool open(std::size_t bytes);

    // ---- the unit's thread; buffers may come and go meanwhile
    /// Between these two is a job: the only one. With the lock that guards buffers, which those
    /// of the step outlive.
    void begin_job(const step& s);
    void end_job();
    /// Copies what the step names into the store, and what it has written back. With the memory
    /// held open.
    void bring_in();
    void bring_out() const;
    const launch& operands() const { return local_; }
    /// Between these two the thread runs its kernel.
    void begin();
    /// Writes before an operand show only now, as they stay within its first page. False: there was
    /// one, which `why` says.
    bool end(std::span<char> why);

    // ---- buffers, with that lock
    /// Filled with 0. Null: there is none.
    void* allocate(std::size_t bytes, const char* name);
    void free(void* memory);

private:
    struct block {
        block* next = nullptr;
        std::byte *memory = nullptr, *twin = nullptr;  // the program's, and that of transfers
        std::size_t bytes = 0;
        const char* name = "";
    };
    /// Where an operand lies: [pages, guard), at the end; and where it comes from.
    struct place {
        std::byte *pages = nullptr, *begin = nullptr, *guard = nullptr;
        std::span<std::byte> outside;
    };

    std::span<std::byte> for_transfers(std::span<std::byte> operand) const;

    static bool on_fault(const platform::access_fault& fault);
    void explain(std::uintptr_t address, bool writes) const;
    bool explain_operand(std::uintptr_t address, const char* verb) const;
    bool explain_buffer(std::uintptr_t address, const char* verb) const;

    braid::detail::accounted_memory& memory_;
    std::byte* region_ = nullptr;
    std::size_t region_bytes_ = 0;
    launch local_;
    place places_[launch::most_operands];
    const step* running_ = nullptr;
    // Odd while a job runs. seq_cst: counted before buffers are closed and after they are opened,
    // and asked by a thread that has met a closed one.
    atomic<std::uint64_t> kernels_{0};
    block* blocks_ = nullptr;
    // What the thread that runs the kernel may read when it faults.
    braid::detail::accounted_array<block, memory_tag::device> shown_;
};

}  // namespace device::detail
BRAID_NAMESPACE_END
