#pragma once
// One request to the system: a read, or several neighbours.

#include "base/platform/files.hpp"
#include "braid/async/file_reader.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Filled by reader_state, and the back end's from start() until reap() has given it back.
struct flight {
    int descriptor = -1;
    std::uint64_t offset = 0;
    std::size_t bytes = 0, done = 0;
    file_request* first = nullptr;  // in order of their offsets
    /// Bytes that were read, 0 at the end; or minus the system's error.
    std::int64_t got = 0;
    unsigned number = 0;  // below file_reader_options::in_flight
    bool is_low = false;  // of low priority when it was filled

    /// What is not done yet. How many pieces.
    unsigned pieces(platform::file_piece* to) const {
        unsigned count = 0;
        std::size_t before = done;
        for (const file_request* r = first; r != nullptr; r = r->next) {
            if (before >= r->bytes) {
                before -= r->bytes;
                continue;
            }
            to[count++] = {r->data + before, r->bytes - before};
            before = 0;
        }
        return count;
    }
};

}  // namespace detail
BRAID_NAMESPACE_END
