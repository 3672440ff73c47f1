#pragma once
// Makes a frame loop meet today what the game would make it meet on the day of the demo: a slow
// game, a slow renderer, a stall, a stage that fails, threads that lose their core.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <cstdint>
#include <exception>
#include <mutex>

BRAID_NAMESPACE_BEGIN

/// Thrown in a stage that was given to fault_injector::fail().
class BRAID_API injected_fault : public std::exception {
public:
    const char* what() const noexcept override;
};

/// Which frames a fault is in: `first`, and every `every`-th after it; 0: that one only.
struct fault_frames {
    std::uint64_t first = 1;
    std::uint64_t every = 1;
};

/// Given to a loop as frame_loop_options::faults, and outlives it. Any thread may change it at any
/// time. A stage that has no fault pays one load, and with yields() one more for each body.
class fault_injector {
public:
    fault_injector() = default;
    fault_injector(const fault_injector&) = delete;
    fault_injector& operator=(const fault_injector&) = delete;

    /// The stage computes that much longer (nothing, if `by` is 0 or below) in these frames, on one
    /// thread, before its bodies run. `stage`: its name, which outlives the injector. False: there
    /// are 16 faults already.
    BRAID_API bool slow(const char* stage, nanoseconds by, fault_frames in = {});
    /// The stage throws injected_fault in these frames, before its bodies run. Without exceptions
    /// it only takes no time.
    BRAID_API bool fail(const char* stage, fault_frames in);
    /// So many bodies of a hundred, 0 to 100 (more counts as 100), give up their core before they
    /// begin; which, is drawn from the seed, the frame and the body, and is the same in every run.
    BRAID_API void yields(unsigned percent, std::uint64_t seed = 1);
    BRAID_API void clear();

    /// What happened so far.
    BRAID_API std::uint64_t slowed() const;
    BRAID_API std::uint64_t failed() const;
    BRAID_API std::uint64_t yielded() const;

    // ---- what a loop calls; and you, where you have no loop ------------------------------------

    BRAID_API void begin_stage(const char* stage, std::uint64_t frame);
    BRAID_API void begin_body(std::uint64_t frame, std::uint64_t body);

private:
    struct fault {
        const char* stage;
        nanoseconds by;
        fault_frames in;
        bool fails;
    };
    static constexpr unsigned capacity = 16;
    bool add(const fault& f);

    std::mutex mutex_;
    fault faults_[capacity] = {};  // guarded by mutex_
    atomic<unsigned> count_{0};    // written under mutex_
    // relaxed, all of these: switches and counts, which publish nothing.
    atomic<unsigned> percent_{0};
    atomic<std::uint64_t> seed_{1};
    atomic<std::uint64_t> slowed_{0}, failed_{0}, yielded_{0};
};

BRAID_NAMESPACE_END
