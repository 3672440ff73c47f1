// How soon what waits for a read goes on.
#include "stream/reader.hpp"
#include "stream/stream.hpp"

#include <braid/async/await.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace bench::stream {
namespace {

using braid::file_back_end;

// ---- one at a time -----------------------------------------------------------------------------

constexpr std::size_t singles = 300;

/// Who else takes part sleeps by then.
void let_sleep() { std::this_thread::sleep_for(std::chrono::microseconds(500)); }

class single_reads {
public:
    single_reads(std::shared_ptr<const pattern_file> file, file_back_end by, bool direct)
        : of_(std::move(file), by, 32, direct) {}

    /// us from asking to the coroutine's next instruction, the middle.
    double run() {
        us_.clear();
        of_.run(all());
        return quantile(us_, 0.5);
    }

private:
    braid::co<> all() {
        for (std::size_t i = 0; i < singles; ++i) {
            const std::uint64_t from = place_of(i, page_bytes);
            let_sleep();
            const std::int64_t begin = now();
            const braid::read_result r = co_await of_.io.read(of_.file, from, to_[0]);
            us_.push_back(static_cast<double>(now() - begin) / 1e3);
            check_equal(r.bytes, page_bytes, "bytes read");
            check_all(to_[0], from);
        }
    }

    buffers to_{1, page_bytes};
    std::vector<double> us_;
    reader of_;
};

/// us from one wake by the system until the thread that it wakes has read. That thread is the one
/// that goes on, so nobody wakes the one that asks.
double single_of_thread(const braid::file& file, const buffers& to) {
    std::atomic<std::size_t> asked{0}, asleep{0};
    std::atomic<std::int64_t> ended{0};
    std::atomic<ssize_t> got{0};
    std::thread other([&] {
        for (std::size_t i = 1; i <= singles; ++i) {
            asleep.store(i, std::memory_order_release);
            asked.wait(i - 1, std::memory_order_acquire);
            got.store(pread(file.descriptor(), to[0].data(), page_bytes,
                            static_cast<off_t>(place_of(i, page_bytes))),
                      std::memory_order_relaxed);
            ended.store(now(), std::memory_order_release);
        }
    });
    std::vector<double> us;
    std::size_t right = 0;
    for (std::size_t i = 1; i <= singles; ++i) {
        while (asleep.load(std::memory_order_acquire) != i) {
        }
        ended.store(0, std::memory_order_relaxed);
        let_sleep();
        const std::int64_t begin = now();
        asked.store(i, std::memory_order_release);
        asked.notify_one();
        std::int64_t end = 0;
        while ((end = ended.load(std::memory_order_acquire)) == 0) {
        }
        us.push_back(static_cast<double>(end - begin) / 1e3);
        right += got.load(std::memory_order_relaxed) == ssize_t{page_bytes} &&
                 is_right(to[0], place_of(i, page_bytes));
    }
    other.join();
    check_equal(right, singles, "reads of the right bytes");
    return quantile(std::move(us), 0.5);
}

void add_single_row(row& r, const std::shared_ptr<shared_file>& file, bool direct) {
    const auto by_reader = [=](file_back_end by) {
        return [=] {
            return [all = std::make_shared<single_reads>(file->get(), by, direct)] {
                return all->run();
            };
        };
    };
    r.add("braid", by_reader(file_back_end::uring));
    r.add("braid threads", by_reader(file_back_end::threads));
    r.add("pread", [=] {
        auto opened = std::make_shared<braid::file>(file->get()->path(),
                                                    braid::file_open_options{.direct = direct});
        return [opened, to = std::make_shared<buffers>(1, page_bytes)] {
            return single_of_thread(*opened, *to);
        };
    });
}

}  // namespace

