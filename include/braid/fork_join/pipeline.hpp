#pragma once
// pipeline() passes items through stages, several at a time. A stage can handle them in order.
//
//   braid::pipeline(scheduler, {.tokens = 8},
//                   braid::serial([&] { return file.next_chunk(); }),  // std::optional<chunk>
//                   braid::parallel([](chunk c) { return compress(c); }),
//                   braid::serial([&](const packed& p) { out.write(p); }));  // in the same order

#include "braid/fork_join/crew.hpp"
#include "braid/fork_join/parallel_for.hpp"
#include "braid/fork_join/pipeline_flow.hpp"

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <tuple>

BRAID_NAMESPACE_BEGIN

struct pipeline_options {
    /// The maximum number of items in flight. It limits memory use and concurrent stage calls.
    std::size_t tokens = 16;  // 1 to 2^20; a number outside is clamped to this range
    /// The name of the helpers' tasks, and of the task that a caller outside tasks gets.
    const char* name = "pipeline";
};

/// A stage of a pipeline. serial() or parallel() makes a stage from a function.
template <class F, bool Serial>
struct pipeline_stage {
    F f;  // a reference if the function was an lvalue
};

/// Makes a stage that handles one item at a time, in the order of the source, on any thread.
template <class F>
pipeline_stage<F, true> serial(F&& f) {
    return {std::forward<F>(f)};
}
/// Makes a stage that handles any number of items at a time, in any order.
template <class F>
pipeline_stage<F, false> parallel(F&& f) {
    return {std::forward<F>(f)};
}

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_serial_stage = false;
template <class F>
inline constexpr bool is_serial_stage<pipeline_stage<F, true>> = true;

template <class F, class T>
decltype(auto) call_stage(F& f, T& item, fork_context c) {
    if constexpr (std::is_invocable_v<F&, T&&, fork_context>) {
        return f(std::move(item), c);
    } else {
        static_assert(std::is_invocable_v<F&, T&&>,
                      "a stage takes what the stage before it returns (by value, as const T& or "
                      "T&&), and a fork_context after it if it wants one");
        return f(std::move(item));
    }
}

/// The type of the items that enter stage K. Stage 1 gets the source's items.
template <std::size_t K, class Stages>
struct pipeline_item {
    using before = typename pipeline_item<K - 1, Stages>::type;
    using stage = std::remove_reference_t<decltype(std::tuple_element_t<K - 1, Stages>::f)>;
    using type = std::decay_t<decltype(call_stage(std::declval<stage&>(), std::declval<before&>(),
                                                  std::declval<fork_context>()))>;
};
template <class Stages>
struct pipeline_item<1, Stages> {
    using stage = std::remove_reference_t<decltype(std::tuple_element_t<0, Stages>::f)>;
    using made = part_result<stage>;
    static_assert(is_optional<made>, "the first stage returns std::optional<T>, empty at the end");
    using type = typename made::value_type;
};

/// One run of a pipeline, on the caller's stack. All other threads leave the run before it ends.
template <class... Stages>
class pipeline_run {
    using stages = std::tuple<std::remove_cvref_t<Stages>...>;
    static constexpr std::size_t count = sizeof...(Stages);
    template <std::size_t K>
    using item = typename pipeline_item<K, stages>::type;
    template <std::size_t K>
    static constexpr bool is_serial = is_serial_stage<std::tuple_element_t<K, stages>>;

    /// The largest size and alignment of the items that enter stages First, First + 2, and so on.
    template <std::size_t First>
    static constexpr auto largest = []<std::size_t... I>(std::index_sequence<I...>) {
        struct room {
            std::size_t bytes = 1, alignment = 1;
        } most;
        ((most.bytes = (std::max)(most.bytes, sizeof(item<First + 2 * I>)),
          most.alignment = (std::max)(most.alignment, alignof(item<First + 2 * I>))),
         ...);
        return most;
    }(std::make_index_sequence<(count - First + 1) / 2>());

