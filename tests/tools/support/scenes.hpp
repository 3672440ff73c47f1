#pragma once
// Frames with one thing wrong in each, and one with nothing wrong. The main thread (lane 0) begins
// the frame, spawns, waits and ends it; workers are the lanes from 1 on.
#include "capture_builder.hpp"

namespace braid_test {

class scene_builder : public capture_builder {
public:
    explicit scene_builder(unsigned workers = 3) {
        lane(profile::lane_kind::main);
        for (unsigned i = 0; i < workers; ++i) lane();
        skin = type("skin", "game/skin.cpp", 12);
        other = type("other", "other.cpp", 3);
        draw = type("draw", "draw.cpp", 7);
    }
    /// Frame 37, from 0 to `end`, in which the main thread does nothing but wait for that task.
    profile::capture whole(std::uint64_t end, std::uint64_t awaited) {
        say(0, 0, record_kind::frame_begin, 0, 37);
        say(0, 8, record_kind::wait_begin, 0, awaited);
        say(0, 9, record_kind::parked).say(0, end - 2, record_kind::unparked);
        say(0, end - 1, record_kind::wait_end, 0, awaited);
        say(0, end, record_kind::frame_end, 0, 37);
        return sleep_between(end).make(end);
    }
    std::uint32_t skin, other, draw;
};

/// Two rounds of equal work on three workers, and a draw.
inline profile::capture healthy_scene() {
    scene_builder b;
    for (std::uint64_t i = 1; i <= 6; ++i) b.spawn(0, 5, i, b.skin);
    b.spawn(0, 5, 10, b.draw, {1, 2, 3, 4, 5, 6});
    for (std::uint32_t w = 1; w <= 3; ++w) {
        b.run(w, 10 + w, 3010 + w, w, b.skin).run(w, 3012 + w, 6010 + w, 3 + w, b.skin);
    }
    b.ready(3, 6014, 10, 6).run(3, 6015, 7000, 10, b.draw);
    return b.whole(7010, 10);
}

/// skin may run on worker 1 only, which is busy for 8.4 ms; the two others sleep.
inline profile::capture affinity_scene() {
    scene_builder b;
    b.spawn(0, 5, 1, b.other).run(1, 10, 8400, 1, b.other);
    b.spawn(0, 5, 2, b.skin, {}, 1 | profile::spawn_restricted).run(1, 8405, 20000, 2, b.skin);
    b.spawn(0, 5, 3, b.draw, {2}).ready(1, 20001, 3, 2).run(1, 20003, 24000, 3, b.draw);
    return b.whole(24100, 3);
}

/// skin waits for a disk for 5 ms, and draw for skin.
inline profile::capture external_scene() {
    scene_builder b;
    const std::uint32_t outside = b.lane(profile::lane_kind::other);
    const std::uint32_t disk = b.type("disk", "io.cpp", 21);
    b.spawn(0, 5, 1, b.skin).say(1, 10, record_kind::started, 1, 0, b.skin);
    b.say(1, 50, record_kind::deferred, 9, 1, disk).say(1, 100, record_kind::ended, 1);
    b.say(outside, 5100, record_kind::settled, 9, 1, disk);
    b.say(outside, 5101, record_kind::completed, 1);
    b.spawn(0, 5, 2, b.draw, {1}).ready(outside, 5102, 2, 1).run(1, 5104, 6100, 2, b.draw);
    return b.whole(6150, 2);
}

/// skin is suspended three times: for a nap of 2 ms, for other, which it spawns, and for a nap of
/// 1.8 ms. It goes on on another lane each time, the last time on the first.
inline profile::capture suspended_scene() {
    scene_builder b;
    const std::uint32_t nap = b.type("nap", "nap.cpp", 8);
    const auto piece = [&](std::uint32_t lane, std::uint64_t begin, std::uint64_t end, bool last) {
        const bool first = begin == 10;
        b.say(lane, begin, first ? record_kind::started : record_kind::resumed, 1, 0, b.skin);
        b.say(lane, end, last ? record_kind::ended : record_kind::suspended, 1);
    };
    b.spawn(0, 5, 1, b.skin);
    piece(3, 10, 112, false);
    b.say(3, 110, record_kind::deferred, 91, 1, nap).say(3, 110, record_kind::edge, 1, 91);
    b.say(1, 2100, record_kind::settled, 91, 1, nap).ready(1, 2101, 1, 91);
    piece(2, 2110, 2200, false);
    b.spawn(2, 2190, 2, b.other).say(2, 2195, record_kind::edge, 1, 2);
    b.run(1, 2195, 3100, 2, b.other).ready(1, 3101, 1, 2);
    piece(1, 3110, 3212, false);
    b.say(1, 3210, record_kind::deferred, 92, 1, nap).say(1, 3210, record_kind::edge, 1, 92);
    b.say(2, 5000, record_kind::settled, 92, 1, nap).ready(2, 5001, 1, 92);
    piece(3, 5010, 5500, true);
    b.say(3, 5500, record_kind::completed, 1);
    return b.whole(5550, 1);
}

/// skin is off its core from 2 to 5 ms.
inline profile::capture preemption_scene() {
    scene_builder b;
    for (std::uint64_t i = 1; i <= 2; ++i) b.spawn(0, 5, i, b.other);
    b.run(2, 10, 8000, 1, b.other).run(3, 10, 8000, 2, b.other);
    b.spawn(0, 5, 3, b.skin).away(1, 2000, 5000).run(1, 10, 9000, 3, b.skin);
    b.spawn(0, 5, 4, b.draw, {3}).ready(1, 9001, 4, 3).run(1, 9003, 10000, 4, b.draw);
    return b.whole(10050, 4);
}

/// A background thread takes the core of skin's thread from 2 to 5 ms.
inline profile::capture shared_core_scene() {
    scene_builder b;
    const std::uint32_t background = b.lane(profile::lane_kind::background);
    const std::uint32_t import = b.type("import", "import.cpp", 99);
    for (std::uint64_t i = 1; i <= 2; ++i) b.spawn(0, 5, i, b.other);
    b.run(2, 10, 8000, 1, b.other).run(3, 10, 8000, 2, b.other);
    b.spawn(0, 5, 9, import, {}, profile::spawn_background)
        .run(background, 1999, 5000, 9, import, 4);
    b.spawn(0, 5, 3, b.skin).away(1, 2000, 5000, 4).run(1, 10, 9000, 3, b.skin, 4);
    b.spawn(0, 5, 4, b.draw, {3}).ready(1, 9001, 4, 3).run(1, 9003, 10000, 4, b.draw);
    return b.whole(10050, 4);
}

/// Both workers import something for 6 ms before they come to skin.
inline profile::capture background_scene() {
    scene_builder b(2);
    const std::uint32_t import = b.type("import", "import.cpp", 99);
    for (std::uint32_t w = 1; w <= 2; ++w) {
        b.spawn(0, 4, w, import, {}, profile::spawn_background).run(w, 6, 6000, w, import);
    }
    b.spawn(0, 6, 3, b.skin).run(1, 6002, 8000, 3, b.skin);
    b.spawn(0, 6, 4, b.draw, {3}).ready(1, 8001, 4, 3).run(1, 8003, 9000, 4, b.draw);
    return b.whole(9050, 4);
}

/// Five tasks, one after the other, four of them of one type.
inline profile::capture chain_scene() {
    scene_builder b;
    std::uint64_t at = 10;
    for (std::uint64_t i = 1; i <= 5; ++i) {
        const std::uint32_t type = i == 3 ? b.skin : b.other;
        const std::uint64_t end = at + (i == 3 ? 3000 : 2000);
        if (i == 1) {
            b.spawn(0, 5, i, type);
        } else {
            b.spawn(0, 5, i, type, {i - 1}).ready(1, at - 1, i, i - 1);
        }
        b.run(1, at, end, i, type);
        at = end + 2;
    }
    return b.whole(at + 10, 5);
}

/// 3,000 tasks of 1 us, each of which costs the scheduler 2 us.
inline profile::capture fine_scene() {
    scene_builder b;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        b.spawn(0, 5, 1 + i, b.skin);
        b.run(1 + static_cast<std::uint32_t>(i % 3), 10 + i / 3 * 3, 11 + i / 3 * 3, 1 + i, b.skin);
    }
    return b.whole(3020, 0);
}

