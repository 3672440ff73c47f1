#pragma once
// oneTBB on so many threads, the caller among them.

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace bench {

struct tbb_threads {
    explicit tbb_threads(unsigned threads)
        : limit(tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads)) {}
    tbb::global_control limit;
    tbb::task_arena arena;
};

}  // namespace bench
