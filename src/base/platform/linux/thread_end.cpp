#include "base/platform/thread_end.hpp"

#include <utility>

namespace braid::platform {
namespace {

constinit thread_local bool has_begun = false;  // outlives what has a destructor

class thread_steps {
public:
    ~thread_steps() {
        has_begun = true;
        while (first_ != nullptr) {
            const thread_end_step& step = *std::exchange(first_, first_->next);
            step.run(step.data);
        }
    }
    void add(thread_end_step& step) noexcept { step.next = std::exchange(first_, &step); }

private:
    thread_end_step* first_ = nullptr;
};

}  // namespace

bool at_thread_end(thread_end_step& step) noexcept {
    if (has_begun) return false;
    static thread_local thread_steps steps;
    steps.add(step);
    return true;
}

}  // namespace braid::platform
