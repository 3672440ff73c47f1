#include "seeds/seeds.hpp"

namespace bench::seeds {

void add(suite&) {}

}  // namespace bench::seeds
