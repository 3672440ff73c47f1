// In place of raw_uring.cpp where this was built without liburing.
#include "stream/stream.hpp"

namespace bench::stream {

std::function<pass()> raw_uring(std::shared_ptr<const pattern_file>) {
    throw not_here("this was built without liburing: scripts/setup.sh build");
}

}  // namespace bench::stream
