#pragma once
// This file provides parallel reductions and scans. The order in which elements are combined
// depends only on the number of elements and the grain, never on threads. So sums of floats are the
// same to the last bit in every run, with any number of workers.

#include "braid/fork_join/parallel_for.hpp"

#include <functional>
#include <optional>
#include <utility>

BRAID_NAMESPACE_BEGIN

struct reduce_options {
    /// The number of elements in one piece. Only the last piece may be shorter. The elements of a
    /// piece are combined from left to right. Any number is allowed. 0 means at most 1,024 pieces
    /// of at least 64 elements each. If the grain exceeds the number of elements, the whole range
    /// is one piece. A scan has at most 256 pieces (fewer for a large T), and uses a larger grain
    /// if necessary. The rounding of floats depends on the grain.
    std::size_t grain = 0;
    const char* name = "reduce";
};

namespace detail {

/// Divides `n` elements into pieces of `wanted` elements each. If `wanted` is 0, there are at most
/// `most` pieces of at least 64 elements each.
struct fixed_pieces : even_pieces {
    fixed_pieces(std::size_t n, std::size_t wanted, std::size_t most)
        : even_pieces(
              n, wanted != 0 ? wanted : std::max<std::size_t>(64, even_pieces(n, most).count())) {}
    index_range piece(std::size_t i) const { return range(i, i + 1); }
};

/// Reduces the pieces [first, last) as a tree whose shape depends only on the number of pieces. The
/// upper joins of the tree, which have more than `most_private` pieces, become public before the
/// first piece runs. Other threads can thus help even if the first piece takes long.
template <class T, class Piece, class Combine>
T reduce_tree(fork_context c, std::size_t first, std::size_t last, std::size_t most_private,
              Piece& piece, Combine& combine) {
    if (last - first == 1) return piece(first);
    const std::size_t middle = first + (last - first) / 2;
    if (last - first > most_private) fork_access::publish_next(c);
    auto [left, right] = join(
        c,
        [first, middle, most_private, &piece, &combine](fork_context inner) {
            return reduce_tree<T>(inner, first, middle, most_private, piece, combine);
        },
        [middle, last, most_private, &piece, &combine](fork_context inner) {
            return reduce_tree<T>(inner, middle, last, most_private, piece, combine);
        });
    return combine(std::move(left), std::move(right));
}

}  // namespace detail

/// Returns combine(… combine(map(0), map(1)) …, map(count − 1)). The grouping of the elements
/// depends only on `count` and the grain. Returns `identity` if `count` is 0. `combine` must be
/// associative, except for differences that you accept, such as rounding. `combine` need not be
/// commutative. Values of type T are moved. Any thread may call reduce_indices(). Exceptions are
/// handled as in join().
template <fork_place Place, class T, class Map, class Combine = std::plus<>>
    requires std::is_invocable_v<Map&, std::size_t>
T reduce_indices(Place&& place, std::size_t count, T identity, Map&& map, Combine&& combine = {},
                 const reduce_options& options = {}) {
    if (count == 0) return identity;
    const detail::fixed_pieces pieces(count, options.grain, 1024);
    auto piece = [&](std::size_t i) {
        const index_range r = pieces.piece(i);
        T sum = map(r.begin);
        for (std::size_t k = r.begin + 1; k != r.end; ++k) sum = combine(std::move(sum), map(k));
        return sum;
    };
    return detail::at_place(place, options.name, [&](fork_context c) {
        constexpr std::size_t public_parts = 16;
        return detail::reduce_tree<T>(c, 0, pieces.count(), pieces.count() / public_parts, piece,
                                      combine);
    });
}

/// Reduces the elements of a random-access range, as reduce_indices() does.
template <fork_place Place, std::ranges::random_access_range Range, class T,
          class Combine = std::plus<>>
T reduce(Place&& place, Range&& range, T identity, Combine&& combine = {},
         const reduce_options& options = {}) {
    const auto first = std::ranges::begin(range);
    using step = std::ranges::range_difference_t<Range>;
    return reduce_indices(
        place, static_cast<std::size_t>(std::ranges::distance(range)), std::move(identity),
        [first](std::size_t i) -> decltype(auto) { return first[static_cast<step>(i)]; }, combine,
        options);
}

