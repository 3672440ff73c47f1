#pragma once
// Records the source line at which each task was made. The lines are stored apart from the slots,
// and only with deadlock_options::lines.

#include "base/accounted_memory.hpp"
#include "braid/base/mutex.hpp"

#include <bit>
#include <cstdint>
#include <new>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct source_line {
    const char* file = nullptr;  // name without folders, or null if the line is not known
    std::uint32_t line = 0;
};

/// Holds a source line for each slot. Segment k serves 256 << k slots, as in index_pool. If there
/// is no memory for a segment, the lines of its slots are not known, and nothing else fails.
class source_lines {
public:
    explicit source_lines(accounted_memory& memory) : memory_(memory) {}
    source_lines(const source_lines&) = delete;
    source_lines& operator=(const source_lines&) = delete;
    ~source_lines() {
        for (unsigned k = 0; k < segments; ++k) {
            noted* const lines = segment_[k].load(relaxed);
            if (lines != nullptr) memory_.release(lines, bytes(k), alignof(noted), tag);
        }
    }

    /// Records where the task was made. Called by the thread that makes the task, right after it
    /// has taken the slot.
    void note(std::uint32_t index, std::uint32_t generation, const std::source_location& where) {
        noted* const n = where.line() != 0 ? find(index, true) : nullptr;
        if (n == nullptr) return;
        n->file.store(without_folders(where.file_name()), relaxed);
        n->line.store(where.line(), relaxed);
        n->generation.store(generation, release);  // pairs with of()
    }

    /// Returns the task's line, or an empty one if it is not known. Any thread may call it. If the
    /// task ends meanwhile, the line may be that of the next task in the slot.
    source_line of(std::uint32_t index, std::uint32_t generation) {
        const noted* const n = find(index, false);
        // acquire: pairs with note().
        if (n == nullptr || n->generation.load(acquire) != generation) return {};
        return {n->file.load(relaxed), n->line.load(relaxed)};
    }

private:
    struct noted {
        atomic<const char*> file{nullptr};
        atomic<std::uint32_t> line{0};
        atomic<std::uint32_t> generation{0};  // generation of the task; no task has 0
    };
    static constexpr memory_tag tag = memory_tag::detail;
    static constexpr std::uint32_t first = 256;
    static constexpr unsigned first_bits = 9;  // bit_width(first)
    static constexpr unsigned segments = 24;

    static std::size_t length(unsigned k) { return std::size_t{first} << k; }
    static std::size_t bytes(unsigned k) { return length(k) * sizeof(noted); }
    static const char* without_folders(const char* path) {
        const char* name = path;
        for (; *path != '\0'; ++path) {
            if (*path == '/' || *path == '\\') name = path + 1;
        }
        return name;
    }

    noted* find(std::uint32_t index, bool may_allocate) {
        const auto k = static_cast<unsigned>(std::bit_width(index + first)) - first_bits;
        noted* lines = segment_[k].load(acquire);  // pairs with make()
        if (lines == nullptr && may_allocate) lines = make(k);
        return lines != nullptr ? lines + (index + first - (first << k)) : nullptr;
    }

    [[gnu::noinline]] noted* make(unsigned k) {
        const locked lock(mutex_);
        if (noted* const made = segment_[k].load(relaxed); made != nullptr) return made;
        auto* const lines =
            static_cast<noted*>(memory_.try_allocate(bytes(k), alignof(noted), tag));
        if (lines == nullptr) return nullptr;
        for (std::size_t i = 0; i != length(k); ++i) ::new (static_cast<void*>(lines + i)) noted;
        segment_[k].store(lines, release);
        return lines;
    }

    accounted_memory& memory_;
    mutex mutex_;  // held while a segment is made
    atomic<noted*> segment_[segments]{};
};

}  // namespace detail
BRAID_NAMESPACE_END
