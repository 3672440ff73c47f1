#pragma once
// Clamps the numbers in the public options to their ranges; no other file does this. The public
// headers state the ranges. A number out of range counts as the nearest number in the range, and a
// warning is logged.

#include "braid/core/scheduler_options.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Clamps the numbers of one options struct. `options` is the struct's name in the warnings.
class limiter {
public:
    /// `scheduler` contains the log handler and must outlive this object.
    limiter(const scheduler_options& scheduler, const char* options)
        : scheduler_(scheduler), options_(options) {}

    template <std::integral Number>
    void clamp(Number& value, Number least, Number most, const char* name) const {
        const Number inside = value < least ? least : value > most ? most : value;
        if (inside == value) return;
        if constexpr (std::signed_integral<Number>) {
            report(name, std::int64_t{value}, std::int64_t{inside});
        } else {
            report(name, std::uint64_t{value}, std::uint64_t{inside});
        }
        value = inside;
    }
    /// Clamps a thread's numbers to the ranges in thread_options.
    void clamp_thread(int& nice, std::size_t& stack_bytes) const;

private:
    void report(const char* name, std::int64_t was, std::int64_t is) const;
    void report(const char* name, std::uint64_t was, std::uint64_t is) const;
    void report_text(const char* name, const char* was, const char* is) const;

    const scheduler_options& scheduler_;
    const char* options_;
};

scheduler_options within_limits(scheduler_options o);

}  // namespace detail
BRAID_NAMESPACE_END
