#pragma once
// A recorder writes down what a scheduler does and what the program itself marks, for `braid view`
// and `braid report`.
//
//   braid::profile::recorder recorder;
//   braid::scheduler scheduler({.observer = &recorder});
//   recorder.start("run.braid");
//   …
//   recorder.stop();
//
// A capture needs no code: `BRAID_CAPTURE=run.braid ./game` records the first scheduler that has no
// observer of its own, from its construction to the end of the program.

#include "braid/base/time.hpp"
#include "braid/core/observer.hpp"
#include "braid/profile/capture.hpp"

#include <atomic>
#include <memory>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct recorder_options {
    static constexpr std::size_t least_ring_records = 16;
    static constexpr std::size_t most_ring_records = std::size_t{1} << 22;

    /// How many records of 32 bytes the ring of each thread holds. The range is
    /// least_ring_records..most_ring_records. A value outside is clamped, and the value is rounded
    /// up to a power of two. A full ring drops and counts new records until it is emptied.
    std::size_t ring_records = std::size_t{1} << 16;
    static constexpr nanoseconds least_flush_every{100'000};
    /// The interval at which a thread of the recorder empties the rings. The minimum is
    /// least_flush_every.
    nanoseconds flush_every{5'000'000};
    /// Records the exact times at which the system switches threads, if the system shows them. This
    /// costs about 1 µs for each switch.
    bool exact_switches = true;
};

/// Receives the bytes of a capture. The sink must outlive the recording.
class capture_sink {
public:
    /// Takes whole chunks. start() calls it for the header, then the recorder's thread calls it.
    /// Returns false if the sink takes no more.
    virtual bool take(std::span<const std::byte> chunks) = 0;

protected:
    ~capture_sink() = default;
};

/// One recorder at a time records in a process. It may be started again after stop(). While it does
/// not record, tasks cost what they cost without it. While it records, a node of a graph costs one
/// read of a clock, and a spawned task costs two reads and about 15 ns. bench/profile measures
/// this. A recorder observes one scheduler at a time, because ids of tasks are the scheduler's. It
/// outlives that scheduler.
class recorder final : public observer {
public:
    BRAID_API explicit recorder(const recorder_options& options = {});
    /// Calls stop().
    BRAID_API ~recorder();
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// Starts a recording. Any thread may call it, also while tasks run. A task that has begun
    /// before is seen from its next event on. The status says what is wrong: the file cannot be
    /// written, this or another recorder records already, or the system refuses a thread for
    /// the recorder.
    BRAID_API status start(const std::string& path);
    BRAID_API status start(capture_sink& to);
    /// Ends the recording and writes what is left. The status says what went wrong with the file
    /// since start(), such as a full disk. Without a start() nothing is wrong. Threads may go on
    /// with their tasks.
    BRAID_API status stop();

    /// Counts since start(). `threads` includes the lanes of devices.
    struct counts {
        std::uint64_t records = 0, dropped = 0, bytes = 0, threads = 0;
    };
    BRAID_API counts statistics() const;
    /// Returns how much a recording knows of switches on this machine.
    BRAID_API switch_level switches() const;

    BRAID_API void on_event(const task_event& e) override;
    BRAID_API void on_spawn(const task_event& e, bool ready_now) override;
    BRAID_API void on_start(std::uint16_t seat, task_id task, const char* name, unsigned facts,
                            task_id released_by) override;
    BRAID_API void on_end(std::uint16_t seat, task_id task, const char* name,
                          bool completes) override;
    BRAID_API void on_graph_run(const graph_run_events& all) override;
    BRAID_API void on_external(const external_run& done) override;

    // ---- what the program marks itself. Any thread may call. Names follow task_options::name.

    /// Returns the recorder that records now, or null if there is none.
    static recorder* active() noexcept {
        // acquire: pairs with the release in start(); the recorder is ready.
        return active_.load(std::memory_order_acquire);
    }
    BRAID_API void begin_frame(std::uint64_t number, const char* name = "frame");
    BRAID_API void end_frame(std::uint64_t number, const char* name = "frame");
    BRAID_API void begin_scope(const char* name, const std::source_location& where);
    BRAID_API void end_scope(const char* name, const std::source_location& where);
    BRAID_API void count(const char* name, double value);

    struct state;

private:
    status claim();
    void mark(record_kind kind, const char* name, const std::source_location& where,
              std::uint64_t other);
    BRAID_API static std::atomic<recorder*> active_;
    std::unique_ptr<state> state_;
};

/// Marks a stretch of code, which a viewer shows as a bar below its task. Without a recorder it
/// costs one load and one branch.
class scope {
public:
    explicit scope(const char* name,
                   const std::source_location& where = std::source_location::current())
        : recorder_(recorder::active()), name_(name), where_(where) {
        if (recorder_ != nullptr) recorder_->begin_scope(name_, where_);
    }
    ~scope() {
        if (recorder_ != nullptr && recorder_ == recorder::active()) {
            recorder_->end_scope(name_, where_);
        }
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

private:
    recorder* recorder_;
    const char* name_;
    std::source_location where_;
};

/// Records a value over time. Each name is a curve of its own.
inline void count(const char* name, double value) {
    if (recorder* r = recorder::active()) r->count(name, value);
}

}  // namespace profile
BRAID_NAMESPACE_END
