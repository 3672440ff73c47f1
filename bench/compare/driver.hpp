#pragma once
// Rivals measured in turns: A B C, A B C, … within one process, so that whatever the machine does
// meanwhile happens to all of them. (Google Benchmark finishes one before it begins the next.)

#include <chrono>
#include <cstdint>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// One measurement: does the work, checks its answer, returns the value in the row's unit.
using measure = std::function<double()>;

/// A rival did the work, but the answer is not the right one.
struct wrong_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a row needs is not on this machine, which one sentence says: it is left out.
struct not_here : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct rival {
    std::string system;
    std::function<measure()> make;  // threads and memory: made at the row's start, gone at its end
    std::vector<double> samples = {};
};

struct row {
    std::string name;
    std::string unit;
    std::string about;
    std::vector<rival> rivals = {};

    row& add(std::string system, std::function<measure()> make) {
        rivals.push_back({std::move(system), std::move(make)});
        return *this;
    }
};

class suite {
public:
    /// The row called `name`; made by the first call.
    row& at(const std::string& name, const std::string& unit = {}, const std::string& about = {});

    /// Drops the rivals whose system does not match, and the rows that have none left.
    void keep(const std::regex& systems);

    /// Measures the rows whose name matches, `rounds` times in turns after one turn that only
    /// checks the answers. Those that need what is not here are dropped. Throws wrong_answer.
    void run(const std::regex& filter, unsigned rounds);

    const std::vector<row>& rows() const { return rows_; }

private:
    static void run(row& r, unsigned rounds);
    std::vector<row> rows_;
};

/// Monotonic, in nanoseconds.
inline std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

template <class Work>
double time_ns(Work&& work) {
    const std::int64_t begin = now();
    work();
    return static_cast<double>(now() - begin);
}

double median(std::vector<double> values);

/// Keeps the core busy for that long.
inline void busy_for(std::int64_t ns) {
    const std::int64_t end = now() + ns;
    while (now() < end) {
    }
}

/// Work that no compiler shortens, and that shows in the value whether it was done: so many
/// multiplications, each of the result of the one before. About 1.3 ns each.
inline std::uint64_t multiply_on(std::uint64_t x, std::uint64_t times) {
    for (; times != 0; --times) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        asm("" : "+r"(x));
    }
    return x;
}

template <class A, class B>
void check_equal(const A& seen, const B& expected, const char* what) {
    if (seen == static_cast<A>(expected)) return;
    throw wrong_answer(std::string(what) + ": " + std::to_string(seen) + " instead of " +
                       std::to_string(expected));
}

// ---- counting what was executed, at the price of a plain increment
// ---------------------------------

struct alignas(64) executed_count {
    std::uint64_t value = 0;
};
/// A counter of the calling thread. Other threads read it when that thread has nothing to do.
executed_count& new_counter();
inline executed_count& thread_counter() {
    static thread_local constinit executed_count* mine = nullptr;
    if (mine == nullptr) mine = &new_counter();
    return *mine;
}
/// One empty task.
inline void count_one() { ++thread_counter().value; }
/// The sum over all threads.
std::uint64_t counted();
/// Numbers the calling thread: 0, 1, …
unsigned thread_number();

}  // namespace bench
