#pragma once
// Injects faults into a frame loop: a slow game, a slow renderer, a stall, a stage that fails,
// threads that lose their core. Use the injector to find early the problems that a game otherwise
// first meets in a demo.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <cstdint>
#include <exception>
#include <mutex>

BRAID_NAMESPACE_BEGIN

/// A stage throws this exception in the frames that fault_injector::fail() selected.
class BRAID_API injected_fault : public std::exception {
public:
    const char* what() const noexcept override;
};

/// Selects the frames in which a fault occurs: frame `first`, and every `every`-th frame after it.
/// If `every` is 0, the fault occurs only in frame `first`.
struct fault_frames {
    std::uint64_t first = 1;
    std::uint64_t every = 1;
};

/// Set frame_loop_options::faults to use an injector in a loop. The injector must outlive the loop.
/// Any thread may change the injector at any time. While the injector has no faults, a stage pays
/// one load per frame. While the injector has faults, each stage locks a mutex once per frame. In
/// stages that are not serial, each body also pays one load, or two loads while yields() is in
/// effect.
class fault_injector {
public:
    fault_injector() = default;
    fault_injector(const fault_injector&) = delete;
    fault_injector& operator=(const fault_injector&) = delete;

    /// Makes the stage named `stage` compute for `by` longer in the frames `in`, on one thread,
    /// before the bodies of the stage run. A `by` of 0 or below has no effect. The string `stage`
    /// must outlive the injector. Returns false if the injector already has 16 faults.
    BRAID_API bool slow(const char* stage, nanoseconds by, fault_frames in = {});
    /// Makes the stage named `stage` throw injected_fault in the frames `in`, before the bodies of
    /// the stage run. In a build without exceptions, failed() counts the fault and nothing else
    /// happens. The string `stage` must outlive the injector. Returns false if the injector already
    /// has 16 faults.
    BRAID_API bool fail(const char* stage, fault_frames in);
    /// Makes `percent` of all bodies yield their core before they start. `percent` is 0 to 100, and
    /// more counts as 100. Bodies of serial stages never yield. The choice depends only on the
    /// seed, the frame and the body, so it is the same in every run.
    BRAID_API void yields(unsigned percent, std::uint64_t seed = 1);
    /// Removes all faults and stops the yields. The counts below keep their values.
    BRAID_API void clear();

    /// These functions return how many times a stage was slowed, a stage failed, and a body
    /// yielded.
    BRAID_API std::uint64_t slowed() const;
    BRAID_API std::uint64_t failed() const;
    BRAID_API std::uint64_t yielded() const;

    // ---- called by a frame loop; without a frame loop, call these functions yourself -----------

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
    atomic<unsigned> count_{0};    // written only under mutex_
    // relaxed, all below: switches and counts. They publish no other data.
    atomic<unsigned> percent_{0};
    atomic<std::uint64_t> seed_{1};
    atomic<std::uint64_t> slowed_{0}, failed_{0}, yielded_{0};
};

BRAID_NAMESPACE_END
