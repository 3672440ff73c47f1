#pragma once
// An idempotent node may be run again by a second thread if the first thread was switched out (a
// straggler). The attempt that finishes first publishes its result and releases the successors of
// the node. The run is complete only when the other attempt has returned as well. So the data that
// both attempts read stays valid until both attempts have returned.
//
//   state   idle ── first attempt ──> one ─────── finish(first) ──────> first won
//                                      │ second attempt
//                                      └──> two ── finish(either) ──> that attempt won; the other
//                                                                     attempt will be the last

#include "braid/base/policy.hpp"
#include "braid/core/closure.hpp"
#include "braid/core/task_context.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class attempt : std::uint32_t { first = 4, second = 8 };  // bits of the state

class attempts {
public:
    /// Called by the thread of the first attempt, before it runs the node.
    BRAID_API void begin();
    /// Records that a second attempt starts. Called by a thread that has found that the first
    /// attempt stands still. Returns false if the first attempt has finished, or if two attempts
    /// are already running.
    bool begin_second() {
        std::uint32_t seen = one;
        // relaxed: the acquire in stands_still() pairs with the release in begin(), so that this
        // thread sees all data that the first thread saw when it started the node.
        return state_.compare_exchange_strong(seen, two, relaxed, relaxed);
    }
    /// Withdraws the second attempt. Must be called if the second attempt cannot run after all.
    void take_second_back() {
        std::uint32_t seen = two;
        state_.compare_exchange_strong(seen, one, relaxed, relaxed);
    }
    /// Called by an attempt whose computation has ended. Returns true if this attempt is the first
    /// one that finishes. The caller must then publish its result, or fail the node if the
    /// computation threw.
    bool finish(attempt who) {
        // relaxed: this word does not publish the result. The end of the node makes the result
        // visible.
        std::uint32_t seen = state_.load(relaxed);
        while ((seen & won) == 0) {
            const std::uint32_t wanted = seen | static_cast<std::uint32_t>(who);
            if (state_.compare_exchange_weak(seen, wanted, relaxed, relaxed)) return true;
        }
        return false;
    }
    bool was_won_by(attempt who) const {
        return (state_.load(relaxed) & static_cast<std::uint32_t>(who)) != 0;
    }

    /// Checks whether the first attempt stands still. Returns true if only the first attempt is
    /// running, and if the processor time of its thread since the last check is less than 1/16 of
    /// the elapsed time. Returns false if this is the first check of the attempt, or if less than
    /// `enough` ns have passed between the last check and `now` (ns). Only one thread at a time may
    /// call stands_still().
    BRAID_API bool stands_still(std::int64_t now, std::int64_t enough);

private:
    static constexpr std::uint32_t idle = 0, one = 1, two = 2, won = 4 | 8;

    atomic<std::uint32_t> state_{idle};
    atomic<int> clock_{0};           // clock for the processor time of the first attempt's thread
    atomic<std::int64_t> began_{0};  // ns, start of the first attempt
    // Only the thread that calls stands_still() uses these members.
    std::int64_t looked_at_ = 0, began_then_ = 0, ran_then_ = 0;
};

/// The callable of an idempotent node, and the state of its attempts.
template <class Compute, class Publish>
struct idempotent_body {
    template <class C, class P>
    idempotent_body(C&& c, P&& p) : compute(std::forward<C>(c)), publish(std::forward<P>(p)) {}

    Compute compute;
    Publish publish;
    attempts tries;

    static void call(void* storage, task_context* context) {
        if (context == nullptr) return stored<idempotent_body>::destroy(storage);
        // The second attempt is a task without an id.
        const attempt who = context->id() ? attempt::first : attempt::second;
        idempotent_body& self = stored<idempotent_body>::get(storage);
        if (who == attempt::first) self.tries.begin();
#if BRAID_HAS_EXCEPTIONS
        try {
            self.run(who);
        } catch (...) {
            if (self.tries.finish(who) || self.tries.was_won_by(who)) {
                fail_task(*context, std::current_exception());
            }
        }
#else
        self.run(who);
#endif
    }

private:
    void run(attempt who) {
        if constexpr (std::is_void_v<std::invoke_result_t<const Compute&>>) {
            std::as_const(compute)();
            if (tries.finish(who)) publish();
        } else {
            auto result = std::as_const(compute)();
            if (tries.finish(who)) publish(std::move(result));
        }
    }
};

template <class Compute, class Publish>
concept computed_and_published =
    std::is_invocable_v<const Compute&> &&
    (std::is_void_v<std::invoke_result_t<const Compute&>>
         ? std::is_invocable_v<Publish&>
         : std::is_invocable_v<Publish&, std::decay_t<std::invoke_result_t<const Compute&>>>);

}  // namespace detail
BRAID_NAMESPACE_END
