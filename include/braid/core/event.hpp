#pragma once

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

class scheduler;
namespace detail {
class runtime;
}

enum class reset : std::uint8_t {
    automatic,  // each set() lets one waiter through
    manual,     // set() lets everybody through until clear()
};

/// Something that happened, set from any thread, tasks and foreign threads alike. Waited for with
/// scheduler::work_until(event) so that the waiter's core stays busy. May be destroyed as soon as
/// a waiter has returned, also while the set() that released it is still returning.
class event {
public:
    BRAID_API explicit event(scheduler& s, reset mode = reset::automatic);
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    BRAID_API void set();
    BRAID_API void clear();
    bool is_set() const { return (state_.load(acquire) & set_bit) != 0; }

private:
    friend class detail::runtime;
    /// True when the event was set; an automatic one is consumed.
    bool try_take();
    /// As try_take(); otherwise leaves word that somebody waits.
    bool take_or_mark();

    static constexpr std::uint32_t set_bit = 1, waited_bit = 2;
    detail::runtime& rt_;
    reset mode_;
    atomic<std::uint32_t> state_{0};
};

BRAID_NAMESPACE_END
