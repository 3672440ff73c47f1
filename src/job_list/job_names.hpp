#pragma once
// Which functions are jobs, and their names. Read without a lock by threads that add jobs.

#include "braid/core/code_holders.hpp"
#include "braid/job_list/job_list_manager.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Open addressing.
class job_names {
public:
    static constexpr std::size_t slots = 2 * std::size_t{job_list_manager::max_functions};

    /// By one thread at a time. False: it is full. The first name stays.
    bool add(job_function function, const char* name) {
        const std::size_t at = find(function);
        if (entries_[at].function.load(relaxed) == function) return true;
        if (count_ == job_list_manager::max_functions) return false;
        ++count_;
        entries_[at].name = name;
        // release: pairs with the acquire in find(); a thread that sees the function sees its name.
        entries_[at].function.store(function, release);
        return true;
    }
    /// Null: not registered.
    const char* name_of(job_function function) const {
        const entry& e = entries_[find(function)];
        return function != nullptr && e.function.load(relaxed) == function ? e.name : nullptr;
    }
    /// Where the function is, or would be.
    std::size_t find(job_function function) const {
        const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(function));
        // Multiplicative hashing (Knuth): the upper bits depend on all of the address.
        std::size_t at = (bits * 0x9e37'79b9'7f4a'7c15U) >> 55;
        static_assert(slots == std::size_t{1} << (64 - 55));
        while (true) {
            const job_function there = entries_[at].function.load(acquire);
            if (there == function || there == nullptr) return at;
            at = (at + 1) % slots;
        }
    }
    /// While nobody adds or looks.
    void forget(const code_range& code) {
        const auto gone = [&](const entry& e) {
            return code.has(reinterpret_cast<const void*>(e.function.load(relaxed)));
        };
        if (std::none_of(std::begin(entries_), std::end(entries_), gone)) return;
        struct kept {
            job_function function;
            const char* name;
        } all[job_list_manager::max_functions];
        std::size_t count = 0;
        for (entry& e : entries_) {
            const job_function function = e.function.load(relaxed);
            if (function != nullptr && !gone(e)) all[count++] = {function, e.name};
            e.function.store(nullptr, relaxed);
        }
        count_ = 0;
        for (std::size_t i = 0; i < count; ++i) add(all[i].function, all[i].name);
    }
    const char* name_at(std::size_t at) const { return entries_[at].name; }

private:
    struct entry {
        atomic<job_function> function{nullptr};
        const char* name = nullptr;
    };
    entry entries_[slots];
    std::size_t count_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
