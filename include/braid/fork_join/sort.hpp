#pragma once
// sort() is a quicksort (Hoare 1961). A join sorts the two sides of each split. The pivot is the
// median of three medians of three elements each (Bentley and McIlroy 1993). If uneven splits nest
// deeper than about 2 log2(n), std::sort sorts the remaining range.

#include "braid/fork_join/parallel_for.hpp"

#include <bit>
#include <functional>

BRAID_NAMESPACE_BEGIN

struct sort_options {
    /// std::sort sorts a range of at most this many elements as one piece. Any number is allowed,
    /// and a number below 15 means 15.
    std::size_t grain = 4096;
    const char* name = "sort";
};

namespace detail {

template <class It, class Less>
It median(It a, It b, It c, Less& less) {
    if (less(*a, *b)) return less(*b, *c) ? b : less(*a, *c) ? c : a;
    return less(*a, *c) ? a : less(*b, *c) ? c : b;
}

template <class It, class Less>
void sort_range(fork_context c, It first, It last, unsigned splits, std::size_t grain, Less& less) {
    const auto n = last - first;
    if (static_cast<std::size_t>(n) <= grain || n < 16 || splits == 0) {
        std::sort(first, last, less);
        return;
    }
    const auto eighth = n / 8;
    const It middle = first + n / 2, end = last - 1;
    const It pivot = median(median(first, first + eighth, first + 2 * eighth, less),
                            median(middle - eighth, middle, middle + eighth, less),
                            median(end - 2 * eighth, end - eighth, end, less), less);
    std::iter_swap(first, pivot);
    // Both inner loops stop at elements equal to the pivot, so that a range with many equal
    // elements is split evenly.
    It left = first, right = last;
    while (true) {
        do ++left;
        while (left != last && less(*left, *first));
        do --right;
        while (less(*first, *right));
        if (left >= right) break;
        std::iter_swap(left, right);
    }
    std::iter_swap(first, right);
    join(
        c,
        [first, right, splits, grain, &less](fork_context inner) {
            sort_range(inner, first, right, splits - 1, grain, less);
        },
        [right, last, splits, grain, &less](fork_context inner) {
            sort_range(inner, right + 1, last, splits - 1, grain, less);
        });
}

}  // namespace detail

/// Sorts the range in place. Like std::sort, sort() is not stable. sort() takes O(n log n) time for
/// any order of the elements, and allocates no memory. Several threads may call `less` at once. If
/// `less` throws, sort() rethrows the exception, and the elements have unspecified values, as after
/// std::sort.
template <fork_place Place, std::random_access_iterator It, class Less = std::less<>>
void sort(Place&& place, It first, It last, Less&& less = {}, const sort_options& options = {}) {
    const auto n = static_cast<std::size_t>(last - first);
    detail::at_place(place, options.name, [&](fork_context c) {
        detail::sort_range(c, first, last, 2 * static_cast<unsigned>(std::bit_width(n)),
                           options.grain, less);
    });
}
template <fork_place Place, std::ranges::random_access_range Range, class Less = std::less<>>
void sort(Place&& place, Range&& range, Less&& less = {}, const sort_options& options = {}) {
    sort(place, std::ranges::begin(range), std::ranges::end(range), less, options);
}

BRAID_NAMESPACE_END
