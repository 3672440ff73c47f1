#pragma once
// Two causes at one moment: each holds up a chain of its own on threads of its own, both chains end
// after 12 ms, and without one of the causes alone the frame would take as long as before.
#include "scenes.hpp"

#include <array>

namespace braid_test {

class pair_builder : public capture_builder {
public:
    static constexpr std::uint64_t end = 12'000;
    using planting = void (pair_builder::*)();

    pair_builder() {
        lane(profile::lane_kind::main);
        // Threads of the program that could help, and have nothing to do.
        for (int i = 0; i < 8; ++i) {
            const std::uint32_t helper = lane(profile::lane_kind::main);
            say(helper, 3, record_kind::wait_begin).say(helper, 4, record_kind::parked);
        }
        filler_ = type("filler", "filler.cpp", 1);
    }
    profile::capture plant(planting a, planting b) {
        say(0, 0, record_kind::frame_begin, 0, 37);
        (this->*a)();
        (this->*b)();
        const std::uint64_t last = next_++;
        say(0, 6, record_kind::spawned, last, 0, filler_, 1);
        for (const std::uint64_t task : ends_) say(0, 6, record_kind::edge, last, task);
        say(0, 8, record_kind::wait_begin, 0, last).say(0, 9, record_kind::parked);
        say(last_lane_, end + 1, record_kind::ready, last, ends_.back());
        run(last_lane_, end + 2, end + 10, last, filler_);
        say(0, end + 15, record_kind::unparked).say(0, end + 16, record_kind::wait_end, 0, last);
        return say(0, end + 20, record_kind::frame_end, 0, 37).make(end + 20);
    }

