#pragma once
// This file provides parallel loops over indices, elements and blocks. The calling thread takes
// pieces from the front of the range. A free thread takes the upper half of the remaining range,
// and shares that half in the same way. So a loop needs no tuned grain, and other threads can take
// all pieces that have not started, even if some elements take long.
//
//   braid::parallel_for(scheduler, bodies.size(), [&](std::size_t i) { integrate(bodies[i]); });

#include "braid/base/index_range.hpp"
#include "braid/core/error.hpp"
#include "braid/fork_join/join.hpp"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <ranges>

BRAID_NAMESPACE_BEGIN

struct loop_options {
    /// The minimum number of elements in one piece. Only the last piece may be shorter. Any number
    /// is allowed, and 0 means 1. Choose a larger grain if a body takes only a few ns, or if the
    /// loop must not wake a thread. If a loop has no more elements than its grain, the loop is one
    /// piece, which the calling thread runs.
    std::size_t grain = 1;
    /// If a thread calls the loop outside tasks, the thread enters the scheduler and runs a task of
    /// this name.
    const char* name = "parallel_for";
};

/// The type of the first argument of an algorithm: the context of a running task, the context of a
/// part of a join, or a scheduler. Any thread may pass a scheduler.
template <class T>
concept fork_place =
    std::convertible_to<T&, fork_context> || std::same_as<std::remove_cvref_t<T>, scheduler>;

namespace detail {

/// Calls f(fork_context) with the context of `place`. If `place` is a scheduler, the thread enters
/// the scheduler for the duration of the call.
template <class Place, class F>
decltype(auto) at_place(Place& place, const char* name, F&& f) {
    if constexpr (std::same_as<std::remove_cvref_t<Place>, scheduler>) {
        return fork_join(place, name, std::forward<F>(f));
    } else {
        static_cast<void>(name);
        return f(fork_context(place));
    }
}

/// Divides a number of elements into pieces of `grain` elements. The last piece may be shorter. The
/// computations never overflow, however large the two numbers are.
struct even_pieces {
    std::size_t elements, grain, whole;

    /// `n` is the number of elements. `wanted` is the grain, and 0 means 1.
    constexpr even_pieces(std::size_t n, std::size_t wanted)
        : elements(n), grain(std::max<std::size_t>(wanted, 1)), whole(n / grain) {}
    constexpr std::size_t count() const { return whole + (whole * grain != elements ? 1 : 0); }
    /// Returns the elements of the pieces [first, last). `first` must be below `last`.
    constexpr index_range range(std::size_t first, std::size_t last) const {
        return {first * grain, last > whole ? elements : last * grain};
    }
};

/// The destructor closes the range, unless normal_end() was called before. So if an element throws
/// or the task is cancelled, no thread takes further elements from the range.
class range_closer {
public:
    explicit range_closer(shared_range& left) : left_(&left) {}
    ~range_closer() {
        if (left_ != nullptr) left_->close();
    }
    range_closer(const range_closer&) = delete;
    range_closer& operator=(const range_closer&) = delete;
    void normal_end() { left_ = nullptr; }
    void cancel() {
#if BRAID_HAS_EXCEPTIONS
        throw task_cancelled();
#endif
    }

private:
    shared_range* left_;
};

template <class Front>
void run_from_front(shared_range& left, Front& front, fork_context c) {
    range_closer on_exit(left);
    for (index_range piece; left.take_front(piece);) {
        front(c, piece);
        if (c.cancelled()) return on_exit.cancel();
    }
    on_exit.normal_end();
}

/// Repeatedly takes the upper half of the remaining range and calls `back` for that half. Another
/// thread may do the same at the same time.
template <class Back>
void run_from_back(shared_range& left, Back& back, fork_context c) {
    index_range half;
    if (!left.take_half(half)) return;
    const auto run_halves = [&left, &back, half](fork_context inner) {
        range_closer on_exit(left);
        index_range mine = half;
        do {
            back(inner, mine);
            if (inner.cancelled()) return on_exit.cancel();
        } while (left.take_half(mine));
        on_exit.normal_end();
    };
    if (left.left() == 0) return run_halves(c);
    fork_access::publish_next(c);
    join(c, run_halves, [&left, &back](fork_context inner) { run_from_back(left, back, inner); });
}

/// Calls `front(fork_context, index_range)` on this thread, for one piece after the other from the
/// front, until nothing remains. At the same time, other threads repeatedly call `back` for the
/// upper half of the remaining range.
template <class Front, class Back>
void from_both_ends(fork_context c, index_range all, Front& front, Back& back) {
    shared_range left(all);
    if (!fork_access::splits(c)) [[unlikely]]
        return run_from_front(left, front, c);
    fork_access::publish_next(c);
    join(
        c, [&left, &front](fork_context inner) { run_from_front(left, front, inner); },
        [&left, &back](fork_context inner) { run_from_back(left, back, inner); });
}

/// Calls `body(fork_context, index_range)` until all units of a range have run. Other threads help,
/// and each helper shares its half of the range with further threads.
template <class Body>
void loop(fork_context c, index_range all, Body& body) {
    if (all.size() <= 1) {
        if (all.size() != 0) body(c, all);
        return;
    }
    auto back = [&body](fork_context inner, index_range half) { loop(inner, half, body); };
    from_both_ends(c, all, body, back);
}

/// Adapts the body of a loop so that each piece of the loop is one unit. A call with a range of
/// units calls body(fork_context, index_range) for the elements of those units.
template <class Body>
struct units_of_loop {
    Body body;
    even_pieces pieces;
    std::uint64_t identity;  // stable id of the loop; 0 if tasks have no stable ids

