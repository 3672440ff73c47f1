#pragma once
// join(f, g) runs both callables, perhaps at the same time, and returns when both have ended. If no
// other thread takes `g`, a join costs about as much as the two calls.
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
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

BRAID_NAMESPACE_BEGIN

/// The parts of a join and the body of fork_join() must be callable with a fork_context or without
/// arguments.
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

/// Calls the part and returns its result by value. If the part returns void, value_of_part()
/// returns a std::monostate.
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

/// `copied_part` is true if a copy of the part can run in place of the part. Such a part is
/// trivially copyable and callable as const, so a call does not change it.
template <class F>
inline constexpr bool copied_part =
    std::is_trivially_copyable_v<F> &&
    (std::is_invocable_v<const F&, fork_context> || std::is_invocable_v<const F&>);

/// Stores a second part (any part but the first) in its slot. When the part has run, the slot holds
/// the result instead. This version stores the part and the result by value. No pointer to a
/// variable of the caller escapes, so the compiler can keep all variables in registers.
template <class G, bool ByValue = copied_part<G> && fits_payload<G> && fits_payload<part_value<G>>>
class second_part {
public:
    using value = part_value<G>;
    static_assert(sizeof(std::exception_ptr) <= fork_slot::payload_bytes);

    [[gnu::always_inline]] void put(fork_slot& slot, G& g) {
        slot.run = &run;
        ::new (static_cast<void*>(slot.payload)) G(g);
    }
    /// Returns the part. get() must not be called after the part has run, because the slot then
    /// holds the result.
    [[gnu::always_inline]] static G get(fork_slot& slot) {
        return *std::launder(reinterpret_cast<G*>(slot.payload));
    }
    /// Returns the value of the part, or rethrows the exception of the part. take() must be called
    /// only after run().
    [[gnu::noinline, gnu::cold]] static value take(fork_slot& slot) {
        const bool threw = (slot.state.load(relaxed) & fork_slot::failed) != 0;
        if (threw) std::rethrow_exception(error(slot));
        value* result = std::launder(reinterpret_cast<value*>(slot.payload));
        value moved = std::move(*result);
        result->~value();
        return moved;
    }
    /// Discards the result of the part. discard() may be called only after run(), in place of
    /// take(). If the part threw, returns the part's exception. Otherwise destroys the part's value
    /// and returns null.
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
        G g = get(slot);
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

template <class Value>
struct end_of_value {
    Value& v;
    ~end_of_value() { v.~Value(); }
};

/// This version is for a part that is large, not trivially copyable or not callable as const, and
/// for a part whose result is large. The part is not copied. This object is in the stack frame of
/// the join and holds the result. The slot holds a pointer to this object.
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
    static G& get(fork_slot& slot) { return *of(slot).g_; }
    static value take(fork_slot& slot) {
        second_part& self = of(slot);
        if (self.error_) std::rethrow_exception(std::move(self.error_));
        const end_of_value<value> end{self.value_};
        return std::move(self.value_);
    }
    static std::exception_ptr discard(fork_slot& slot) {
        second_part& self = of(slot);
        if (!self.error_) self.value_.~value();
        return std::move(self.error_);
    }

private:
    static second_part& of(fork_slot& slot) {
        second_part* self = nullptr;
        std::memcpy(&self, slot.payload, sizeof self);
        return *self;
    }
    static bool run(fork_slot& slot, fork_context c) {
        second_part& self = of(slot);
#if BRAID_HAS_EXCEPTIONS
        try {
            ::new (static_cast<void*>(&self.value_)) value(value_of_part(*self.g_, c));
        } catch (...) {
            self.error_ = std::current_exception();
            return true;
        }
#else
        ::new (static_cast<void*>(&self.value_)) value(value_of_part(*self.g_, c));
#endif
        return false;
    }

    G* g_ = nullptr;
    std::exception_ptr error_;
    union {
        value value_;
    };
};

template <class... Values>
struct values_of_join {
    using type = std::tuple<Values...>;
};
template <class A, class B>
struct values_of_join<A, B> {
    using type = std::pair<A, B>;
};