    /// Holds one item. A stage constructs its result beside its input, so that no item need move.
    struct alignas(64) token {
        std::uint64_t number = 0;  // of the item; the first item is 0
        std::uint32_t enters = 0;  // the next stage of the item; 0 means no item
        std::exception_ptr error;
        alignas(largest<1>.alignment) std::byte odd[largest<1>.bytes];
        alignas(largest<2>.alignment) std::byte even[largest<2>.bytes];

        template <std::size_t K>
        void* room() {
            return K % 2 == 1 ? odd : even;
        }
        template <std::size_t K>
        item<K>& get() {
            return *std::launder(static_cast<item<K>*>(room<K>()));
        }
    };
    using cell = atomic<std::uint32_t>;

public:
    pipeline_run(fork_context c, const pipeline_options& o, Stages&... list)
        : stages_(list...),
          crew_(c, o.name, tokens_of(o), &run_in_crew, this),
          tokens_(tokens_of(o)) {
        if (!use_memory()) {  // the only token is then in this object
            tokens_ = 1;
            token_ = ::new (own_token_) token;
            next_ = own_next_;
            use_cells(own_cells_, 1);
        }
        for (std::uint32_t i = 0; i != tokens_; ++i) next_[i].store(i, relaxed);
        free_ = tokens_ - 1;  // all tokens are in one list; 0 ends the list
    }
    ~pipeline_run() {
        std::destroy_n(token_, tokens_);
        if (memory_ != nullptr) crew_.release(memory_, memory_bytes(), alignof(token));
    }
    pipeline_run(const pipeline_run&) = delete;
    pipeline_run& operator=(const pipeline_run&) = delete;

    void run(fork_context c) {
        work(c, source());
        crew_.wait();
        finish(c);
    }

private:
    static std::uint32_t tokens_of(const pipeline_options& o) {
        return static_cast<std::uint32_t>(
            std::clamp<std::size_t>(o.tokens, 1, ready_tokens::most_tokens));
    }

    // ---- a thread of the crew ------------------------------------------------------------------

