// Who runs the frame table. All backends run the same stages; they differ in how they order and
// spread the parts.
#pragma once

#include "recorder.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace arena::host {

/// Work that no thread is held for.
struct waiting_work {
    std::uint64_t suspended = 0;  // tasks that have given their thread back
    std::uint64_t outside = 0;    // what somebody outside is to end: a timer, a descriptor
};

class backend {
public:
    virtual ~backend() = default;
    backend() = default;
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    /// Runs every part of every stage and returns when all are complete. One thread, always the
    /// one that made the backend. A table at another address than in the frame before has other
    /// rows or edges; at the same address it may have other functions.
    virtual void run_frame(std::span<const stage> table, game& world, recorder& times) = 0;
    /// At this moment; one thread, as run_frame().
    virtual waiting_work waiting() const { return {}; }
};

/// Names that make_backend knows in this build, the default first.
std::vector<std::string> backend_names();

/// `workers` is the number of threads besides the caller. Null for a name this build lacks.
std::unique_ptr<backend> make_backend(std::string_view name, unsigned workers);

std::unique_ptr<backend> make_serial_backend();
std::unique_ptr<backend> make_braid_backend(unsigned workers);
std::unique_ptr<backend> make_tbb_backend(unsigned workers);
std::unique_ptr<backend> make_openmp_backend(unsigned workers);

}  // namespace arena::host
