#include "cilksort/cilksort.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::cilksort {
namespace {

struct joined {
    braid::fork_context context;
    template <class F, class G>
    void operator()(F f, G g) const {
        braid::join(
            context, [&f](braid::fork_context c) { f(joined{c}); },
            [&g](braid::fork_context c) { g(joined{c}); });
    }
};

}  // namespace

void add_braid(suite& s) {
    add_braid_measure(s, "cilksort", "braid", [](braid::scheduler& b) {
        return timed([&b](numbers v, numbers spare) {
            braid::fork_join(b, "cilksort",
                             [=](braid::fork_context c) { sort(joined{c}, v, spare); });
        });
    });
}

}  // namespace bench::cilksort
