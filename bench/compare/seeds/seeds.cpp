#include "seeds/seeds.hpp"

namespace bench::seeds {

void add(suite& s) {
    add_flat(s);
    add_tree(s);
    add_graph(s);
    add_mixed(s);
}

}  // namespace bench::seeds
