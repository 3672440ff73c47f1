#pragma once
// Injects faults into a frame loop: a slow game, a slow renderer, a stall, a stage that fails,
// threads that lose their core. Use it to test early what a game otherwise meets first in a demo.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <cstdint>
#include <exception>
#include <mutex>

BRAID_NAMESPACE_BEGIN

/// Thrown in a stage that fault_injector::fail() chose.
class BRAID_API injected_fault : public std::exception {
public:
    const char* what() const noexcept override;
};

/// The frames that a fault occurs in: frame `first`, and every `every`-th frame after it. With
/// `every` = 0 it occurs in frame `first` only.
struct fault_frames {
    std::uint64_t first = 1;
    std::uint64_t every = 1;
};

/// A loop gets the injector as frame_loop_options::faults, and the injector must outlive the loop.
/// Any thread may change it at any time. While it has no faults, a stage pays one load for it.
/// While it has any, every stage locks a mutex once a frame. Each body of a stage that is not
/// serial pays one load, or two with yields().
class fault_injector {
public:
    fault_injector() = default;
    fault_injector(const fault_injector&) = delete;
    fault_injector& operator=(const fault_injector&) = delete;

    /// Makes the stage named `stage` compute for `by` longer in the frames `in`, on one thread,
    /// before its bodies run. Nothing happens if `by` is 0 or below. The string `stage` must
    /// outlive the injector. Returns false if there are 16 faults already.
    BRAID_API bool slow(const char* stage, nanoseconds by, fault_frames in = {});
    /// Makes the stage throw injected_fault in the frames `in`, before its bodies run. Without
    /// exceptions, the fault is only counted in failed(). The lifetime of `stage` and the result
    /// are as for slow().
    BRAID_API bool fail(const char* stage, fault_frames in);
    /// Makes `percent` of all bodies give up their core before they begin: 0 to 100, more counts as
    /// 100. Bodies of serial stages are left out. The choice is drawn from the seed, the frame and
    /// the body, and is the same in every run.
    BRAID_API void yields(unsigned percent, std::uint64_t seed = 1);
    /// Removes all faults and stops the yields. The counts stay.
    BRAID_API void clear();

    /// How many times a stage was slowed, a stage failed, and a body yielded, so far.
    BRAID_API std::uint64_t slowed() const;
    BRAID_API std::uint64_t failed() const;
    BRAID_API std::uint64_t yielded() const;

    // ---- what a loop calls, and what you call where you have no loop ---------------------------

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
    // relaxed, all below: switches and counts, which publish nothing.
    atomic<unsigned> percent_{0};
    atomic<std::uint64_t> seed_{1};
    atomic<std::uint64_t> slowed_{0}, failed_{0}, yielded_{0};
};

BRAID_NAMESPACE_END