    static void run_in_crew(void* self, const fork_context* c) {
        auto& all = *static_cast<pipeline_run*>(self);
        if (c == nullptr) return all.ready_.drop_runner();
        all.work(*c, all.ready_.pop_or_leave(all.next_));
    }
    void work(fork_context c, std::uint32_t next) {
        for (; next != no_token; next = ready_.pop_or_leave(next_)) {
            while (next != no_token) next = step(c, next);
        }
    }
    /// Makes `other` ready, which is a token or the source. A free thread then runs `other`.
    void offer(std::uint32_t other) {
        if (ready_.push(other, next_, crew_.most()) && !crew_.call()) ready_.drop_runner();
    }
    /// Runs the source or a stage of a token. Returns the token or source to run next, or no_token.
    std::uint32_t step(fork_context c, std::uint32_t next) {
        if (next == source()) return run_source(c);
        using enter_fn = std::uint32_t (pipeline_run::*)(fork_context, std::uint32_t);
        static constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
            return std::array<enter_fn, count>{nullptr, &pipeline_run::template enter<I + 1>...};
        }(std::make_index_sequence<count - 1>());
        return (this->*table[token_[next].enters])(c, next);
    }
    std::uint32_t source() const { return tokens_; }

    // ---- the source ----------------------------------------------------------------------------

    /// Must be called by the thread that owns the source. `free_` must be a token for the new item.
    std::uint32_t run_source(fork_context c) {
        const std::uint32_t mine = free_;
        token& t = token_[mine];
        t.number = made_;
        if (!goes_on(c, t)) return no_token;
        free_ = returned_tokens::after(mine, next_);
        bool made = false;
        guarded_step(t, [&] {
            const running_piece as(c, crew_.identity(), made_ * count);
            auto& f = std::get<0>(stages_).f;
            auto value = call_part(f, c);
            if (!value) return;
            ::new (t.template room<1>()) item<1>(*std::move(value));
            t.enters = 1;
            made = true;
        });
        if (!made) return no_token;  // the source ended or threw, and never runs again
        ++made_;
        std::uint32_t more = free_;
        if (more == no_token) more = returned_.take_or_wait();
        if (more != no_token) {
            free_ = more;
            offer(source());
        }  // otherwise the next returned token restarts the source
        return carry<1>(c, mine);
    }

    // ---- an item -------------------------------------------------------------------------------

    template <std::size_t K>
    std::uint32_t carry(fork_context c, std::uint32_t mine) {
        if constexpr (is_serial<K>) {
            if (!gates_[K].arrive(token_[mine].number, mine)) return no_token;
        }
        return enter<K>(c, mine);
    }
    /// Runs stage K for an item. If the stage has a gate, the item must have passed the gate.
    template <std::size_t K>
    std::uint32_t enter(fork_context c, std::uint32_t mine) {
        token& t = token_[mine];
        // A stopped item, like each item behind it, stays in its token until finish().
        if (!goes_on(c, t) || !run_stage<K>(c, t)) return no_token;
        std::uint32_t behind = no_token;
        if constexpr (is_serial<K>) behind = gates_[K].pass(t.number + 1);
        if constexpr (K + 1 != count) {
            if (behind != no_token) offer(behind);
            return carry<K + 1>(c, mine);
        } else {
            const bool has_source = returned_.give(mine, next_);
            if (has_source) free_ = mine;
            if (behind == no_token) return has_source ? source() : no_token;
            if (has_source) offer(source());
            return behind;
        }
    }
    /// Calls the function of stage K. Returns false if the function throws.
    template <std::size_t K>
    bool run_stage(fork_context c, token& t) {
        return guarded_step(t, [&] {
            const running_piece as(c, crew_.identity(), t.number * count + K);
            auto& f = std::get<K>(stages_).f;
            if constexpr (K + 1 != count) {
                ::new (t.template room<K + 1>()) item<K + 1>(call_stage(f, t.template get<K>(), c));
                std::destroy_at(&t.template get<K>());
                t.enters = K + 1;
            } else {
                static_assert(std::is_void_v<decltype(call_stage(f, t.template get<K>(), c))>,
                              "the last stage returns nothing");
                call_stage(f, t.template get<K>(), c);
                std::destroy_at(&t.template get<K>());
                t.enters = 0;
            }
        });
    }

    // ---- an early end --------------------------------------------------------------------------

    /// Returns false if the task was cancelled, or if this item or an item before it has failed.
    bool goes_on(fork_context c, const token& t) {
        if (c.cancelled()) {
            cancelled_.store(true, relaxed);  // relaxed: crew_.wait() orders the store
            end_.store(0, relaxed);
        }
        // relaxed, as for all uses of end_: a late view of a new end costs only extra stage calls.
        return t.number < end_.load(relaxed);
    }
    template <class F>
    bool guarded_step(token& t, F&& f) {
#if BRAID_HAS_EXCEPTIONS
        try {
            f();
        } catch (...) {
            t.error = std::current_exception();
            std::uint64_t seen = end_.load(relaxed);
            while (t.number < seen && !end_.compare_exchange_weak(seen, t.number, relaxed)) {
            }
            return false;
        }
#else
        static_cast<void>(t);
        f();
#endif
        return true;
    }

    /// Destroys remaining items and throws the first failure. All other threads must have left.
    void finish(fork_context c) {
        token* first = nullptr;
        for (token* t = token_; t != token_ + tokens_; ++t) {
            destroy_item(*t, std::make_index_sequence<count - 1>());
            if (t->error != nullptr && (first == nullptr || t->number < first->number)) first = t;
        }
#if BRAID_HAS_EXCEPTIONS
        for (token* t = token_; first != nullptr && t != token_ + tokens_; ++t) {
            if (t != first && t->error != nullptr) {
                fork_lost(*fork_access::top(c)->stack, std::move(t->error));
            }
        }
        if (first != nullptr) std::rethrow_exception(std::move(first->error));
        if (cancelled_.load(relaxed)) throw task_cancelled();
#else
        static_cast<void>(c);
#endif
    }
    template <std::size_t... I>
    static void destroy_item(token& t, std::index_sequence<I...>) {
        ((t.enters == I + 1 ? std::destroy_at(&t.template get<I + 1>()) : void()), ...);
    }

    // ---- memory --------------------------------------------------------------------------------

    /// The number of cell lists: one for each serial stage except the source, but at least one.
    static constexpr std::size_t cell_lists =
        std::max<std::size_t>(1, (is_serial_stage<std::remove_cvref_t<Stages>> + ...) - 1);

    std::uint32_t cells_each() const { return std::bit_ceil(tokens_); }
    /// Returns the number of words in memory. The links come first, and the cells follow.
    std::size_t words() const { return tokens_ + 1 + cell_lists * cells_each(); }
    std::size_t memory_bytes() const { return tokens_ * sizeof(token) + words() * sizeof(cell); }

    bool use_memory() {
        if (tokens_ == 1) return false;
        memory_ = crew_.allocate(memory_bytes(), alignof(token));
        if (memory_ == nullptr) return false;
        auto* at = static_cast<std::byte*>(memory_);
        token_ = reinterpret_cast<token*>(at);
        std::uninitialized_default_construct_n(token_, tokens_);
        next_ = reinterpret_cast<cell*>(at + tokens_ * sizeof(token));
        for (std::size_t i = 0; i != words(); ++i) ::new (next_ + i) cell(0);
        use_cells(next_ + tokens_ + 1, cells_each());
        return true;
    }
    void use_cells(cell* cells, std::uint32_t each) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            ((is_serial<I + 1> ? gates_[I + 1].use(std::exchange(cells, cells + each), each)
                               : void()),
             ...);
        }(std::make_index_sequence<count - 1>());
    }

    std::tuple<Stages&...> stages_;
    crew crew_;
    std::uint32_t tokens_;
    token* token_ = nullptr;
    cell* next_ = nullptr;  // the link of each token; the last link is the source's
    std::array<serial_gate, count> gates_;
    atomic<std::uint64_t> end_{UINT64_MAX};  // items with this number or a higher one stop
    atomic<bool> cancelled_{false};
    void* memory_ = nullptr;
    // Owned by the thread that runs the source:
    std::uint64_t made_ = 0;
    std::uint32_t free_;  // the first free token, linked to the others
    // Shared by all threads:
    alignas(64) ready_tokens ready_;
    alignas(64) returned_tokens returned_;

    alignas(token) std::byte own_token_[sizeof(token)];
    cell own_next_[2]{};
    cell own_cells_[cell_lists]{};
};

}  // namespace detail