/// Runs the parts of one join. The second parts are stored in consecutive slots, with the rightmost
/// part in the lowest slot. So the owner runs the parts from left to right, and thieves steal them
/// from right to left.
template <class F, class... Parts>
class parts_of_join {
public:
    using values = typename values_of_join<part_value<F>, part_value<Parts>...>::type;

    [[gnu::always_inline]] static values run(fork_context c, F& f, Parts&... parts) {
        return put_and_run(fork_access::top(c), f, indices(), parts...);
    }

private:
    static constexpr std::size_t count = sizeof...(Parts);
    static_assert(count <= fork_stack::spare, "join at most 17 parts; nest joins for more");
    using indices = std::make_index_sequence<count>;
    template <std::size_t K>
    using part = second_part<std::tuple_element_t<K, std::tuple<Parts...>>>;
    using passed = std::conditional_t<copied_part<F> && sizeof(F) <= 2 * sizeof(void*), F, F&>;

    template <std::size_t K>
    static fork_slot& slot(fork_slot* base) {
        return base[count - 1 - K];
    }

    template <std::size_t... K>
    [[gnu::always_inline]] static values put_and_run(fork_slot* base, F& f,
                                                     std::index_sequence<K...>, Parts&... parts) {
        std::tuple<second_part<Parts>...> seconds;
        (std::get<K>(seconds).put(slot<K>(base), parts), ...);
        return run_all(base, f, indices());
    }

    // This function is not inlined, so the function that calls join() stays small, and the compiler
    // can inline it where its parts call it recursively. A call that ends the recursion then
    // executes only the first test of that function, and saves no registers.
    template <std::size_t... K>
    [[gnu::noinline]] static values run_all(fork_slot* base, passed f, std::index_sequence<K...>) {
        fork_stack& stack = *base->stack;
        if (&slot<0>(base) >= stack.push_limit.load(relaxed)) [[unlikely]] {
            if (!fork_pushed(stack, base, count)) return run_in_turn(base, f, indices());
        }
        stack.top = base + count;
        return values{run_first(base, f), run_second<K>(base)...};
    }

    [[gnu::always_inline]] static part_value<F> run_first(fork_slot* base, F& f) {
#if BRAID_HAS_EXCEPTIONS
        try {
            return value_of_part(f, fork_access::at(base + count));
        } catch (...) {
            abandon(base, 0, indices());
            throw;
        }
#else
        return value_of_part(f, fork_access::at(base + count));
#endif
    }
    template <std::size_t K>
    [[gnu::always_inline]] static auto run_second(fork_slot* base) {
#if BRAID_HAS_EXCEPTIONS
        if constexpr (K + 1 != count) {
            try {
                return come_back_to<K>(slot<K>(base));
            } catch (...) {
                abandon(base, K + 1, indices());
                throw;
            }
        }
#endif
        return come_back_to<K>(slot<K>(base));
    }
    template <std::size_t K>
    [[gnu::always_inline]] static typename part<K>::value come_back_to(fork_slot& here) {
        if (pop(here)) [[likely]] {
            auto&& g = part<K>::get(here);
            return value_of_part(g, fork_access::at(&here));
        }
        return take<K>(here);
    }
    template <std::size_t K>
    [[gnu::noinline, gnu::cold]] static typename part<K>::value take(fork_slot& here) {
        if (!is_unstolen(here)) return part<K>::take(here);
        fork_slot result;
        fork_run_unstolen(here, result);
        return part<K>::take(result);
    }
    static bool is_unstolen(const fork_slot& here) {
        return (here.state.load(relaxed) & fork_slot::unstolen) != 0;
    }
    /// Removes the part from the stack, or waits for the thief of the part. Returns true if the
    /// caller must run the part, and false if the caller must call take(). The stack pointer is
    /// read from the slot again, because the read costs less than saving a register across the
    /// calls.
    [[gnu::always_inline]] static bool pop(fork_slot& here) {
        fork_stack& stack = *here.stack;
        stack.top = &here;
        return &here >= stack.pop_limit || fork_popped(stack, &here);
    }
    /// Ends a join after a part has thrown. The second parts with index `first` or above do not
    /// run, unless a thief has started them. If a thief has run such a part, its value is
    /// destroyed, or its exception goes to the unobserved-exception handler.
    template <std::size_t... K>
    [[gnu::noinline, gnu::cold]] static void abandon(fork_slot* base, std::size_t first,
                                                     std::index_sequence<K...>) {
        const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
            fork_slot& here = slot<I>(base);
            if (I < first || pop(here)) return;
            if (is_unstolen(here)) return fork_drop_unstolen(here);
            if (std::exception_ptr lost = part<I>::discard(here)) {
                fork_lost(*here.stack, std::move(lost));
            }
        };
        (one(std::integral_constant<std::size_t, K>()), ...);
    }
    /// Runs the parts one after the other, because the stack has no room for them. Joins inside the
    /// parts use the same slots, so run_in_turn() first reads the parts from the slots.
    template <std::size_t... K>
    [[gnu::noinline, gnu::cold]] static values run_in_turn(fork_slot* base, passed f,
                                                           std::index_sequence<K...>) {
        std::tuple<decltype(part<K>::get(*base))...> rest{part<K>::get(slot<K>(base))...};
        const fork_context c = fork_access::at(base);
        return values{value_of_part(f, c), value_of_part(std::get<K>(rest), c)...};
    }
};

}  // namespace detail

