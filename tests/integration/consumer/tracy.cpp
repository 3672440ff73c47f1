#include <braid/braid.hpp>
#include <braid/profile/tracy.hpp>
#include <stand_in/calls.hpp>

/// What Tracy's stand-in has heard.
int zones_of_ten_tasks() {
    {
        braid::profile::tracy_observer tracy;
        braid::scheduler scheduler({.observer = &tracy});
        for (int i = 0; i < 10; ++i) scheduler.wait(scheduler.spawn({.name = "task"}, [] {}));
    }
    int begun = 0, ended = 0;
    for (const stand_in::call& c : stand_in::take_calls()) {
        begun += c.kind == stand_in::what::zone_begin;
        ended += c.kind == stand_in::what::zone_end;
    }
    return begun == ended ? begun : -1;
}
