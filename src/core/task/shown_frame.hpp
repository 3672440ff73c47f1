#pragma once
// A frame shows other threads one task on the stack of its thread: which task it is, and what the
// task waits for.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// One thread writes the frame, and other threads may read it at any time; see look_at_stack(). A
/// reader that sees a task also sees that the waits of the frame's earlier tasks have ended. A
/// reader that sees an awaited task also sees that the wait for it has begun.
template <class Policy>
class basic_shown_frame {
public:
    // ---- by the frame's thread
    void show(std::uint64_t task) {
        // release: pairs with task(). The waits of the previous task have ended by now.
        task_.store(task, release);
    }
    /// Called when another task begins on top of this one on the same stack.
    void cover() {
        // release: as in begin_wait().
        wait_.store(wait_.load(relaxed) + one_cover, release);
    }
    /// `limited` says that the wait has a time limit. `several` says that the wait is for several
    /// tasks, of which `awaited` is one.
    void begin_wait(std::uint64_t awaited, bool limited, bool several) {
        const std::uint64_t next = (wait_.load(relaxed) & ~facts) + one;
        // release, both: pair with wait() and awaited(). A reader that sees the wait also sees the
        // task, and a reader that sees the awaited task also sees the wait.
        wait_.store(next | (limited ? limited_bit : 0) | (several ? several_bit : 0), release);
        awaited_.store(awaited, release);
    }
    void end_wait() { awaited_.store(0, relaxed); }

    // ---- by any thread; each load is acquire, see above
    /// Returns a number that changes with each begin_wait() and each cover().
    std::uint64_t wait() const { return wait_.load(acquire); }
    /// Returns true if both numbers come from the same begin_wait(). Other tasks may have begun on
    /// top of this one in between.
    static bool is_same(std::uint64_t a, std::uint64_t b) {
        return static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(b);
    }
    static bool is_limited(std::uint64_t wait) { return (wait & limited_bit) != 0; }
    static bool is_for_several(std::uint64_t wait) { return (wait & several_bit) != 0; }
    std::uint64_t task() const { return task_.load(acquire); }
    /// Returns 0 if the task waits for no task.
    std::uint64_t awaited() const { return awaited_.load(acquire); }

private:
    // In wait_, two bits describe the wait, 30 bits count waits, and the upper 32 bits count
    // covers. A carry out of the lower 32 bits only makes a scan end too early.
    static constexpr std::uint64_t limited_bit = 1, several_bit = 2, facts = 3, one = 4,
                                   one_cover = std::uint64_t{1} << 32;

    typename Policy::template atomic<std::uint64_t> task_{0}, awaited_{0}, wait_{0};
};

/// Scans a thread's stack from the outermost task inward. The first task for which
/// `is_member(task)` returns true is the member. Calls `found(depth, wait, awaited)` for the member
/// and for each task on top of it, if that task waits for something. `depth` counts from 1, and
/// `wait` is what wait() returned. If `all` is true, the scan covers each task of the stack
/// instead.
///
/// The thread may run other tasks during the scan, so the scan could mistake another task's wait
/// for the wait of the task that it has read. It therefore checks what it reads:
/// An awaited task belongs to the frame's task if no new wait of that frame has begun since before
/// the task was read.
/// A task in a later frame is still on top of the member if, besides, no other task has begun
/// directly on top of the member.
/// If a check fails, the scan ends. The wait that it misses has only just begun, and the waiting
/// thread does a scan of its own before it sleeps. A wait that does not change is always found.
template <class Frame, class IsMember, class Found>
void look_at_stack(const Frame* frames, unsigned count, bool all, IsMember&& is_member,
                   Found&& found) {
    const Frame* member = nullptr;
    std::uint64_t wait_of_member = 0;
    for (unsigned i = 0; i < count; ++i) {
        const Frame& frame = frames[i];
        const std::uint64_t wait = frame.wait();
        if (!all && member == nullptr && is_member(frame.task())) {
            member = &frame;
            wait_of_member = wait;
        }
        if (!all && member == nullptr) continue;
        const std::uint64_t awaited = frame.awaited();
        if (!Frame::is_same(frame.wait(), wait)) return;
        const bool is_above = member != nullptr && member != &frame;
        if (is_above && member->wait() != wait_of_member) return;
        if (awaited != 0) found(i + 1, wait, awaited);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
