#pragma once
// The moment at which nobody holds code that is to be replaced: no task, queue or graph points into
// it, and no stack has a frame of it.

#include "braid/core/safepoint.hpp"
#include "braid/profile/recorder.hpp"

#include <algorithm>
#include <optional>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// One that holds the code, as far as it fits; without pointers, so it may be said later.
struct holder {
    code_use use = code_use::task;
    char name[64] = {};
    char thread[32] = {};
    std::uintptr_t address = 0;
    std::size_t piece = 0;  // which of the codes
};

/// Code of one module, and what becomes of tasks that hold it and have not begun.
struct replaced_code {
    code_range range;
    bool cancels = false;
};

/// Allocates nothing, but where a recorder records. A capture has two scopes of this thread for
/// each try: until everything rests, and, while it does, the pause. By the thread of the frame
/// boundary.
class barrier {
public:
    static constexpr std::size_t most_named = 8;
    static constexpr std::size_t most_pieces = 64;  // that are told apart

    explicit barrier(scheduler& s) : scheduler_(s) {}

    /// True: nobody holds any of the code, and everything rests until go_on(). False, after
    /// `within` at most, or at once where what holds it does not end by itself.
    bool reach(std::span<const replaced_code> codes, nanoseconds within);
    /// The code is not used any more: what is known of it by address is forgotten.
    void forget(std::span<const replaced_code> codes) {
        for (const replaced_code& one : codes) rest_->forget(one.range);
    }
    void go_on() {
        pause_.reset();
        rest_.reset();
    }

    // ---- after reach() has said false
    /// "": something holds the code; else a thread, which did not come to rest.
    const char* awake() const { return awake_; }
    std::span<const holder> named() const { return {named_, std::min(count_, most_named)}; }
    /// How many hold that code.
    std::size_t count_of(std::size_t piece) const {
        return piece < most_pieces ? held_[piece] : count_;
    }

private:
    bool come_to_rest(nanoseconds within);
    void look(std::span<const replaced_code> codes);
    void note(const held_code& what);

    scheduler& scheduler_;
    std::optional<safepoint> rest_;
    std::optional<profile::scope> pause_;  // while that is reached
    const char* awake_ = "";
    holder named_[most_named];
    std::size_t held_[most_pieces] = {};
    std::size_t count_ = 0, piece_ = 0;
    bool stays_ = false;    // one of them does not end by itself
    bool cancels_ = false;  // those of this piece
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
