#pragma once
// A scheduler whose only thread is the one that measures, with a file and a reader of it.

#include "async/run_as_worker.hpp"
#include "stream/pattern.hpp"

#include <braid/async/file_reader.hpp>
#include <braid/core/scheduler.hpp>

#include <cstring>
#include <memory>
#include <utility>

namespace bench::stream {

struct reader {
    /// Throws not_here where `by` is not to be had.
    reader(std::shared_ptr<const pattern_file> source, braid::file_back_end by, int at_once,
           bool direct = false)
        : written(std::move(source)),
          file(written->path(), {.direct = direct}),
          io(scheduler, {.in_flight = at_once, .back_end = by}) {
        if (!file.is_open()) throw not_here("there are no direct reads of " + file.error());
        const bool wants_uring = by == braid::file_back_end::uring;
        if (wants_uring && std::strcmp(io.statistics().back_end, "uring") != 0) {
            throw not_here("braid has no io_uring: built without liburing, or the system refuses");
        }
    }
    template <class T>
    T run(braid::co<T>&& c) {
        return async::run_as_worker(scheduler, std::move(c));
    }

    std::shared_ptr<const pattern_file> written;
    braid::scheduler scheduler{braid::scheduler_options{.workers = 0}};
    braid::file file;
    braid::file_reader io;
};

}  // namespace bench::stream
