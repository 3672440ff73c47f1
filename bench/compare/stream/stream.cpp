#include "stream/stream.hpp"

#include "others.hpp"
#include "stream/reader.hpp"

#include <braid/async/file_reader.hpp>

#include <sys/resource.h>
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace bench::stream {

pass pass_clock::taken() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ns = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
    };
    return {static_cast<double>(now()), ns(used.ru_utime) + ns(used.ru_stime)};
}

double quantile(std::vector<double> values, double part) {
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

namespace {

using braid::file_back_end;

// ---- many at random ----------------------------------------------------------------------------

class many_reads {
public:
    many_reads(std::shared_ptr<const pattern_file> file, file_back_end by)
        : of_(std::move(file), by, in_flight) {}

    pass run() {
        next_ = 0;
        const pass_clock clock;
        of_.run(all());
        const pass taken = clock.so_far();
        for (std::size_t i = 0; i < in_flight; ++i) {
            if (has_read_[i]) check_all(to_[i], from_[i]);
        }
        return taken;
    }

private:
    braid::co<> all() {
        std::vector<braid::future<void>> parts;
        for (std::size_t i = 0; i < in_flight; ++i) {
            parts.push_back(braid::co_spawn(of_.scheduler, {}, part(i)));
        }
        for (braid::future<void>& p : parts) co_await std::move(p);
    }
    /// One thread runs them all, some more often than others.
    braid::co<> part(std::size_t place) {
        while (next_ < reads) {
            has_read_[place] = true;
            from_[place] = place_of(next_++, read_bytes);
            const braid::read_result r = co_await of_.io.read(of_.file, from_[place], to_[place]);
            check_equal(r.bytes, read_bytes, "bytes read");
            check_pages(to_[place], from_[place]);
        }
    }

    buffers to_{in_flight, read_bytes};
    std::array<std::uint64_t, in_flight> from_{};
    std::array<bool, in_flight> has_read_{};
    std::size_t next_ = 0;
    reader of_;
};

void add_random(suite& s, const std::shared_ptr<shared_file>& file) {
    const auto add = [&](row& r, double (pass::*value)() const) {
        const auto by_reader = [=](file_back_end by) {
            return [=] {
                return [=, all = std::make_shared<many_reads>(file->get(), by)] {
                    return (all->run().*value)();
                };
            };
        };
        r.add("braid", by_reader(file_back_end::uring));
        r.add("braid threads", by_reader(file_back_end::threads));
        r.add("raw",
              [=] { return [=, run = raw_uring(file->get())] { return (run().*value)(); }; });
    };
    // Expected: 0.9 of the bare ring's bytes a second, as each read is a call into the system and
    // not each 32nd; 0.8 by threads. 1.1 of its processor time.
    add(s.at("stream.random", "us", "64 KiB at a random place of a file in the cache, 32 at once"),
        &pass::us_each);
    add(s.at("stream.cpu", "ms/GB", "processor time of the same"), &pass::cpu_ms_of_gb);
}

// ---- none --------------------------------------------------------------------------------------

double idle(bool with_reader) {
    braid::scheduler b({.workers = 1, .main_thread = nullptr});
    std::optional<braid::file_reader> io;
    if (with_reader) io.emplace(b);
    return rest_of_others().cpu_ms;
}

}  // namespace

void add(suite& s) {
    const auto file = std::make_shared<shared_file>();
    add_random(s, file);
    add_single(s, file);
    add_urgent(s, file);
    add_frame(s, file);
    s.at("stream.idle", "ms/s", "processor time with a reader that is asked for nothing")
        .add("braid", [] { return [] { return idle(true); }; })
        .add("without", [] { return [] { return idle(false); }; });
}

}  // namespace bench::stream