void add_single(suite& s, const std::shared_ptr<shared_file>& file) {
    // Expected: 0.2 of one wake and a read, as nobody is woken for what the cache has. From the
    // device 1.1, with one wake more and the same time for the device. Threads: two wakes, 2.
    add_single_row(s.at("stream.single", "us",
                        "4 KiB from the cache, asked to gone on; a thread is woken and reads"),
                   file, false);
    add_single_row(s.at("stream.single.direct", "us", "the same past the cache, from the device"),
                   file, true);
}

// ---- behind a thousand -------------------------------------------------------------------------

namespace {

constexpr std::size_t lows = 1'000, urgents = 200, urgent_bytes = page_bytes;

class urgent_reads {
public:
    urgent_reads(std::shared_ptr<const pattern_file> file, file_back_end by, bool direct,
                 std::size_t others)
        : to_(others + 1, urgent_bytes), others_(others), of_(std::move(file), by, 32, direct) {}

    /// us from asking to the coroutine's next instruction, 99 of 100.
    double run() {
        us_.clear();
        over_ = failed_ = false;
        of_.run(all());
        return quantile(us_, 0.99);
    }

private:
    braid::co<> all() {
        std::vector<braid::future<void>> low;
        for (std::size_t i = 0; i < others_; ++i) {
            low.push_back(braid::co_spawn(of_.scheduler, {.priority = braid::priority_level::low},
                                          reads_on(i)));
        }
        co_await braid::co_spawn(of_.scheduler, {.priority = braid::priority_level::high},
                                 urgent());
        over_ = true;
        for (braid::future<void>& f : low) co_await std::move(f);
    }
    /// As many are always asked for as there are of these.
    braid::co<> reads_on(std::size_t place) {
        try {
            for (std::size_t n = place; !over_; n += lows) {
                co_await read(n, place, braid::priority_level::low);
            }
        } catch (...) {
            failed_ = true;
            throw;
        }
    }
    braid::co<> urgent() {
        for (std::size_t i = 0; i < urgents; ++i) {
            do {
                co_await braid::sleep_for(braid::milliseconds(1));
            } while (waiting() < others_ * 9 / 10 && !failed_);
            const std::int64_t begin = now();
            const std::int64_t end = co_await read(i, others_, braid::priority_level::high);
            us_.push_back(static_cast<double>(end - begin) / 1e3);
        }
    }
    std::size_t waiting() const {
        const braid::file_reader_statistics now = of_.io.statistics();
        return now.queued + now.in_flight;
    }
    /// When it went on.
    braid::co<std::int64_t> read(std::size_t n, std::size_t place, braid::priority_level level) {
        const std::uint64_t from = place_of(n, urgent_bytes);
        const braid::read_result r =
            co_await of_.io.read(of_.file, from, to_[place], {.priority = level});
        const std::int64_t end = now();
        check_equal(r.bytes, urgent_bytes, "bytes read");
        check_pages(to_[place], from);
        co_return end;
    }

    buffers to_;
    const std::size_t others_;
    std::vector<double> us_;
    bool over_ = false, failed_ = false;
    reader of_;
};

}  // namespace

void add_urgent(suite& s, const std::shared_ptr<shared_file>& file) {
    const auto behind = [=](file_back_end by, bool direct, std::size_t others) {
        return [=] {
            return [all = std::make_shared<urgent_reads>(file->get(), by, direct, others)] {
                return all->run();
            };
        };
    };
    // From the device, as what the cache has is read while it is asked for, and nothing waits.
    // Expected: 3, since the device has 32 of them already when the urgent one is asked for; more
    // by threads, as the one that reads has 32 before it.
    s.at("stream.urgent", "us", "an urgent read behind 1,000 from the device, 99 %; the same alone")
        .add("braid", behind(file_back_end::uring, true, lows))
        .add("alone", behind(file_back_end::uring, true, 0));
    s.at("stream.urgent.threads", "us", "the same by threads, from the cache")
        .add("braid", behind(file_back_end::threads, false, lows))
        .add("alone", behind(file_back_end::threads, false, 0));
}

}  // namespace bench::stream
