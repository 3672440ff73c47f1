#pragma once
// join(f, g): both run, perhaps at the same time; returns when both have. Costs about as much as
// the two calls when no other thread takes the second one.
//
//   long fib(braid::fork_context c, int n) {
//       if (n < 2) return n;
//       auto [a, b] = braid::join(c, [n](braid::fork_context c) { return fib(c, n - 1); },
//                                    [n](braid::fork_context c) { return fib(c, n - 2); });
//       return a + b;
//   }

#include "braid/core/closure.hpp"
#include "braid/core/fork_stack.hpp"

#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

BRAID_NAMESPACE_BEGIN

/// What a part of a join, or a body of an algorithm, may be: it takes a fork_context or nothing.
template <class F>
concept fork_callable =
    std::is_invocable_v<std::decay_t<F>&, fork_context> || std::is_invocable_v<std::decay_t<F>&>;

namespace detail {

template <class F>
[[gnu::always_inline]] inline decltype(auto) call_part(F& f, fork_context c) {
    if constexpr (std::is_invocable_v<F&, fork_context>) {
        return f(c);
    } else {
        return f();
    }
}
template <class F>
using part_result =
    std::decay_t<decltype(call_part(std::declval<F&>(), std::declval<fork_context>()))>;

/// A part's result as a value: void becomes monostate.
template <class F>
[[gnu::always_inline]] inline auto value_of_part(F& f, fork_context c) {
    if constexpr (std::is_void_v<part_result<F>>) {
        call_part(f, c);
        return std::monostate{};
    } else {
        return part_result<F>(call_part(f, c));
    }
}
template <class F>
using part_value =
    std::conditional_t<std::is_void_v<part_result<F>>, std::monostate, part_result<F>>;

template <class T>
inline constexpr bool fits_payload =
    sizeof(T) <= fork_slot::payload_bytes && alignof(T) <= alignof(std::max_align_t) / 2;

/// How the second part lies in its slot, and its result after it. By value if that is all: no
/// address of the caller's frame leaves it, and the compiler keeps everything in registers.
template <class G, bool ByValue = std::is_trivially_copyable_v<G> && fits_payload<G> &&
                                  fits_payload<part_value<G>>>
class second_part {
public:
    using value = part_value<G>;
    static_assert(sizeof(std::exception_ptr) <= fork_slot::payload_bytes);

    [[gnu::always_inline]] void put(fork_slot& slot, G& g) {
        slot.run = &run;
        ::new (static_cast<void*>(slot.payload)) G(g);
    }
    /// After run(): its value, or throws.
    [[gnu::noinline, gnu::cold]] static value take(fork_slot& slot) {
        const bool threw = (slot.state.load(relaxed) & fork_slot::failed) != 0;
        if (threw) std::rethrow_exception(error(slot));
        value* result = std::launder(reinterpret_cast<value*>(slot.payload));
        value moved = std::move(*result);
        result->~value();
        return moved;
    }
    /// Null: it did not throw, and its value is gone.
    static std::exception_ptr discard(fork_slot& slot) {
        if ((slot.state.load(relaxed) & fork_slot::failed) != 0) return error(slot);
        std::launder(reinterpret_cast<value*>(slot.payload))->~value();
        return {};
    }

private:
    static std::exception_ptr error(fork_slot& slot) {
        auto* stored = std::launder(reinterpret_cast<std::exception_ptr*>(slot.payload));
        std::exception_ptr moved = std::move(*stored);
        stored->~exception_ptr();
        return moved;
    }
    static bool run(fork_slot& slot, fork_context c) {
        G g = *std::launder(reinterpret_cast<G*>(slot.payload));
        void* const out = slot.payload;
#if BRAID_HAS_EXCEPTIONS
        try {
            ::new (out) value(value_of_part(g, c));
        } catch (...) {
            ::new (out) std::exception_ptr(std::current_exception());
            return true;
        }
#else
        ::new (out) value(value_of_part(g, c));
#endif
        return false;
    }
};

/// A part, or a result, that is large or not trivial stays in the frame of the join.
template <class G>
class second_part<G, false> {
public:
    using value = part_value<G>;

