#include "cilksort/cilksort.hpp"

#include <tbb/parallel_invoke.h>

namespace bench::cilksort {
namespace {

struct invoked {
    template <class F, class G>
    void operator()(F f, G g) const {
        tbb::parallel_invoke([&f] { f(invoked{}); }, [&g] { g(invoked{}); });
    }
};

}  // namespace

void add_tbb(suite& s) {
    add_tbb_measure(s, "cilksort", [] {
        return timed([](numbers v, numbers spare) { sort(invoked{}, v, spare); });
    });
}

}  // namespace bench::cilksort
