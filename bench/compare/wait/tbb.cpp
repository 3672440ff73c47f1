#include "tbb_threads.hpp"
#include "wait/wait.hpp"

#include <tbb/task_group.h>

#include <memory>

namespace bench::wait {
namespace {

double one_child(tbb_threads& of) {
    return of.arena.execute([] {
        const std::uint64_t before = counted();
        const double ns = time_ns([] {
            for (std::size_t i = 0; i < children; ++i) {
                tbb::task_group child;
                child.run([] { count_one(); });
                child.wait();
            }
        });
        check_equal(counted() - before, children, "children");
        return ns / children;
    });
}

double two(tbb_threads& of, std::int64_t us) {
    return of.arena.execute([&] {
        return two_bodies(us, [](auto body) {
            tbb::task_group a, b;
            a.run(body);
            b.run(body);
            a.wait();
            b.wait();
        });
    });
}

template <class Measure>
std::function<measure()> with_threads(unsigned threads, Measure round) {
    return [=] {
        auto own = std::make_shared<tbb_threads>(threads);
        return [=] { return round(*own); };
    };
}

}  // namespace

void add_tbb(suite& s) {
    s.at("wait.child.t1").add("tbb", with_threads(1, one_child));
    s.at("wait.child.t2").add("tbb", with_threads(2, one_child));
    for (const std::int64_t us : two_us) {
        s.at(with_number("wait.two", us)).add("tbb", with_threads(2, [us](tbb_threads& of) {
                                                  return two(of, us);
                                              }));
    }
    for (const std::int64_t us : gaps_us) {
        s.at(with_number("wait.gap", us)).add("tbb", with_threads(2, [us](tbb_threads& of) {
                                                  return after_gap(us, [&](auto body) {
                                                      of.arena.enqueue(body);
                                                  });
                                              }));
    }
}

}  // namespace bench::wait