    void operator()(fork_context c, index_range units) {
        if (identity != 0) [[unlikely]]
            return run_one_by_one(c, units);
        body(c, pieces.range(units.begin, units.end));
    }

private:
    /// Calls the body once for each unit, and each unit is a creator of its own (see
    /// fork_stack.hpp). A creator for the whole range would not be reproducible, because the
    /// schedule decides which units are in one range.
    [[gnu::noinline, gnu::cold]] void run_one_by_one(fork_context c, index_range units) {
        for (std::size_t i = units.begin; i != units.end; ++i) {
            const running_piece as(c, identity, i);
            body(c, pieces.range(i, i + 1));
        }
    }
};

/// Returns a callable for (fork_context, index_range) that calls a body of any form.
template <class Body>
auto by_range(Body& body) {
    return [&body](fork_context c, index_range r) {
        if constexpr (std::is_invocable_v<Body&, index_range, fork_context>) {
            body(r, c);
        } else if constexpr (std::is_invocable_v<Body&, index_range>) {
            body(r);
        } else if constexpr (std::is_invocable_v<Body&, std::size_t, fork_context>) {
            for (std::size_t i = r.begin; i != r.end; ++i) body(i, c);
        } else {
            for (std::size_t i = r.begin; i != r.end; ++i) body(i);
        }
    };
}

}  // namespace detail

template <class Body>
concept loop_body = std::is_invocable_v<Body&, index_range, fork_context> ||
                    std::is_invocable_v<Body&, index_range> ||
                    std::is_invocable_v<Body&, std::size_t, fork_context> ||
                    std::is_invocable_v<Body&, std::size_t>;

/// Runs `body` once for each index in [0, count), in any order and on any threads, and returns when
/// all calls have ended. `count` may be any number. `body` takes an index or an index_range, and
/// optionally a fork_context as its second argument. If `body` accepts both an index and a range,
/// it is called with ranges. All threads call the same `body` object. If `body` throws, elements
/// that no thread has taken do not start, but a range that another thread has taken may still run
/// to its end. When all calls have ended, parallel_for() rethrows the exception. If several calls
/// throw, one exception is rethrown, and the others go to the unobserved-exception handler. If the
/// scope of the task is cancelled, the loop stops between two pieces and throws task_cancelled. In
/// addition to the bodies, a loop costs about 0.1 µs, and a wake if all other threads sleep.
template <fork_place Place, loop_body Body>
void parallel_for(Place&& place, std::size_t count, Body&& body, const loop_options& options = {}) {
    detail::at_place(place, options.name, [&](fork_context c) {
        detail::units_of_loop units{
            detail::by_range(body),
            {count, (std::max)(options.grain, count / detail::shared_range::capacity + 1)},
            detail::fork_access::identity_of_pieces(c)};
        detail::loop(c, {0, units.pieces.count()}, units);
    });
}