    second_part() {}
    ~second_part() {}
    second_part(const second_part&) = delete;
    second_part& operator=(const second_part&) = delete;
    void put(fork_slot& slot, G& g) {
        slot.run = &run;
        g_ = &g;
        second_part* const self = this;
        std::memcpy(slot.payload, &self, sizeof self);
    }
    value take(fork_slot&) {
        if (error_) std::rethrow_exception(std::move(error_));
        const end_of_value end{value_};
        return std::move(value_);
    }
    std::exception_ptr discard(fork_slot&) {
        if (!error_) value_.~value();
        return std::move(error_);
    }

private:
    struct end_of_value {
        value& v;
        ~end_of_value() { v.~value(); }
    };
    static bool run(fork_slot& slot, fork_context c) {
        second_part* self = nullptr;
        std::memcpy(&self, slot.payload, sizeof self);
#if BRAID_HAS_EXCEPTIONS
        try {
            ::new (static_cast<void*>(&self->value_)) value(value_of_part(*self->g_, c));
        } catch (...) {
            self->error_ = std::current_exception();
            return true;
        }
#else
        ::new (static_cast<void*>(&self->value_)) value(value_of_part(*self->g_, c));
#endif
        return false;
    }

    G* g_ = nullptr;
    std::exception_ptr error_;
    union {
        value value_;
    };
};

/// Takes the second part back, or waits for its thief. True: it is still to run.
[[gnu::always_inline]] inline bool pop(fork_stack& stack, fork_slot* slot) {
    stack.top = slot;
    return slot >= stack.pop_limit || fork_popped(stack, slot);
}

template <class F, class G>
[[gnu::always_inline]] inline auto join_two(fork_context c, F& f, G& g) {
    fork_slot* const slot = fork_access::top(c);
    fork_stack& stack = *slot->stack;
    second_part<G> second;
    using values = std::pair<part_value<F>, part_value<G>>;
    second.put(*slot, g);
    fork_slot* next = slot + 1;
    if (slot >= stack.push_limit.load(relaxed)) [[unlikely]]
        next = fork_pushed(stack, slot, 1);
    stack.top = next;
#if BRAID_HAS_EXCEPTIONS
    struct on_throw {
        fork_stack& stack;
        fork_slot* slot;
        second_part<G>& second;
        [[gnu::noinline, gnu::cold]] void end() {
            if (pop(stack, slot)) return;
            if (std::exception_ptr lost = second.discard(*slot)) fork_lost(stack, std::move(lost));
        }
    };
    part_value<F> first = [&]() -> part_value<F> {
        try {
            return value_of_part(f, fork_access::at(next));
        } catch (...) {
            on_throw{stack, slot, second}.end();
            throw;
        }
    }();
#else
    part_value<F> first = value_of_part(f, fork_access::at(next));
#endif
    if (pop(stack, slot)) [[likely]] {
        return values(std::move(first), value_of_part(g, fork_access::at(slot)));
    }
    return values(std::move(first), second.take(*slot));
}

/// More than two: the second parts lie in a row, the rightmost lowest, so that the owner comes back
/// to them from the left and thieves take them from the right.
template <class F, class... Parts>
class row_of_parts {
public:
    using values = std::tuple<part_value<F>, part_value<Parts>...>;

    [[gnu::always_inline]] static values run(fork_context c, F& f, Parts&... parts) {
        row_of_parts row(fork_access::top(c));
        std::tuple<Parts&...> all(parts...);
#if BRAID_HAS_EXCEPTIONS
        try {
            return row.run_all(f, all);
        } catch (...) {
            row.abandon(std::make_index_sequence<count>());
            throw;
        }
#else
        return row.run_all(f, all);
#endif
    }

private:
    static constexpr std::size_t count = sizeof...(Parts);
    static_assert(count <= fork_stack::spare, "join at most 17 parts; nest joins for more");

    explicit row_of_parts(fork_slot* base) : stack_(*base->stack), base_(base), left_(base) {}

    template <std::size_t K>
    fork_slot* slot() const {
        return base_ + (count - 1 - K);
    }

