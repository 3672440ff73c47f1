#pragma once
// A recorder records what a scheduler does, and the frames, scopes and counters that the program
// marks. The commands `braid view` and `braid report` show the recording.
//
//   braid::profile::recorder recorder;
//   braid::scheduler scheduler({.observer = &recorder});
//   recorder.start("run.braid");
//   …
//   recorder.stop();
//
// A recording is also possible without code: `BRAID_CAPTURE=run.braid ./game` records the first
// scheduler that has no observer of its own, from its construction to the end of the program.

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
    /// least_ring_records..most_ring_records. A value outside the range is clamped to the range,
    /// and the result is rounded up to a power of two. While a ring is full, new records are
    /// dropped and counted.
    std::size_t ring_records = std::size_t{1} << 16;
    static constexpr nanoseconds least_flush_every{100'000};
    /// The interval at which a thread of the recorder empties the rings. The minimum is
    /// least_flush_every.
    nanoseconds flush_every{5'000'000};
    /// If true, the recorder records the exact times at which the operating system switches
    /// threads, if the operating system provides these times. This costs about 1 µs for each
    /// switch.
    bool exact_switches = true;
};

/// Receives the bytes of a capture. A sink must outlive the recording.
class capture_sink {
public:
    /// Receives one or more complete chunks of a capture. recorder::start() calls take() with the
    /// header. Later calls come from the recorder's own thread. Must return false if the sink
    /// accepts no more bytes.
    virtual bool take(std::span<const std::byte> chunks) = 0;

protected:
    ~capture_sink() = default;
};

/// Only one recorder in a process can record at a time. A recorder may be started again after
/// stop(). While a recorder is not recording, tasks cost the same as without a recorder. While it
/// is recording, each node of a graph costs one more clock read. Each spawned task costs two more
/// clock reads and about 15 ns. bench/profile measures these costs. A recorder must observe only
/// one scheduler at a time, because each scheduler has its own task ids. The recorder must outlive
/// the scheduler.
class recorder final : public observer {
public:
    BRAID_API explicit recorder(const recorder_options& options = {});
    /// Calls stop().
    BRAID_API ~recorder();
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// Starts a recording. Any thread may call start(), and tasks may run during the call. A task
    /// that started before the call appears in the recording from its next event on. The status
    /// reports a failure if the file cannot be written, if this or another recorder is already
    /// recording, or if the operating system refuses a thread for the recorder.
    BRAID_API status start(const std::string& path);
    BRAID_API status start(capture_sink& to);
    /// Ends the recording and writes the remaining records. The status describes file errors since
    /// start(), such as a full disk. If start() was not called before, the status reports success.
    /// Threads may continue to run tasks during the call.
    BRAID_API status stop();

    /// The counts since start(). `threads` is the number of lanes, including the lanes of devices.
    struct counts {
        std::uint64_t records = 0, dropped = 0, bytes = 0, threads = 0;
    };
    BRAID_API counts statistics() const;
    /// Returns how much a recording on this machine contains about thread switches.
    BRAID_API switch_level switches() const;

    BRAID_API void on_event(const task_event& e) override;
    BRAID_API void on_spawn(const task_event& e, bool ready_now) override;
    BRAID_API void on_start(std::uint16_t seat, task_id task, const char* name, unsigned facts,
                            task_id released_by) override;
    BRAID_API void on_end(std::uint16_t seat, task_id task, const char* name,
                          bool completes) override;
    BRAID_API void on_graph_run(const graph_run_events& all) override;
    BRAID_API void on_external(const external_run& done) override;

    // ---- Marks that the program sets. Any thread may call these functions. Names must live as
    // long as task_options::name requires.

    /// Returns the recorder that is recording, or null if no recorder is.
    static recorder* active() noexcept {
        // acquire: pairs with the acq_rel in claim(), so that the state of the recorder is visible.
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

/// Marks a section of code. A viewer shows the section as a bar below its task. If no recorder is
/// recording, this costs one load and one branch.
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

/// Records the current value of a counter. A viewer shows one curve for each name.
inline void count(const char* name, double value) {
    if (recorder* r = recorder::active()) r->count(name, value);
}

}  // namespace profile
BRAID_NAMESPACE_END