namespace detail {

/// Runs an inclusive or exclusive scan over fixed pieces. The calling thread scans pieces from the
/// left and computes the sum of each piece at the same time. Other threads compute the sums of the
/// pieces on the right. When they meet the calling thread, the sum of all elements before each
/// remaining piece is computed, and the remaining pieces are scanned in parallel. Without helpers,
/// the scan is one pass over the elements. With helpers, the remaining pieces take a second pass.
template <bool Inclusive, class Place, class Range, class Out, class T, class Combine>
Out scan(Place& place, Range& in, Out out, T start, Combine& combine, const reduce_options& o) {
    // The sums are stored on the stack and use at most 16 KB.
    constexpr std::size_t most = std::clamp<std::size_t>(16'384 / sizeof(std::optional<T>), 1, 256);
    const auto first = std::ranges::begin(in);
    using step = std::ranges::range_difference_t<Range>;
    using out_step = std::iter_difference_t<Out>;
    const auto n = static_cast<std::size_t>(std::ranges::distance(in));
    const auto at = [&](std::size_t i) -> decltype(auto) { return first[static_cast<step>(i)]; };
    const std::size_t grain = (std::max)(o.grain, even_pieces(n, most).count());
    const fixed_pieces pieces(n, o.grain != 0 ? grain : 0, most);
    // Scans element `k`. On entry, `before` is the sum of all elements before `k`. On return,
    // `before` is the sum of all elements before `k + 1`.
    const auto scan_one = [&](std::size_t k, T& before) {
        // in[k] is read before out[k] is written, because the two ranges may be the same.
        T with = combine(before, at(k));
        out[static_cast<out_step>(k)] = Inclusive ? with : std::move(before);
        before = std::move(with);
    };
    const auto sum_of_piece = [&](std::size_t i) {
        const index_range r = pieces.piece(i);
        T sum = at(r.begin);
        for (std::size_t k = r.begin + 1; k != r.end; ++k) sum = combine(std::move(sum), at(k));
        return sum;
    };
    const auto scan_and_sum = [&](std::size_t i, T before) {
        const index_range r = pieces.piece(i);
        T sum = at(r.begin);
        scan_one(r.begin, before);
        for (std::size_t k = r.begin + 1; k != r.end; ++k) {
            sum = combine(std::move(sum), at(k));
            scan_one(k, before);
        }
        return sum;
    };
    at_place(place, o.name, [&](fork_context c) {
        std::optional<T> sums[most];
        std::size_t scanned = 0;
        auto front = [&](fork_context, index_range some) {
            for (; scanned != some.end; ++scanned) {
                start = combine(start, scan_and_sum(scanned, start));
            }
        };
        auto back = [&](fork_context inner, index_range some) {
            parallel_for(inner, some.size(), [&](std::size_t i) {
                sums[some.begin + i].emplace(sum_of_piece(some.begin + i));
            });
        };
        from_both_ends(c, {0, pieces.count()}, front, back);
#if !BRAID_HAS_EXCEPTIONS
        if (c.cancelled()) return;  // no exception was thrown, and sums may be missing
#endif
        for (std::size_t i = scanned; i != pieces.count(); ++i) {
            T before = std::exchange(start, combine(start, *sums[i]));
            sums[i].emplace(std::move(before));
        }
        // The number of remaining pieces depends on the schedule. This loop therefore has a creator
        // of its own (see fork_stack.hpp), so that tasks created after the scan have the same
        // stable ids in every run.
        const running_piece as(c, fork_access::identity_of_pieces(c), 0);
        parallel_for(c, pieces.count() - scanned, [&](std::size_t i) {
            const index_range r = pieces.piece(scanned + i);
            for (std::size_t k = r.begin; k != r.end; ++k) scan_one(k, *sums[scanned + i]);
        });
    });
    return out + static_cast<out_step>(n);
}

}  // namespace detail

/// Sets out[i] to the combination of `start` and in[0] … in[i]. The grouping of the elements
/// depends only on the number of elements and the grain. `out` may be the beginning of `in`. Values
/// of type T are copied. Returns the end of the written range.
template <fork_place Place, std::ranges::random_access_range Range, std::random_access_iterator Out,
          class T, class Combine = std::plus<>>
Out inclusive_scan(Place&& place, Range&& in, Out out, T start, Combine&& combine = {},
                   const reduce_options& options = {.name = "inclusive_scan"}) {
    return detail::scan<true>(place, in, out, std::move(start), combine, options);
}

/// Like inclusive_scan(), but out[i] does not include in[i], so out[0] is `start`.
template <fork_place Place, std::ranges::random_access_range Range, std::random_access_iterator Out,
          class T, class Combine = std::plus<>>
Out exclusive_scan(Place&& place, Range&& in, Out out, T start, Combine&& combine = {},
                   const reduce_options& options = {.name = "exclusive_scan"}) {
    return detail::scan<false>(place, in, out, std::move(start), combine, options);
}

BRAID_NAMESPACE_END