    /// May run on one worker only, which is busy for 6 ms, while another has nothing to do.
    void affinity() {
        const std::uint32_t busy = worker(), idle = worker();
        const std::uint32_t stream = type("stream"), upload = type("upload", "upload.cpp", 2);
        begin(busy, 6000, stream);
        say(idle, 6, record_kind::searching);
        spawn(0, 5, next_, upload, {}, 1 | profile::spawn_restricted);
        run(busy, 6003, end, next_, upload);
        finish(busy);
    }
    /// A thread of the program sleeps 6 ms longer than what it waits for.
    void late_wake() {
        const std::uint32_t on = worker(), sleeper = lane(profile::lane_kind::main);
        const std::uint32_t hop = type("hop", "hop.cpp", 3), rest = type("follow");
        const std::uint64_t awaited = begin(on, 1000, hop);
        say(on, 1001, record_kind::searching);
        wait(sleeper, 20, 6991, 0, awaited);
        say(sleeper, 21, record_kind::parked).say(sleeper, 6990, record_kind::unparked);
        spawn(sleeper, 6992, next_, rest).run(on, 6994, end, next_, rest);
        say(sleeper, 6996, record_kind::wait_begin).say(sleeper, 6997, record_kind::parked);
        finish(on);
    }
    /// A background thread has the core of a task for 4 ms.
    void background() {
        const std::uint32_t on = worker(), back = lane(profile::lane_kind::background);
        const std::uint32_t bake = type("bake", "bake.cpp", 4), tile = type("lit tile");
        spawn(0, 5, next_, bake, {}, profile::spawn_background)
            .run(back, 1999, 6000, next_, bake, 40);
        ++next_;
        spawn(0, 5, next_, tile).away(on, 2000, 6000, 40).run(on, 10, end, next_, tile, 40);
        finish(on);
    }
    void preemption() {
        const std::uint32_t on = worker(), solve = type("solve", "solve.cpp", 5);
        spawn(0, 5, next_, solve).away(on, 2500, 6500, 41).run(on, 10, end, next_, solve, 41);
        finish(on);
    }
    /// What the rest of a chain waits for comes after sixteen others.
    void priority() {
        const std::uint32_t a = worker(), b = worker();
        const std::uint32_t light = type("light", "light.cpp", 6), decal = type("decal");
        begin(a, 4000, filler_);
        begin(b, 4000, filler_);
        for (std::uint64_t i = 0; i < 16; ++i) {
            const std::uint64_t at = 4002 + i / 2 * 500;
            spawn(a, 3990, next_, decal).run(i % 2 == 0 ? a : b, at, at + 498, next_, decal);
            ++next_;
        }
        spawn(a, 3990, next_, light).run(a, 8002, 9998, next_, light);
        const std::uint64_t before = next_++;
        const std::uint32_t shade = type("shade");
        spawn(a, 3990, next_, shade, {before}).ready(a, 9999, next_, before);
        run(a, 10'001, end, next_, shade);
        say(b, 8001, record_kind::searching);
        finish(a);
    }
    /// One of six takes several times what is usual.
    void straggler() {
        const std::uint32_t on = worker(), other = worker();
        const std::uint32_t part = type("part", "part.cpp", 7);
        for (std::uint64_t i = 0; i < 6; ++i) {
            spawn(0, 5, next_, part).run(other, 10 + 500 * i, 508 + 500 * i, next_, part);
            ++next_;
        }
        say(other, 3010, record_kind::searching);
        spawn(0, 5, next_, part).run(on, 10, end, next_, part);
        finish(on);
    }
    /// 1,498 tasks of 1 us, each of which costs the scheduler 15 us.
    void too_fine() {
        const std::uint32_t lanes[] = {worker(), worker()};
        const std::uint32_t dust = type("dust", "dust.cpp", 8);
        for (std::uint64_t i = 0; i < 1498; ++i) {
            const std::uint64_t at = 16 + i / 2 * 16;
            spawn(0, 5, next_, dust).run(lanes[i % 2], at, at + 1, next_, dust);
            ++next_;
        }
        --next_;
        finish(lanes[1]);
    }
    void serial_chain() {
        const std::uint32_t on = worker(), link = type("link", "link.cpp", 9);
        std::uint64_t before = 0;
        for (std::uint64_t i = 0; i < 6; ++i) {
            const std::uint64_t at = 10 + i * 1998;
            if (i == 0) {
                spawn(0, 5, next_, link);
            } else {
                spawn(0, 5, next_, link, {before}).ready(on, at - 1, next_, before);
            }
            run(on, at, i == 5 ? end : at + 1996, next_, link);
            before = next_++;
        }
        --next_;
        finish(on);
    }

private:
    std::uint32_t worker() { return lane(); }
    std::uint64_t begin(std::uint32_t on, std::uint64_t until, std::uint32_t type) {
        spawn(0, 5, next_, type).run(on, 10, until, next_, type);
        return next_++;
    }
    /// The task that was said last is what the frame's end needs of this chain.
    void finish(std::uint32_t on) {
        ends_.push_back(next_++);
        last_lane_ = on;
    }

    std::uint64_t next_ = 1;
    std::uint32_t filler_ = 0, last_lane_ = 0;
    std::vector<std::uint64_t> ends_;
};

struct planting {
    const char* cause;
    const char* task;  // that it is about
    pair_builder::planting plant;
};
inline constexpr std::array plantings{
    planting{"affinity", "'upload' (upload.cpp:2)", &pair_builder::affinity},
    planting{"late_wake", "a sleeping thread", &pair_builder::late_wake},
    planting{"background", "'bake' (bake.cpp:4)", &pair_builder::background},
    planting{"preemption", "'solve' (solve.cpp:5)", &pair_builder::preemption},
    planting{"priority", "'light' (light.cpp:6)", &pair_builder::priority},
    planting{"straggler", "'part' (part.cpp:7)", &pair_builder::straggler},
    planting{"too_fine", "'dust' (dust.cpp:8)", &pair_builder::too_fine},
    planting{"serial_chain", "'link' (link.cpp:9)", &pair_builder::serial_chain},
};

}  // namespace braid_test
