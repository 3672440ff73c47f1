#include "frame/frame.hpp"

#include <braid/fork_join/parallel_for.hpp>

namespace bench::frame {
namespace {

void run(braid::scheduler& b, std::uint64_t* r) {
    std::array<braid::task_id, stage_count> ids;
    for (unsigned number = 0; number < stage_count; ++number) {
        const stage& s = stages[number];
        std::array<braid::task_id, 4> after;
        for (unsigned i = 0; i < s.after_count; ++i) after[i] = ids[s.after[i]];
        ids[number] = b.spawn({.name = s.name, .after_all = {after.data(), s.after_count}},
                              [r, number](braid::task_context& task) {
                                  run_stage(number, r, [&](std::size_t n, auto body) {
                                      braid::parallel_for(task, n, body);
                                  });
                              });
    }
    b.wait(ids.back());
}

}  // namespace

void add_braid(suite& s) {
    add_braid_measure(s, "frame", "braid", [](braid::scheduler& b) {
        return timed([&b](std::uint64_t* r) { run(b, r); });
    });
}

}  // namespace bench::frame
