#pragma once
// Tasks are open, and nothing that the scheduler knows can go on: no thread of its own or of those
// that take part is awake, nothing is ready or due, nobody outside has promised anything. Only a
// thread that takes no part could still act, as by setting an event.

#include "core/explain/sentence.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class standstill {
public:
    enum class seen : std::uint8_t { goes_on, perhaps, news, known, ended };

    /// By the thread of that seat, which has just slept; one thread at a time. `perhaps`: look
    /// again, it may be a moment between two. `ended`: the one that was reported.
    seen look(wait_room& rt, const wait_seat& looker);
    /// False: no task could be named that does not wait for another one.
    static bool describe(wait_room& rt, wait_seat& looker, sentence& to);

private:
    // How much had happened when it was last seen; 0: it was not.
    std::uint64_t progress_ = 0, parks_ = 0;
    std::int64_t since_ = 0;
    // How many times `deadlock_options::after` it has to last. A thread outside has acted as often
    // as it was raised, so the next one says less.
    static constexpr std::int64_t most_times = 4096;
    std::int64_t times_ = 1;
    bool is_reported_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