/// Calls the first stage, the source, which returns std::optional<T>, until the optional is empty.
/// Each T passes through the other stages. Returns when all items have passed. serial() and
/// parallel() make stages. The first stage must be serial, and the last stage must return nothing.
/// A stage takes the result of the previous stage, and optionally a fork_context. At most `tokens`
/// items are in flight. A serial stage handles one item at a time, in the order of the source.
///
/// Any thread may call pipeline(). While there is work for more than one thread, other threads help
/// in child tasks of the calling task. Only the caller waits, and only if it has nothing left to
/// run. If stages throw, pipeline() waits until all stage calls have ended, and then rethrows the
/// exception of the first failed item in the order of the source. Items before the failed item have
/// passed through all stages, as in a serial loop. Items behind it stop and are destroyed, and
/// their exceptions go to the unobserved-exception handler. If the scope of the task is cancelled,
/// all items stop and pipeline() throws task_cancelled.
///
/// Items are stored in `tokens` places, each with room for two of the largest items. All places are
/// allocated at once. If this allocation fails, there is only one place. An item is moved only out
/// of the optional. On one thread, a pipeline costs about 1.4 µs, and about 20 ns for each item
/// (with three stages), in addition to the stages.
template <fork_place Place, class... Stages>
    requires(sizeof...(Stages) >= 2)
void pipeline(Place&& place, const pipeline_options& options, Stages&&... stages) {
    static_assert(detail::is_serial_stage<
                      std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Stages...>>>>,
                  "the first stage, the source, is serial");
    detail::at_place(place, options.name, [&](fork_context c) {
        detail::pipeline_run<std::remove_reference_t<Stages>...>(c, options, stages...).run(c);
    });
}

BRAID_NAMESPACE_END
