#pragma once
// The recorder's own thread and what it writes: rings are emptied, ticks become times, switches
// that the system saw are put between the records.

#include "braid/profile/recorder.hpp"
#include "braid/profile/sinks.hpp"
#include "profile/capture_writer.hpp"
#include "profile/recorded_thread.hpp"
#include "profile/tick_clock.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct recorder::state {
    explicit state(const recorder_options& o);

    /// What is kept of the calling thread. Null: nothing is recorded, or the thread is ending.
    recorded_thread* recording_thread();
    /// The same where no more than a look is needed; null also where more is.
    recorded_thread* thread_at_hand() const;
    recorded_thread* begin_recording(std::uint64_t capture_run);
    /// What is kept of the calling thread, made at its first event. Null: the thread is ending.
    recorded_thread* own_thread();
    void begin_thread(recorded_thread& t);
    /// What a thread of that number keeps of captures, if it has nothing yet. By itself, or before
    /// a capture begins.
    void give_records(recorded_thread& t, std::uint32_t number);
    void seat_thread(const task_event& e);
    status begin(recorder& by, capture_sink& to, switch_level level);
    void end(recorder& by);
    void work();
    /// Under the lock of `capture`. `last`: nothing is held back.
    void flush(bool last);

    const recorder_options options;
    const std::uint64_t serial;    // of recorders in this process: thread-local pointers name it
    atomic<std::uint64_t> run{0};  // the capture that is being made, of all recorders'; 0: none
    type_table types;
    plan_table plans;

    std::mutex threads_mutex;
    std::vector<std::shared_ptr<recorded_thread>> threads;

    std::mutex control;  // one start() or stop() at a time

    // ---- of the capture that is being made
    std::mutex capture;
    std::condition_variable woken;
    bool ends = false;
    platform::thread_request request;
    platform::thread_handle thread = 0;
    file_sink file;
    capture_sink* sink = nullptr;
    capture_writer writer;
    tick_clock clock;
    std::uint32_t types_written = 1, lanes = 0;
    std::uint64_t records = 0, dropped = 0, bytes = 0;
    bool sink_open = false;

private:
    void forget_captures_before();
    void take(recorded_thread& t);
    void expand(record r, std::vector<record>& to) const;
    void write(recorded_thread& t, std::int64_t until);
    void write_devices(std::uint32_t transfer);
    void hand_on();

    std::vector<std::shared_ptr<recorded_thread>> now_there_;
    std::vector<record> merged_;
    device_lanes devices_;
};

}  // namespace profile
BRAID_NAMESPACE_END
