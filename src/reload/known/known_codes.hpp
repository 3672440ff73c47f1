#pragma once
// All code that was loaded, for the handler of faults: it says in which of it a thread has crashed.
// Code that was replaced loses the right to run, and a thread that calls it all the same is stopped
// there, with a sentence.

#include "reload/platform/platform.hpp"

#include <span>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct known_code;

/// The codes of one modules object. One thread; replaced code may run again when this ends, or the
/// process.
class known_codes {
public:
    /// `names`: faults in the code are named. `stops`: replaced code is not run any more.
    known_codes(bool names, bool stops) : names_(names), stops_(stops) {}
    ~known_codes();
    known_codes(const known_codes&) = delete;
    known_codes& operator=(const known_codes&) = delete;

    /// What may fail for want of memory, before any code goes over.
    void reserve(std::size_t more);
    /// `file`: that the code was loaded from. After reserve().
    void add(const platform::image_place& place, const std::string& module,
             const std::string& build_id, const std::string& file) noexcept;
    /// The code was replaced. While everything rests.
    void retire(const platform::image_place& place) noexcept;
    /// In the child of a trial: a call of code that lies at none of these places is a crash from
    /// now on, also without `stops`.
    void stop_others(std::span<const platform::image_place> current) noexcept;
    /// The code comes back.
    void let_run(const platform::image_place& place) noexcept;

private:
    known_code* find(const platform::image_place& place) const noexcept;
    static void stop(known_code& one) noexcept;

    const bool names_, stops_;
    std::vector<known_code*> all_, spare_;
};

/// The build-id of the stopped code that lies there, or null. From a signal handler, too.
const char* stopped_build_at(std::uintptr_t address) noexcept;

}  // namespace reload::detail
BRAID_NAMESPACE_END
