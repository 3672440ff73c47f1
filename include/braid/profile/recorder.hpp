#pragma once
// Writes down what a scheduler does, and what the program itself marks, for `braid view` and
// `braid report`.
//
//   braid::profile::recorder recorder;
//   braid::scheduler scheduler({.observer = &recorder});
//   recorder.start("run.braid");
//   …
//   recorder.stop();
//
// Without a line of code: BRAID_CAPTURE=run.braid ./game records the first scheduler that has
// no observer of its own, from its construction to the end of the program.

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

    /// How many each thread has room for, 32 bytes each, least_ring_records..most_ring_records
    /// (what lies outside counts as the nearest), rounded up to a power of two. One that is full
    /// drops and counts what comes, until it is emptied.
    std::size_t ring_records = std::size_t{1} << 16;
    static constexpr nanoseconds least_flush_every{100'000};
    /// How often the rings are emptied, by a thread of the recorder; less than least_flush_every
    /// counts as that.
    nanoseconds flush_every{5'000'000};
    /// The exact times at which the system switches threads, where it allows to see them. Costs
    /// about 1 µs a switch.
    bool exact_switches = true;
};

/// Where the bytes of a capture go. Called on the recorder's thread, with whole chunks. Outlives
/// the recording.
class capture_sink {
public:
    /// False: it takes no more.
    virtual bool take(std::span<const std::byte> chunks) = 0;

protected:
    ~capture_sink() = default;
};

/// One at a time records; it may be started again. While it does not record, tasks cost what they
/// cost without it. Recording, a node of a graph costs one read of a clock, a spawned task two and
/// about 15 ns; bench/profile measures it. Observes one scheduler at a time, since ids of tasks are
/// the scheduler's, and outlives it.
class recorder final : public observer {
public:
    BRAID_API explicit recorder(const recorder_options& options = {});
    /// stop().
    BRAID_API ~recorder();
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// Any thread, while tasks run: what has begun before is seen from its next event on. Says what
    /// is wrong: the file cannot be written, or this recorder or another one records.
    BRAID_API status start(const std::string& path);
    BRAID_API status start(capture_sink& to);
    /// Writes what is left. Says what went wrong since start(), such as a full disk; without a
    /// start() nothing did. Threads may go on with their tasks.
    BRAID_API status stop();

    /// Since start().
    struct counts {
        std::uint64_t records = 0, dropped = 0, bytes = 0, threads = 0;
    };
    BRAID_API counts statistics() const;
    /// How much is known of switches on this machine.
    BRAID_API switch_level switches() const;

    BRAID_API void on_event(const task_event& e) override;
    BRAID_API void on_spawn(const task_event& e, bool ready_now) override;
    BRAID_API void on_start(std::uint16_t seat, task_id task, const char* name, unsigned facts,
                            task_id released_by) override;
    BRAID_API void on_end(std::uint16_t seat, task_id task, const char* name,
                          bool completes) override;
    BRAID_API void on_graph_run(const graph_run_events& all) override;
    BRAID_API void on_external(const external_run& done) override;

    // ---- what the program marks itself; any thread. Text is as names of tasks are.

    /// The recorder that records now, or null.
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

/// A stretch of code that is seen as a bar, below the task that it is in. Without a recorder: one
/// load and one branch.
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

/// A value over time, one curve for each name.
inline void count(const char* name, double value) {
    if (recorder* r = recorder::active()) r->count(name, value);
}

}  // namespace profile
BRAID_NAMESPACE_END
