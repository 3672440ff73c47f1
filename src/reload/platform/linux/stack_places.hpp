#pragma once
// Where a thread stood when a signal came, and what is on its stack; from the signal's handler.

#include <cstddef>
#include <cstdint>
#include <span>

#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

class stack_places {
public:
    /// `context`: that of the handler.
    explicit stack_places(const void* context);
    /// By unwind tables; may fault once more where the stack is not what they say.
    void add_callers();
    std::span<const std::uintptr_t> all() const { return {all_, count_}; }
    /// Where the thread stood, and what called that, if it has just arrived there; 0: unknown.
    std::uintptr_t at() const { return at_; }
    std::uintptr_t from() const { return from_; }

private:
    void add(std::uintptr_t place) {
        if (count_ < most) all_[count_++] = place;
    }

    static constexpr std::size_t most = 64;
    std::uintptr_t all_[most];
    std::size_t count_ = 0;
    std::uintptr_t at_ = 0, from_ = 0;
};

}  // namespace reload::platform
BRAID_NAMESPACE_END
