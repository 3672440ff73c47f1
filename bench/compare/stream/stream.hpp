#pragma once
// Reads of files: many at random beside a bare ring of io_uring, one beside a thread that reads, an
// urgent one behind a thousand, those of a game's frames, and none.

#include "driver.hpp"
#include "stream/pattern.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace bench::stream {

void add(suite& s);

// ---- many at random

constexpr std::size_t read_bytes = 64 * 1024, reads = 4'096, in_flight = 32;

/// What `reads` of them have taken.
struct pass {
    double ns = 0, cpu_ns = 0;
    double us_each() const { return ns / 1e3 / reads; }
    double cpu_ms_of_gb() const { return cpu_ns / 1e6 / (reads * read_bytes / 1e9); }
};

/// Time and processor time of this process from here on.
class pass_clock {
public:
    pass_clock() : start_(taken()) {}
    pass so_far() const {
        const pass t = taken();
        return {t.ns - start_.ns, t.cpu_ns - start_.cpu_ns};
    }

private:
    static pass taken();
    pass start_;
};

/// By a bare ring of io_uring on this thread: what has ended is asked again, and one call gives the
/// system all that is to be read. Throws not_here where there is none.
std::function<pass()> raw_uring(std::shared_ptr<const pattern_file> file);

/// So much of them is no more than what this returns.
double quantile(std::vector<double> values, double part);

// ---- one alone

void add_single(suite& s, const std::shared_ptr<shared_file>& file);
void add_urgent(suite& s, const std::shared_ptr<shared_file>& file);

// ---- frames

void add_frame(suite& s, const std::shared_ptr<shared_file>& file);

}  // namespace bench::stream