    [[gnu::always_inline]] values run_all(F& f, std::tuple<Parts&...>& parts) {
        put(parts, std::make_index_sequence<count>());
        fork_slot* next = base_ + count;
        if (next > stack_.push_limit.load(relaxed)) [[unlikely]] {
            next = fork_pushed(stack_, base_, count);
        }
        stack_.top = next;
        left_ = base_ + count;
        part_value<F> first = value_of_part(f, fork_access::at(next));
        return std::tuple_cat(std::tuple<part_value<F>>(std::move(first)), rest<0>(parts));
    }
    template <std::size_t... K>
    [[gnu::always_inline]] void put(std::tuple<Parts&...>& parts, std::index_sequence<K...>) {
        (std::get<K>(seconds_).put(*slot<K>(), std::get<K>(parts)), ...);
    }
    /// The values of the parts from K on.
    template <std::size_t K>
    [[gnu::always_inline]] auto rest(std::tuple<Parts&...>& parts) {
        if constexpr (K == count) {
            return std::tuple<>();
        } else {
            fork_slot* const here = slot<K>();
            left_ = here;
            auto value = pop(stack_, here)
                             ? value_of_part(std::get<K>(parts), fork_access::at(here))
                             : std::get<K>(seconds_).take(*here);
            return std::tuple_cat(std::tuple<decltype(value)>(std::move(value)),
                                  rest<K + 1>(parts));
        }
    }
    template <std::size_t... K>
    [[gnu::noinline, gnu::cold]] void abandon(std::index_sequence<K...>) {
        const auto one = [this]<std::size_t I>(std::integral_constant<std::size_t, I>) {
            fork_slot* const here = slot<I>();
            if (here >= left_ || pop(stack_, here)) return;
            std::exception_ptr lost = std::get<I>(seconds_).discard(*here);
            if (lost) fork_lost(stack_, std::move(lost));
        };
        (one(std::integral_constant<std::size_t, K>()), ...);
    }

    fork_stack& stack_;
    fork_slot* const base_;
    fork_slot* left_;  // below it parts have still to be come back to
    std::tuple<second_part<Parts>...> seconds_;
};

template <class F, class G>
[[gnu::always_inline]] inline auto join_all(fork_context c, F& f, G& g) {
    return join_two(c, f, g);
}
template <class F, class... Parts>
[[gnu::always_inline]] inline auto join_all(fork_context c, F& f, Parts&... parts) {
    return row_of_parts<F, Parts...>::run(c, f, parts...);
}

}  // namespace detail

/// Runs the parts, all but the first perhaps on other threads, and returns when all have ended:
/// nothing if none returns anything, else their values (std::monostate for none), as a pair or a
/// tuple. Threads that are free take the oldest joins first. If parts throw, the leftmost exception
/// is rethrown after the others have ended or, where nobody had begun them, will not run; what
/// others threw goes to the handler for exceptions that nobody waits for.
/// `c`: the context that the calling part or task was given. A part may be any callable; one that
/// is trivially copyable and at most 40 bytes, with such a result, is the fastest.
/// Cost, when nobody steals: about 2 ns; an outermost join about 15 ns. Nested deeper than
/// 1,024 on one thread, the parts run one after the other. Allocates nothing.
template <fork_callable F, fork_callable... Parts>
    requires(sizeof...(Parts) != 0)
[[gnu::always_inline]] inline auto join(fork_context c, F&& f, Parts&&... parts) {
    if constexpr (std::is_void_v<detail::part_result<F>> &&
                  (std::is_void_v<detail::part_result<Parts>> && ...)) {
        detail::join_all(c, f, parts...);
    } else {
        return detail::join_all(c, f, parts...);
    }
}

/// The same in any task, without its context: looks the thread up first, about 2 ns. Outside tasks
/// there is no scheduler to ask: that is reported, and the parts run one after the other.
template <fork_callable F, fork_callable... Parts>
    requires(sizeof...(Parts) != 0)
auto join(F&& f, Parts&&... parts) {
    return join(fork_context::current(), std::forward<F>(f), std::forward<Parts>(parts)...);
}

/// On any thread: the calling thread enters the scheduler, under a task of that name, for as long
/// as `body` runs. Inside a task of the same scheduler it is just a call. Returns what `body`
/// returns, and throws what it throws.
template <fork_callable F>
auto fork_join(scheduler& s, const char* name, F&& body) {
    struct call {
        F& body;
        std::optional<detail::part_value<F>> result;
    } both{body, {}};
    detail::enter_fork_join(
        s, name,
        [](void* p, fork_context c) {
            auto& own = *static_cast<call*>(p);
            own.result.emplace(detail::value_of_part(own.body, c));
        },
        &both);
    if constexpr (!std::is_void_v<detail::part_result<F>>) return std::move(*both.result);
}

BRAID_NAMESPACE_END