/// A block is a rectangle in a 2-D loop or a box in a 3-D loop. In the order of the blocks, x
/// changes fastest.
struct block_range {
    index_range x, y, z{0, 1};
};

/// Describes the size of a 2-D or 3-D loop. `x`, `y` and `z` are the numbers of elements along the
/// axes. `block_x`, `block_y` and `block_z` are the maximum lengths of a block along the axes. If a
/// length is 0, the loop chooses it, so that there are about 256 blocks with edges of similar
/// length. All numbers are allowed. If there would be SIZE_MAX blocks or more, the loop lengthens
/// the shortest block edges until there are fewer blocks.
struct block_extent {
    std::size_t x = 1, y = 1, z = 1;
    std::size_t block_x = 0, block_y = 0, block_z = 0;
};

namespace detail {
BRAID_API block_extent with_blocks(block_extent extent);
}

/// Calls body(block_range) for each block of a 2-D or 3-D loop. `body` may take a fork_context
/// after the block. Otherwise this loop behaves like parallel_for() over the indices of the blocks.
template <fork_place Place, class Body>
    requires std::is_invocable_v<Body&, block_range> ||
             std::is_invocable_v<Body&, block_range, fork_context>
void parallel_for(Place&& place, const block_extent& extent, Body&& body,
                  const loop_options& options = {}) {
    if (extent.x == 0 || extent.y == 0 || extent.z == 0) return;
    const block_extent e = detail::with_blocks(extent);
    const detail::even_pieces x(e.x, e.block_x), y(e.y, e.block_y), z(e.z, e.block_z);
    const std::size_t nx = x.count(), ny = y.count();
    const auto part = [](const detail::even_pieces& edge, std::size_t i) {
        return edge.range(i, i + 1);
    };
    parallel_for(
        place, nx * ny * z.count(),
        [&](std::size_t i, fork_context c) {
            const block_range block{
                .x = part(x, i % nx), .y = part(y, i / nx % ny), .z = part(z, i / nx / ny)};
            if constexpr (std::is_invocable_v<Body&, block_range, fork_context>) {
                body(block, c);
            } else {
                body(block);
            }
        },
        options);
}

/// Calls f(element) for each element of a random-access range. Otherwise for_each() behaves like
/// parallel_for().
template <fork_place Place, std::ranges::random_access_range Range, class F>
    requires std::invocable<F&, std::ranges::range_reference_t<Range>>
void for_each(Place&& place, Range&& range, F&& f, const loop_options& options = {}) {
    const auto first = std::ranges::begin(range);
    using step = std::ranges::range_difference_t<Range>;
    parallel_for(
        place, static_cast<std::size_t>(std::ranges::distance(range)),
        [&](index_range r) {
            std::for_each(first + static_cast<step>(r.begin), first + static_cast<step>(r.end), f);
        },
        options);
}
template <fork_place Place, std::random_access_iterator It, class F>
void for_each(Place&& place, It first, It last, F&& f, const loop_options& options = {}) {
    for_each(place, std::ranges::subrange(first, last), f, options);
}

/// Runs a parallel_for() that sets out[i] = f(in[i]) for each element. The two ranges may be the
/// same. Otherwise they must not overlap. Returns the end of the written range.
template <fork_place Place, std::ranges::random_access_range Range, std::random_access_iterator Out,
          class F>
Out transform(Place&& place, Range&& in, Out out, F&& f, const loop_options& options = {}) {
    const auto first = std::ranges::begin(in);
    const auto count = std::ranges::distance(in);
    using step = std::ranges::range_difference_t<Range>;
    using out_step = std::iter_difference_t<Out>;
    parallel_for(
        place, static_cast<std::size_t>(count),
        [&](index_range r) {
            std::transform(first + static_cast<step>(r.begin), first + static_cast<step>(r.end),
                           out + static_cast<out_step>(r.begin), f);
        },
        options);
    return out + static_cast<out_step>(count);
}

BRAID_NAMESPACE_END
