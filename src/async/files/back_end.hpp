#pragma once
// Who carries requests to the system.

#include "async/files/flight.hpp"
#include "core/extension.hpp"

#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

class file_back_end_base {
public:
    virtual ~file_back_end_base() = default;
    /// Destroys it and gives its memory back.
    virtual void end(runtime& rt) = 0;
    virtual const char* name() const = 0;
    /// How many requests it is given at once, where the reader's options do not say fewer.
    virtual unsigned most_flights() const { return file_reader_options::most_in_flight; }
    /// How many of these others may not take.
    virtual unsigned kept_for_urgent() const { return 0; }
    /// How many of these reads of low priority may take, 1 and above.
    virtual unsigned most_of_low(unsigned flights) const { return flights; }
    /// By one thread at a time, as reap(), without a lock. Calls reader_state::go_on() when there
    /// is something to reap that was not there when this returned.
    virtual void start(std::span<flight* const> all) = 0;
    /// Hands out requests that have ended, as many as there is room for; how many.
    virtual unsigned reap(std::span<flight*> to) = 0;
    /// Any thread. What this task awaits, and nobody has begun to read, has become urgent; how many
    /// reads.
    virtual unsigned hurry(task_id of) {
        static_cast<void>(of);
        return 0;
    }
    /// Any thread. What is read into these from now on may be called by the number that this
    /// returns; below 0: it may not.
    virtual int get_to_know(std::span<std::byte> buffer) {
        static_cast<void>(buffer);
        return -1;
    }
    /// Readable when there is something to reap; -1: none.
    virtual int descriptor() const { return -1; }
};

/// In the scheduler's memory. Null: no memory; or, of uring, the library was built without it, or
/// the system refuses it, for which `why` gets a sentence.
file_back_end_base* make_uring_back_end(runtime& rt, unsigned in_flight, char* why,
                                        std::size_t room);
file_back_end_base* make_threads_back_end(runtime& rt, reader_state& of);
/// Takes over `inner`; null, no memory: it has not.
file_back_end_base* make_faulty_back_end(runtime& rt, reader_state& of, const file_faults& faults,
                                         file_back_end_base& inner);

}  // namespace detail
BRAID_NAMESPACE_END
