#pragma once
// Sets of moments: sorted spans that do not touch.

#include "profile/analysis/history.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {

using span_set = std::vector<time_span>;

/// Sorts them and joins what overlaps.
inline span_set joined(span_set spans) {
    std::sort(spans.begin(), spans.end(),
              [](const time_span& a, const time_span& b) { return a.begin < b.begin; });
    span_set result;
    for (const time_span& s : spans) {
        if (s.length() == 0) continue;
        if (!result.empty() && result.back().end >= s.begin) {
            result.back().end = std::max(result.back().end, s.end);
        } else {
            result.push_back(s);
        }
    }
    return result;
}

inline span_set common(const span_set& a, const span_set& b) {
    span_set result;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const time_span both{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
        if (both.length() != 0) result.push_back(both);
        ++(a[i].end < b[j].end ? i : j);
    }
    return result;
}

/// What of `window` is not in the set.
inline span_set rest_of(time_span window, const span_set& set) {
    span_set result;
    for (const time_span& s : set) {
        if (s.begin > window.begin) {
            result.push_back({window.begin, std::min(s.begin, window.end)});
        }
        window.begin = std::max(window.begin, s.end);
    }
    result.push_back(window);
    return joined(result);
}

inline std::uint64_t length_of(const span_set& set) {
    std::uint64_t sum = 0;
    for (const time_span& s : set) sum += s.length();
    return sum;
}

/// Adds the parts of the window in which the lane was in a span that `wanted` takes.
template <class Wanted>
void add_spans(span_set& to, const lane_row& lane, time_span window, Wanted&& wanted) {
    for (std::size_t i = lane.span_at(window.begin); i < lane.spans.size(); ++i) {
        if (lane.spans[i].begin >= window.end) break;
        if (!wanted(lane.spans[i])) continue;
        to.push_back(
            {std::max(lane.spans[i].begin, window.begin), std::min(lane.end_of(i), window.end)});
    }
}

}  // namespace profile
BRAID_NAMESPACE_END