/// Four others run before skin, on which draw waits.
inline profile::capture priority_scene() {
    scene_builder b(2);
    for (std::uint64_t i = 1; i <= 4; ++i) b.spawn(0, 5, i, b.other);
    b.run(1, 10, 3010, 1, b.other).run(2, 10, 3010, 2, b.other);
    b.run(1, 3011, 6010, 3, b.other).run(2, 3011, 6010, 4, b.other);
    b.spawn(0, 5, 5, b.skin).run(1, 6011, 8010, 5, b.skin);
    b.spawn(0, 5, 6, b.draw, {5}).ready(1, 8011, 6, 5).run(1, 8012, 14000, 6, b.draw);
    return b.whole(14050, 6);
}

/// One skin of six takes 8 ms instead of 1.
inline profile::capture straggler_scene() {
    scene_builder b;
    for (std::uint64_t i = 1; i <= 6; ++i) b.spawn(0, 5, i, b.skin);
    b.spawn(0, 5, 10, b.draw, {1, 2, 3, 4, 5, 6});
    b.run(1, 10, 1010, 1, b.skin).run(1, 1012, 2010, 2, b.skin).run(1, 2012, 3010, 3, b.skin);
    b.run(2, 10, 1010, 4, b.skin).run(2, 1012, 2010, 5, b.skin);
    b.run(3, 10, 8010, 6, b.skin);
    b.ready(3, 8011, 10, 6).run(3, 8012, 9000, 10, b.draw);
    return b.whole(9050, 10);
}

