#pragma once
// Captures made by hand: what happened is said in microseconds, in any order.
#include "braid/profile/capture.hpp"

#include <algorithm>
#include <string>

namespace braid_test {

namespace profile = braid::profile;
using profile::record_kind;

inline constexpr std::uint64_t us = 1000;

class capture_builder {
public:
    capture_builder() { made_.types.emplace_back(); }

    std::uint32_t type(const std::string& name, const std::string& file = {},
                       std::uint32_t line = 0) {
        made_.types.push_back({name, file, line});
        return static_cast<std::uint32_t>(made_.types.size() - 1);
    }
    std::uint32_t lane(profile::lane_kind kind = profile::lane_kind::worker) {
        const auto number = static_cast<std::uint32_t>(made_.lanes.size());
        made_.lanes.push_back(
            {"lane " + std::to_string(number), kind, number, 100 + number, 0, {}});
        return number;
    }
    /// `what` on that lane at `at` us.
    capture_builder& say(std::uint32_t lane, std::uint64_t at, record_kind what,
                         std::uint64_t task = 0, std::uint64_t other = 0, std::uint32_t aux = 0,
                         std::uint8_t flags = 0, std::uint16_t core = profile::record::no_core) {
        std::vector<profile::record>& records = made_.lanes[lane].records;
        const auto later = std::upper_bound(
            records.begin(), records.end(), at * us,
            [](std::uint64_t time, const profile::record& r) { return time < r.time; });
        records.insert(later, {at * us, task, other, aux, core, what, flags});
        return *this;
    }
    /// Spawned and ready, or spawned only where `after` says what it waits for.
    capture_builder& spawn(std::uint32_t lane, std::uint64_t at, std::uint64_t task,
                           std::uint32_t type, std::initializer_list<std::uint64_t> after = {},
                           std::uint8_t flags = 1, std::uint64_t parent = 0) {
        say(lane, at, record_kind::spawned, task, parent, type, flags);
        for (const std::uint64_t other : after) say(lane, at, record_kind::edge, task, other);
        if (after.size() == 0) say(lane, at, record_kind::ready, task);
        return *this;
    }
    capture_builder& ready(std::uint32_t lane, std::uint64_t at, std::uint64_t task,
                           std::uint64_t releaser) {
        return say(lane, at, record_kind::ready, task, releaser);
    }
    /// Begins, ends and completes.
    capture_builder& run(std::uint32_t lane, std::uint64_t begin, std::uint64_t end,
                         std::uint64_t task, std::uint32_t type,
                         std::uint16_t core = profile::record::no_core) {
        say(lane, begin, record_kind::started, task, 0, type, 0, core);
        say(lane, end, record_kind::ended, task);
        return say(lane, end, record_kind::completed, task);
    }
    capture_builder& park(std::uint32_t lane, std::uint64_t begin, std::uint64_t end) {
        return say(lane, begin, record_kind::parked).say(lane, end, record_kind::unparked);
    }
    capture_builder& wait(std::uint32_t lane, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t task, std::uint64_t awaited) {
        say(lane, begin, record_kind::wait_begin, task, awaited);
        return say(lane, end, record_kind::wait_end, task, awaited);
    }
    capture_builder& away(std::uint32_t lane, std::uint64_t begin, std::uint64_t end,
                          std::uint16_t core = profile::record::no_core) {
        say(lane, begin, record_kind::switched_out, 0, 0, 0, profile::switch_preempted, core);
        return say(lane, end, record_kind::switched_in, 0, 0, 0, 0, core);
    }
    capture_builder& frame(std::uint32_t lane, std::uint64_t begin, std::uint64_t end,
                           std::uint64_t number) {
        say(lane, begin, record_kind::frame_begin, 0, number);
        return say(lane, end, record_kind::frame_end, 0, number);
    }
    /// Workers sleep whenever they have nothing to run, 1 us after it ended until 1 us before the
    /// next begins; all that is to run on them has been said.
    capture_builder& sleep_between(std::uint64_t until) {
        for (std::uint32_t i = 0; i < made_.lanes.size(); ++i) {
            if (made_.lanes[i].kind == profile::lane_kind::worker) sleep_between(i, until);
        }
        return *this;
    }
    /// Records of one moment stay in the order in which they were said.
    profile::capture make(std::uint64_t duration = 0) {
        for (profile::lane& lane : made_.lanes) {
            if (!lane.records.empty()) {
                made_.duration = std::max(made_.duration, lane.records.back().time);
            }
        }
        made_.duration = std::max(made_.duration, duration * us);
        made_.switches = profile::switch_level::exact;
        return made_;
    }

private:
    void sleep_between(std::uint32_t lane, std::uint64_t until) {
        std::uint64_t free_since = 0;
        unsigned open = 0;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> pauses;
        const auto pause = [&](std::uint64_t end) {
            if (open == 0 && end > free_since + 3) pauses.emplace_back(free_since, end);
        };
        for (const profile::record& r : made_.lanes[lane].records) {
            const std::uint64_t at = r.time / us;
            pause(at);
            open += r.kind == record_kind::started || r.kind == record_kind::resumed ||
                    r.kind == record_kind::job_started;
            open -= r.kind == record_kind::ended || r.kind == record_kind::suspended ||
                    r.kind == record_kind::job_ended;
            free_since = at;
        }
        pause(until);
        for (const auto& [begin, end] : pauses) park(lane, begin + (begin != 0), end - 1);
    }

    profile::capture made_;
};

}  // namespace braid_test
