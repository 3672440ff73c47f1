#pragma once
// A frame is what a thread shows to other threads about one task on its stack: which task it is,
// and what the task waits for.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// One thread writes the frame, and other threads read it at any time; see look_at_stack(). A
/// thread that reads a task sees that the waits before that task have ended. A thread that reads
/// what is awaited sees that this wait has begun.
template <class Policy>
class basic_shown_frame {
public:
    // ---- by the frame's thread
    void show(std::uint64_t task) {
        // release: pairs with task(). The waits of the previous task have ended.
        task_.store(task, release);
    }
    /// Notes that another task lies on top of this one from now on.
    void cover() {
        // release: as in begin_wait().
        wait_.store(wait_.load(relaxed) + one_cover, release);
    }
    /// `limited` says that the wait may run out of time. `several` says that `awaited` is one of
    /// several tasks.
    void begin_wait(std::uint64_t awaited, bool limited, bool several) {
        const std::uint64_t next = (wait_.load(relaxed) & ~facts) + one;
        // release, both: pair with wait() and awaited(). A thread that sees the wait sees the task,
        // and a thread that sees what is awaited sees the wait.
        wait_.store(next | (limited ? limited_bit : 0) | (several ? several_bit : 0), release);
        awaited_.store(awaited, release);
    }
    void end_wait() { awaited_.store(0, relaxed); }

    // ---- by any thread; each load is acquire, see above
    /// Returns another number after each begin_wait() and cover().
    std::uint64_t wait() const { return wait_.load(acquire); }
    /// Returns true if both numbers are of one begin_wait(), also if other tasks have begun on top
    /// of this one since.
    static bool is_same(std::uint64_t a, std::uint64_t b) {
        return static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(b);
    }
    static bool is_limited(std::uint64_t wait) { return (wait & limited_bit) != 0; }
    static bool is_for_several(std::uint64_t wait) { return (wait & several_bit) != 0; }
    std::uint64_t task() const { return task_.load(acquire); }
    /// Returns 0 if the task waits for no task.
    std::uint64_t awaited() const { return awaited_.load(acquire); }

private:
    // Two bits say what the wait is like, 30 bits count waits, and the upper 32 bits count covers.
    // A carry out of the lower 32 bits only ends a look that could have gone on.
    static constexpr std::uint64_t limited_bit = 1, several_bit = 2, facts = 3, one = 4,
                                   one_cover = std::uint64_t{1} << 32;

    typename Policy::template atomic<std::uint64_t> task_{0}, awaited_{0}, wait_{0};
};

/// Looks for tasks on a thread's stack for which `is_member(task)` returns true, and calls
/// `found(depth, wait, awaited)` for what the outermost of them, and each task on top of it, waits
/// for. `depth` counts from 1, and `wait` is what wait() returned. If `all` is true, each task of
/// the stack counts.
///
/// The thread may go on with other tasks meanwhile, so the look might see one task together with
/// what another task waits for. A frame's task waits for what the frame shows if no wait of that
/// frame has begun since before the task was read. A task above the member's frame lies on top of
/// the member if, besides, no other task has begun directly on top of the member. Otherwise the
/// look ends there. A wait that the look misses has begun meanwhile, and its thread looks itself
/// before it sleeps. A wait that stands still is found.
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
