#pragma once
// Captures made by hand: what a recorder writes on a good day, and on bad ones.

#include "braid/profile/capture.hpp"

#include <bit>
#include <limits>
#include <map>
#include <random>
#include <string>

namespace hand_made {

namespace profile = braid::profile;
using profile::capture;
using profile::lane_kind;
using profile::record;
using profile::record_kind;

/// Appends records, one call a record.
class scene {
public:
    explicit scene(std::uint32_t lanes = 1) {
        made.types.emplace_back();
        made.info = {{"program", "arena"}, {"workers", std::to_string(lanes)}};
        made.began_at = 1'790'000'000'000'000'000;
        for (std::uint32_t i = 0; i < lanes; ++i) {
            const bool main = i == 0;
            made.lanes.push_back({main ? "main" : "worker " + std::to_string(i - 1),
                                  main ? lane_kind::main : lane_kind::worker,
                                  i,
                                  4711 + i,
                                  0,
                                  {}});
        }
    }
    std::uint32_t type(const std::string& name, const std::string& file = {},
                       std::uint32_t line = 0) {
        made.types.push_back({name, file, line});
        return static_cast<std::uint32_t>(made.types.size() - 1);
    }
    record& at(std::uint32_t lane, std::uint64_t time, record_kind kind, std::uint64_t task = 0,
               std::uint64_t other = 0, std::uint32_t aux = 0) {
        record r;
        r.time = time;
        r.task = task;
        r.other = other;
        r.aux = aux;
        r.kind = kind;
        made.duration = std::max(made.duration, time);
        return made.lanes[lane].records.emplace_back(r);
    }

    capture made;
};

/// Everything that a recorder can say, on two lanes.
inline capture whole() {
    scene s(2);
    const auto frame = s.type("frame");
    const auto skin = s.type("skin", "skin.cpp", 12);
    const auto cull = s.type("cull", "a \"quoted\" folder/cull.cpp", 7);
    const auto scope = s.type("sort");
    const auto speed = s.type("speed");
    s.made.lanes[0].records.reserve(64);
    s.at(0, 10, record_kind::frame_begin, 0, 1, frame);
    s.at(0, 20, record_kind::spawned, 101, 0, skin);
    s.at(0, 21, record_kind::spawned, 102, 0, cull);
    s.at(0, 22, record_kind::edge, 102, 101);
    s.at(0, 23, record_kind::ready, 101);
    s.at(0, 25, record_kind::spawned, 103, 0, cull);
    s.at(0, 30, record_kind::wait_begin, 0, 102);
    s.at(0, 31, record_kind::searching);
    s.at(0, 40, record_kind::started, 103, 0, cull);
    s.at(0, 41, record_kind::scope_begin, 0, 0, scope);
    s.at(0, 42, record_kind::counter, 0, std::bit_cast<std::uint64_t>(2.5), speed);
    s.at(0, 44, record_kind::scope_end, 0, 0, scope);
    s.at(0, 45, record_kind::ended, 103).flags = profile::end_failed;
    s.at(0, 46, record_kind::completed, 103);
    s.at(0, 50, record_kind::parked);
    s.at(0, 80, record_kind::unparked);
    s.at(0, 85, record_kind::wait_end, 0, 102);
    s.at(0, 90, record_kind::frame_end, 0, 1, frame);
    s.at(1, 24, record_kind::stolen, 101, 0, 0);
    s.at(1, 25, record_kind::started, 101, 0, skin).core = 3;
    s.at(1, 26, record_kind::event_set, 101, 77);
    s.at(1, 27, record_kind::forked, 101, 88);
    s.at(1, 28, record_kind::job_started, 101, 88, 0);
    s.at(1, 29, record_kind::job_ended, 101, 88);
    s.at(1, 30, record_kind::joined, 101, 88);
    s.at(1, 31, record_kind::acquired, 101, 99, scope);
    s.at(1, 32, record_kind::released, 101, 99, scope);
    s.at(1, 33, record_kind::event_taken, 101, 77);
    s.at(1, 60, record_kind::ended, 101);
    s.at(1, 61, record_kind::completed, 101);
    s.at(1, 62, record_kind::ready, 102, 101);
    s.at(1, 70, record_kind::started, 102, 0, cull);
    s.at(1, 79, record_kind::ended, 102);
    s.at(1, 79, record_kind::completed, 102);
    s.at(1, 82, record_kind::spawned, 104, 0, skin);
    s.at(1, 83, record_kind::cancelled, 104);
    s.at(1, 84, record_kind::spawned, 105, 0, skin);
    s.at(1, 86, record_kind::switches, 0, 4, 1);
    return s.made;
}

/// Frames in a pipeline: each begins before the one before it ends.
inline capture pipelined() {
    scene s(2);
    const auto frame = s.type("frame");
    for (std::uint64_t i = 0; i < 8; ++i) s.at(0, 100 * i, record_kind::frame_begin, 0, i, frame);
    for (std::uint64_t i = 0; i < 7; ++i) {
        s.at(1, 100 * i + 250, record_kind::frame_end, 0, i, frame);
    }
    s.at(1, 2000, record_kind::frame_end, 0, 99, frame);
    return s.made;
}

/// The system switches the threads, and says between which cores.
inline capture switched(bool cores_known) {
    scene s(2);
    const auto skin = s.type("skin");
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
        const auto core = static_cast<std::uint16_t>(cores_known ? lane : record::no_core);
        s.at(lane, 10, record_kind::started, lane + 1, 0, skin).core = core;
        record& out = s.at(lane, 20, record_kind::switched_out);
        out.core = core;
        out.flags = lane == 0 ? profile::switch_preempted : 0;
        s.at(lane, 30, record_kind::switched_in).core = core;
        s.at(lane, 32, record_kind::switched_in).core = core;  // its other half was lost
        s.at(lane, 40, record_kind::ended, lane + 1).flags = profile::end_switched;
        s.at(lane, 50, record_kind::switched_out).core = core;
    }
    s.made.switches = profile::switch_level::exact;
    return s.made;
}