/// Runs all parts and returns when all of them have ended. The first part runs on the calling
/// thread. The other parts run there or on other threads. Returns the values of the parts as a pair
/// or a tuple, with std::monostate for a part that returns nothing. If no part returns a value,
/// join() returns nothing. Free threads take parts of the oldest joins first. If a part throws,
/// parts that have not started do not run. join() then waits for the parts that have started, and
/// rethrows the leftmost exception. All other exceptions go to the unobserved-exception handler.
/// `c` must be the context that the calling part or task received. A part may be any callable. The
/// fastest parts are trivially copyable, callable as const, and at most 40 bytes in size (16 bytes
/// for the first part), and return at most 40 bytes. join() calls a copy of such a part, and calls
/// all other parts in place. If no part is stolen, a join costs about 1 ns, and an outermost join
/// about 15 ns. The first join on a seat allocates about 64 KB; later joins allocate nothing. When
/// 1,024 second parts are pending on one thread, deeper joins run their parts one after the other.
template <fork_callable F, fork_callable... Parts>
    requires(sizeof...(Parts) != 0)
[[gnu::always_inline]] inline auto join(fork_context c, F&& f, Parts&&... parts) {
    using joined =
        detail::parts_of_join<std::remove_reference_t<F>, std::remove_reference_t<Parts>...>;
    if constexpr (std::is_void_v<detail::part_result<F>> &&
                  (std::is_void_v<detail::part_result<Parts>> && ...)) {
        joined::run(c, f, parts...);
    } else {
        return joined::run(c, f, parts...);
    }
}

/// Like join(c, f, parts...), for code in a task that has no context in its arguments. This join()
/// looks up the context of the thread, which takes about 2 ns. A call outside tasks is a misuse,
/// because no scheduler can run the parts. join() then prints the misuse to standard error and runs
/// the parts one after the other.
template <fork_callable F, fork_callable... Parts>
    requires(sizeof...(Parts) != 0)
auto join(F&& f, Parts&&... parts) {
    return join(fork_context::current(), std::forward<F>(f), std::forward<Parts>(parts)...);
}

/// Calls `body` on the calling thread, which may be any thread. While `body` runs, the thread has a
/// seat in the scheduler and runs a task named `name`. If the thread already runs a task of this
/// scheduler, `body` runs within that task. If the thread finds no seat (see
/// scheduler_options::guests), `body` runs without a task, and joins in `body` run their parts one
/// after the other. Returns the result of `body`, or rethrows the exception of `body`.
template <fork_callable F>
auto fork_join(scheduler& s, const char* name, F&& body) {
    using value = detail::part_value<F>;
    struct call {
        explicit call(F& b) : body(b) {}
        ~call() {}
        F& body;
        union {
            value result;
        };
    } both(body);
    detail::enter_fork_join(
        s, name,
        [](void* p, fork_context c) {
            auto& own = *static_cast<call*>(p);
            ::new (static_cast<void*>(&own.result)) value(detail::value_of_part(own.body, c));
        },
        &both);
    if constexpr (!std::is_void_v<detail::part_result<F>>) {
        const detail::end_of_value<value> end{both.result};
        return std::move(both.result);
    }
}

BRAID_NAMESPACE_END
