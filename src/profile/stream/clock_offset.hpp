#pragma once
// How far another clock is ahead of the own one, from questions and answers over a connection.

#include "braid/base/version.hpp"

#include <cstdint>
#include <deque>
#include <optional>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// The answer was made at some time between question and arrival; the middle is off by at most half
/// the way. So the quickest of the last answers says most: what delays one only makes it worse.
class clock_offset {
public:
    /// `last`: older answers are forgotten, because clocks drift.
    explicit clock_offset(std::size_t last = 16) : last_(last) {}

    struct estimate {
        std::int64_t ahead = 0;       // ns of the other clock minus ns of the own one
        std::int64_t round_trip = 0;  // ns; `ahead` is off by at most half of it
    };

    /// When it was asked and when the answer came, by the own clock; `answered` by the other. In
    /// ns.
    void add(std::int64_t asked, std::int64_t answered, std::int64_t came) {
        if (came < asked) return;  // the own clock was set back meanwhile
        samples_.push_back({answered - (asked + (came - asked) / 2), came - asked});
        if (samples_.size() > last_) samples_.pop_front();
    }

    /// Nothing before the first answer.
    std::optional<estimate> best() const {
        std::optional<estimate> quickest;
        for (const estimate& one : samples_) {
            if (!quickest || one.round_trip <= quickest->round_trip) quickest = one;
        }
        return quickest;
    }

private:
    std::size_t last_;
    std::deque<estimate> samples_;
};

}  // namespace profile
BRAID_NAMESPACE_END