/// The program ended inside of a task, on top of a wait.
inline capture open_at_the_end() {
    scene s(2);
    const auto skin = s.type("skin");
    s.at(0, 10, record_kind::started, 1, 0, skin);
    s.at(0, 20, record_kind::wait_begin, 1, 2);
    s.at(0, 30, record_kind::started, 3, 0, skin);
    s.at(1, 90, record_kind::parked);
    s.made.whole = false;
    return s.made;
}

/// Ends of what was there before the capture began.
inline capture ends_without_begins() {
    scene s(2);
    const auto skin = s.type("skin");
    s.at(0, 10, record_kind::ended, 1);
    s.at(0, 11, record_kind::wait_end, 5, 1);
    s.at(0, 12, record_kind::scope_end, 0, 0, skin);
    s.at(0, 13, record_kind::job_ended, 5, 7);
    s.at(0, 14, record_kind::unparked);
    s.at(0, 15, record_kind::switched_in);
    s.at(0, 16, record_kind::frame_end, 0, 4);
    s.at(0, 20, record_kind::edge, 2, 1);
    s.at(1, 30, record_kind::started, 2, 0, skin);
    s.at(1, 40, record_kind::ended, 2);
    return s.made;
}

/// Rings ran over: ends inside of others are missing.
inline capture dropped() {
    scene s(1);
    const auto skin = s.type("skin");
    s.made.lanes[0].dropped = 12;
    s.at(0, 10, record_kind::started, 1, 0, skin);
    s.at(0, 20, record_kind::wait_begin, 1, 2);
    s.at(0, 30, record_kind::started, 2, 0, skin);
    s.at(0, 60, record_kind::ended, 1);
    s.at(0, 70, record_kind::ended, 2);
    return s.made;
}

/// Names that mean something to those who read the file.
inline capture odd_names() {
    scene s(2);
    s.made.info[0].second = "a \"program\"\\";
    s.made.lanes[0].name = "lane \"0\"\n\x01";
    s.made.lanes[1].name = "\xff\xfe";
    const char* const names[] = {"a \"quote\"",  "two\nlines", "back\\slash",    "\xc3\x28 broken",
                                 "cut \xe2\x82", "späße",      "</script><b>\t", ""};
    std::uint64_t task = 1;
    for (const char* name : names) {
        const auto type = s.type(name, std::string(name) + ".cpp", 3);
        s.at(0, task * 10, record_kind::started, task, 0, type);
        s.at(0, task * 10 + 1, record_kind::counter, 0, std::bit_cast<std::uint64_t>(1e300), type);
        s.at(0, task * 10 + 2, record_kind::scope_begin, 0, 0, type);
        s.at(0, task * 10 + 3, record_kind::scope_end, 0, 0, type);
        s.at(0, task * 10 + 4, record_kind::ended, task);
        ++task;
    }
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    s.at(1, 5, record_kind::counter, 0, std::bit_cast<std::uint64_t>(nothing), 1);
    return s.made;
}

/// Many tasks on four lanes, some on top of waits, with arrows between them: more than what a
/// writer keeps before it writes. Ids need all of their 64 bits.
inline capture many(std::uint32_t tasks) {
    scene s(4);
    const auto a = s.type("integrate", "physics.cpp", 40);
    const auto b = s.type("animate", "animation.cpp", 41);
    std::mt19937_64 random(7);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ended;  // when, which
    const auto id = [](std::uint64_t i) { return (i + 1) << 44 | i; };
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
        std::uint64_t now = lane;
        for (std::uint64_t i = lane; i < tasks; i += 4) {
            s.at(lane, now += 3, record_kind::spawned, id(i), 0, i % 3 == 0 ? a : b);
            if (!ended.empty()) {
                const auto& before = ended[random() % ended.size()];
                now = std::max(now, before.first);
                s.at(lane, now, record_kind::edge, id(i), before.second);
            }
            s.at(lane, now += 100, record_kind::started, id(i), 0, i % 3 == 0 ? a : b);
            s.at(lane, now += 40, record_kind::wait_begin, id(i), 0);
            s.at(lane, now += 1, record_kind::searching);
            s.at(lane, now += 40, record_kind::wait_end, id(i), 0);
            s.at(lane, now += 60 + random() % 1000, record_kind::ended, id(i));
            s.at(lane, now, record_kind::completed, id(i));
            if (i % 8 == lane) ended.emplace_back(now, id(i));
        }
    }
    return s.made;
}

/// All of them, by the names of their files.
inline std::map<std::string, capture> all() {
    return {
        {"whole", whole()},
        {"pipelined", pipelined()},
        {"switched", switched(true)},
        {"switched_somewhere", switched(false)},
        {"open_at_the_end", open_at_the_end()},
        {"ends_without_begins", ends_without_begins()},
        {"dropped", dropped()},
        {"odd_names", odd_names()},
        {"many", many(8000)},
        {"empty", scene(0).made},
        {"no_records", scene(2).made},
    };
}

}  // namespace hand_made
