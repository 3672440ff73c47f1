#pragma once
// Jobs made of lambdas, and what the handler for misuse got last.

#include <braid/fork_join.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include "misuse.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <deque>
#include <functional>

namespace braid_test {

/// Keeps callables alive for as long as the lists that run them.
class jobs {
public:
    static void call(void* data) { (*static_cast<std::function<void()>*>(data))(); }
    static void other(void* data) { call(data); }

    bool add(braid::job_list* list, std::function<void()> f) {
        kept_.push_back(std::move(f));
        return list->add(&call, &kept_.back());
    }

private:
    std::deque<std::function<void()>> kept_;
};

inline void add_one(void* data) {
    static_cast<std::atomic<int>*>(data)->fetch_add(1, std::memory_order_relaxed);
}
inline void do_nothing(void*) {}

class job_list_test : public scheduler_test {
protected:
    /// With the functions above registered.
    struct engine {
        explicit engine(const braid::scheduler_options& o) : s(o), lists(s) {
            lists.register_job(&jobs::call, "call");
            lists.register_job(&jobs::other, "other");
            lists.register_job(&add_one, "add one");
            lists.register_job(&do_nothing, "do nothing");
        }
        braid::scheduler s;
        braid::job_list_manager lists;
        jobs with;
    };
    /// Options whose misuse goes to reported_.
    braid::scheduler_options strict() {
        braid::scheduler_options o = options();
        o.assertion = reported_.handler();
        return o;
    }
    misuse reported_;
};

}  // namespace braid_test

#define BRAID_JOB_LIST_TEST(Suite)                                                           \
    class Suite : public braid_test::job_list_test {};                                       \
    INSTANTIATE_TEST_SUITE_P(Workers, Suite, testing::ValuesIn(braid_test::worker_counts()), \
                             [](const auto& count) { return std::to_string(count.param); })
