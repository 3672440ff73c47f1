#pragma once
// Looks for deadlocks at moments that the test chooses.

#include "scale.hpp"

#include "core/control/runtime.hpp"

#include <braid/core/scheduler.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>
#include <string>
#include <thread>
#include <utility>

namespace braid_test {

/// By a thread that has a seat: at everything, once.
inline void look_for_deadlocks(braid::scheduler& s) {
    braid::detail::runtime& rt = s.internals();
    while (rt.look_for_deadlocks(*rt.bound()) == braid::detail::looked::in_part) {
    }
    complete_held_back(rt, *rt.bound());
}

/// Until a task waits for that one and its thread is about to sleep; the wait counts from then on.
inline void until_wait_counts(braid::scheduler& s, braid::task_id awaited) {
    until([&] {
        return s.internals().lot().look_at(awaited.value, [](const braid::detail::wait_record& r) {
            return r.depth != 0 && r.stays.load(braid::relaxed);
        });
    });
}

/// Starts a thread that stays in `body`, in a process that ends by _Exit(). Not detached:
/// winpthreads may lose a thread that is detached before it has begun.
template <class Body>
void start_and_leave(Body body) {
    static_cast<void>(new std::thread(std::move(body)));
}

/// What the process of a death test has to have said, and this one says again: so the sentences can
/// be read where the tests run.
class says_again {
public:
    explicit says_again(std::string part) : part_(std::move(part)) {}
    bool MatchAndExplain(const std::string& text, testing::MatchResultListener*) const {
        std::fputs(text.c_str(), stdout);
        return text.find(part_) != std::string::npos;
    }
    void DescribeTo(std::ostream* to) const { *to << "contains '" << part_ << "'"; }
    void DescribeNegationTo(std::ostream* to) const { *to << "lacks '" << part_ << "'"; }

private:
    std::string part_;
};
inline testing::Matcher<const std::string&> says(const char* part) {
    return testing::MakePolymorphicMatcher(says_again(part));
}

/// The part of a report's text that has not been read yet.
struct unread_text {
    std::string left;

    /// True, and read, if it begins so.
    bool read(const std::string& text) {
        const bool begins = left.starts_with(text);
        if (begins) left.erase(0, text.size());
        return begins;
    }
};

}  // namespace braid_test
