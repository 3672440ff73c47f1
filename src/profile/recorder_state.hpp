#pragma once
// The recorder's own thread and what it writes: rings are emptied, ticks become times, switches
// that the system saw are put between the records.

#include "braid/profile/recorder.hpp"
#include "braid/profile/sinks.hpp"
#include "profile/capture_writer.hpp"
#include "profile/recorded_thread.hpp"
#include "profile/tick_clock.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct recorder::state {
    explicit state(const recorder_options& o);

    /// Of the calling thread, if there is a capture.
    recorded_thread* recording_thread();
    /// Of the calling thread; made at its first event.
    recorded_thread& own_thread();
    void seat_thread(const task_event& e);
    status begin(recorder& self, capture_sink& to);
    void work();
    /// Under the lock of `capture`. `last`: nothing is held back.
    void flush(bool last);

    const recorder_options options;
    const std::uint64_t serial;    // of recorders in this process: thread-local pointers name it
    atomic<std::uint32_t> run{0};  // number of the capture that is being made; 0: none
    type_table types;

    std::mutex threads_mutex;
    std::deque<recorded_thread> threads;

    // ---- of the capture that is being made
    std::mutex capture;
    std::uint32_t last_run = 0;
    std::condition_variable woken;
    bool ends = false;
    std::thread thread;
    file_sink file;
    capture_sink* sink = nullptr;
    capture_writer writer;
    tick_clock clock;
    std::uint32_t types_written = 1, lanes = 0;
    std::uint64_t records = 0, dropped = 0, bytes = 0;
    bool sink_open = false;

private:
    void take(recorded_thread& t);
    void write(recorded_thread& t, std::int64_t until);
    void hand_on();

    std::vector<recorded_thread*> now_there_;
};

}  // namespace profile
BRAID_NAMESPACE_END