/// skin is ready at once, but all workers sleep for 3 ms.
inline profile::capture late_wake_scene() {
    scene_builder b;
    b.spawn(0, 5, 1, b.skin).run(1, 3005, 5010, 1, b.skin);
    b.spawn(0, 5, 2, b.draw, {1}).ready(1, 5011, 2, 1).run(1, 5012, 6000, 2, b.draw);
    return b.whole(6050, 2);
}

/// What a task's time is made of: parts of joins on other lanes and on top of other tasks, one of
/// them off its core, a child on top of a wait, an id that serves twice, types told in two ways.
/// skin has tasks of 2,551, 500 and 100 us of work, other of 300 and 1,000, draw of 199 and 885.
inline profile::capture joins_scene() {
    scene_builder b;
    constexpr std::uint64_t outer = 88, inner = 89;
    const std::uint32_t placeless = b.type("skin");  // a recorder knows no place at the start
    b.spawn(0, 5, 1, b.skin).say(1, 10, record_kind::started, 1, 0, placeless);
    b.say(1, 20, record_kind::forked, 1, outer);
    b.say(2, 30, record_kind::job_started, 1, outer, 1).away(2, 200, 300);
    b.say(2, 350, record_kind::forked, 1, inner).say(2, 1000, record_kind::job_ended, 1, outer);
    b.wait(1, 500, 1010, 1, 0).say(1, 1011, record_kind::joined, 1, outer);
    b.say(1, 2001, record_kind::ended, 1).say(1, 2001, record_kind::completed, 1);
    // The child, while its parent waits.
    b.spawn(1, 505, 2, b.other, {}, 1, 1).run(1, 600, 900, 2, b.other);
    // Inside of a body that does not wait.
    b.spawn(0, 5, 3, b.other).say(3, 10, record_kind::started, 3, 0, b.other);
    b.say(3, 400, record_kind::job_started, 1, inner, 2);
    b.say(3, 600, record_kind::job_ended, 1, inner);
    b.say(3, 1210, record_kind::ended, 3).say(3, 1210, record_kind::completed, 3);
    b.spawn(0, 5, 4, b.skin).run(2, 1002, 1502, 4, b.skin);
    // One id, two tasks.
    b.spawn(0, 5, 5, b.skin).run(3, 1212, 1312, 5, b.skin);
    b.spawn(3, 1320, 5, b.draw).run(3, 1350, 1549, 5, b.draw);
    b.spawn(0, 6, 6, b.draw, {1, 3, 4}).ready(1, 2001, 6, 1).run(1, 2005, 2890, 6, b.draw);
    return b.whole(2900, 6);
}

}  // namespace braid_test
