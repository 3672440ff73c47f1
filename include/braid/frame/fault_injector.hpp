#pragma once
// A fault_injector causes faults in a frame loop: a slow game, a slow renderer, a stall, a stage
// that fails, or threads that lose their core. Use it to find problems early that otherwise first
// appear in a demo.

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

/// To use an injector in a loop, set frame_loop_options::faults. The injector must outlive the
/// loop. Any thread may change the injector at any time. While the injector has no faults, each
/// stage costs one load per frame. While it has faults, each stage locks a mutex once per frame. In
/// stages that are not serial, each body also costs one load, or two loads while yields() is in
/// effect.
class fault_injector {
public:
    fault_injector() = default;
    fault_injector(const fault_injector&) = delete;
    fault_injector& operator=(const fault_injector&) = delete;

    /// Makes the stage named `stage` slower by `by` in the frames `in`: one thread computes for
    /// this time before the bodies of the stage run. If `by` is 0 or below, slow() has no effect.
    /// The string `stage` must outlive the injector. Returns false if the injector already has 16
    /// faults.
    BRAID_API bool slow(const char* stage, nanoseconds by, fault_frames in = {});
    /// Makes the stage named `stage` throw injected_fault in the frames `in`, before the bodies of
    /// the stage run. In a build without exceptions, the stage does not throw, and only failed()
    /// counts the fault. The string `stage` must outlive the injector. Returns false if the
    /// injector already has 16 faults.
    BRAID_API bool fail(const char* stage, fault_frames in);
    /// Makes `percent` of all bodies yield their core before they start. A value above 100 is
    /// clamped to 100. Bodies of serial stages never yield. The choice depends only on the seed,
    /// the frame and the body, so it is the same in every run.
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
    // relaxed, for all members below: they are switches and counts, and publish no other data.
    atomic<unsigned> percent_{0};
    atomic<std::uint64_t> seed_{1};
    atomic<std::uint64_t> slowed_{0}, failed_{0}, yielded_{0};
};

BRAID_NAMESPACE_END
