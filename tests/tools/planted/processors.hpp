#pragma once
// Frames that a processor holds up: its queue, a transfer, or work that came to it late.

#include "machine.hpp"

#include <braid/braid.hpp>
#include <braid/device.hpp>

#include <vector>

namespace planted {

namespace processors = braid::device;

inline void skin_group(const processors::group&) { work(1); }
inline void crop_group(const processors::group&) { work(0.05); }
inline void bake_group(const processors::group&) { work(2); }
inline constexpr processors::kernel skin{"skin", &skin_group}, bake{"bake", &bake_group},
    crop{"skin", &crop_group};

inline braid::task_id submits(braid::scheduler& s, processors::processor& to,
                              const processors::kernel& what) {
    return s.spawn({.name = "submit"},
                   [&](braid::task_context& task) { to.submit(task, {.kernel = what}); });
}

/// What the frame does not need came first.
inline void device_queue(braid::scheduler& s) {
    processors::local_store unit(s, {}, {.name = "unit"});
    braid::event queued(s);
    const braid::task_id bakes = s.spawn({.name = "next level"}, [&](braid::task_context& task) {
        for (int i = 0; i < 4; ++i) unit.submit(task, {.kernel = bake});
        queued.set();
    });
    s.do_work_while_waiting_for(queued);
    s.wait(submits(s, unit, skin));
    s.wait(bakes);
}

inline void device_transfer(braid::scheduler& s) {
    processors::local_store unit(s, {.transfer_latency = braid::milliseconds(4)}, {.name = "unit"});
    s.wait(submits(s, unit, skin));
}

/// Nine tasks that take as long; all but the last submit at once.
inline void device_late_submit(braid::scheduler& s) {
    processors::local_store unit(s, {}, {.name = "unit"});
    const auto cull = [&](braid::task_context& task, bool at_once) {
        const auto submit = [&] { unit.submit(task, {.kernel = crop}); };
        if (at_once) submit();
        work(2);
        if (!at_once) submit();
    };
    std::vector<braid::task_id> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(
            s.spawn({.name = "cull"}, [&](braid::task_context& task) { cull(task, true); }));
    }
    s.wait(s.spawn({.name = "cull", .after_all = all},
                   [&](braid::task_context& task) { cull(task, false); }));
}

}  // namespace planted
