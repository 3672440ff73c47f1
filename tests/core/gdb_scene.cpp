// A scheduler in the middle of things, for gdb_test.cpp: gdb runs this program and stops it.
#include "scale.hpp"

#include <braid/async/file_reader.hpp>
#include <braid/braid.hpp>
#include <braid/device.hpp>

#include <atomic>
#include <cstdint>

/// gdb stops here; by then the scene is set.
extern "C" void braid_test_scene_is_set();
extern "C" __attribute__((noinline)) void braid_test_scene_is_set() { asm volatile(""); }

namespace {

/// What others do for the tasks of a scheduler: one submission in flight, which ends when its scope
/// is cancelled, one behind it in the queue, one that comes after it; a read that is in flight, as
/// its thread is taken, and one behind that.
class outside_work {
public:
    outside_work() {
        held_.pass();
        physics_.spawn({.name = "physics"}, [this](braid::task_context& task) {
            const auto hangs = gpu_.submit(task, {.kernel = {"integrate", &nothing}});
            gpu_.submit(task, {.kernel = {"collide", &nothing}});
            gpu_.submit(task, {.kernel = {"resolve", &nothing}, .after = {hangs}});
        });
        braid_test::until([this] { return gpu_.report().submitted == 3; });
        for (const char* name : {"rock.lod0", "rock.lod1"}) {
            const unsigned before = io_.statistics().queued + io_.statistics().in_flight;
            reads_[before] = io_.read_then({.name = "decode"}, own_, 100 * before, 16, [](auto) {},
                                           {.name = name});
            braid_test::until([&] {
                const auto now = io_.statistics();
                return now.queued + now.in_flight == before + 1;
            });
        }
    }
    ~outside_work() {
        physics_.cancel();
        physics_.wait();
        go_.open();
        for (const braid::task_id read : reads_) s_.wait(read);
    }

private:
    static void nothing(const braid::device::group&) {}

    braid::scheduler s_{{.name = "outside", .workers = 1, .background_threads = 1}};
    braid_test::door held_, go_;
    braid::task_id holds_ = s_.spawn(
        {.name = "holds the thread", .runs_as = braid::task_class::background, .may_be_long = true},
        [this] {
            held_.open();
            go_.pass();
        });
    braid::device::fake gpu_{
        s_, {.hang = 1}, {.name = "gpu", .max_in_flight = 1, .hang_after = braid::no_limit}};
    braid::file own_{"/proc/self/exe"};
    braid::file_reader io_{
        s_, {.name = "assets", .in_flight = 1, .back_end = braid::file_back_end::threads}};
    braid::scope physics_{s_};
    braid::task_id reads_[2];
};

}  // namespace

int main() {
    const outside_work outside;
    braid::scheduler s({.name = "engine", .workers = 2, .max_reserves = 4});
    braid_test::door held, go;
    const braid::task_id stream = s.spawn({.name = "stream level", .on = s.worker_thread(0)}, [&] {
        held.open();
        go.pass();
    });
    held.pass();
    const braid::task_id animate = s.spawn(
        {.name = "animate", .after = {stream}, .priority = braid::priority_level::high}, [] {});
    auto frame = s.begin({.name = "frame"}, braid::empty);
    frame.add_child({.name = "skin", .after = {animate}}, [] {});
    const braid::task_id whole = frame.finish();
    std::atomic<bool> deferred{false};
    braid::completion_id disk;
    const braid::task_id load =
        s.spawn({.name = "load", .on = s.worker_thread(1)}, [&](braid::task_context& task) {
            disk = task.defer({.name = "disk"});
            deferred = true;
        });
    braid_test::until([&] { return deferred.load(); });
    // The worker may have slept before: the sleep meant here comes after the task has begun.
    std::atomic<std::uint64_t> sleeps_before{UINT64_MAX};
    const auto sleeps = [&] { return s.statistics(s.worker_thread(1).seat).parks; };
    const braid::task_id waits =
        s.spawn({.name = "present", .on = s.worker_thread(1)}, [&](braid::task_context& task) {
            sleeps_before = sleeps();
            task.wait(whole);
        });
    braid_test::until([&] { return sleeps_before != UINT64_MAX && sleeps() > sleeps_before; });
    braid_test_scene_is_set();
    s.complete(disk);
    go.open();
    s.wait(load);
    s.wait(waits);
    return 0;
}
