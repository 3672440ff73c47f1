#pragma once
// Rows `<name>.t1` and `<name>.t2`: the same work by one thread and by two, or by as many as
// --threads says; in milliseconds unless the row says otherwise.

#include "driver.hpp"

#include <braid/core/scheduler.hpp>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Set before rows are made.
inline std::vector<unsigned> thread_counts = {1, 2};

inline std::string with_threads(const std::string& name, unsigned threads) {
    return name + ".t" + std::to_string(threads);
}

/// Time of work() in ms, after its answer has been compared.
template <class Work, class Answer>
double timed_ms(Work&& work, const Answer& expected, const char* what) {
    Answer seen{};
    const double ns = time_ns([&] { seen = work(); });
    check_equal(seen, expected, what);
    return ns / 1e6;
}

/// work() → answer.
template <class Work, class Answer>
void add_serial(suite& s, const std::string& name, const char* about, Answer expected, Work work) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads(name, threads), "ms", about).add("serial", [=] {
            return [=] { return timed_ms(work, expected, "serial"); };
        });
    }
}
/// measure(scheduler&) → the row's unit.
template <class Measure>
void add_braid_measure(suite& s, const std::string& name, const char* system, Measure take) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads(name, threads)).add(system, [=] {
            auto b = std::make_shared<braid::scheduler>(
                braid::scheduler_options{.workers = static_cast<int>(threads) - 1});
            return [=] { return take(*b); };
        });
    }
}
/// work(scheduler&) → answer.
template <class Work, class Answer>
void add_braid(suite& s, const std::string& name, const char* system, Answer expected, Work work) {
    add_braid_measure(s, name, system, [=](braid::scheduler& b) {
        return timed_ms([&] { return work(b); }, expected, system);
    });
}
/// measure() → the row's unit, in an arena of oneTBB of that many threads.
template <class Measure>
void add_in_arena(suite& s, const std::string& name, const char* system, Measure take) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads(name, threads)).add(system, [=] {
            struct state {
                tbb::global_control limit;
                tbb::task_arena arena;
            };
            auto a = std::make_shared<state>(
                tbb::global_control(tbb::global_control::max_allowed_parallelism, threads),
                static_cast<int>(threads));
            return [=] { return a->arena.execute([&] { return take(); }); };
        });
    }
}
template <class Measure>
void add_tbb_measure(suite& s, const std::string& name, Measure take) {
    add_in_arena(s, name, "tbb", take);
}
/// work() → answer.
template <class Work, class Answer>
void add_tbb(suite& s, const std::string& name, Answer expected, Work work) {
    add_tbb_measure(s, name, [=] { return timed_ms(work, expected, "tbb"); });
}
/// The same for std::execution::par, which libstdc++ runs on oneTBB.
template <class Measure>
void add_std_par_measure(suite& s, const std::string& name, Measure take) {
    add_in_arena(s, name, "std par", take);
}
template <class Work, class Answer>
void add_std_par(suite& s, const std::string& name, Answer expected, Work work) {
    add_std_par_measure(s, name, [=] { return timed_ms(work, expected, "std par"); });
}
/// work(threads) → answer.
template <class Work, class Answer>
void add_openmp(suite& s, const std::string& name, Answer expected, Work work) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads(name, threads)).add("openmp", [=] {
            return [=] {
                return timed_ms([&] { return work(static_cast<int>(threads)); }, expected,
                                "openmp");
            };
        });
    }
}

}  // namespace bench
