#include "braid/async/channel.hpp"

#include "core/extension.hpp"

BRAID_NAMESPACE_BEGIN

const char* channel_closed::what() const noexcept {
    return "the channel is closed, and nothing is left in it";
}

namespace detail {

void* open_channel(runtime& rt, channel_options& options, std::size_t bytes,
                   std::size_t alignment) {
    const limiter limits = core::limits(rt, "channel_options");
    limits.clamp(options.capacity, 1U, channel_options::most_capacity, "capacity");
    return allocate_closure(rt, bytes * options.capacity, alignment);
}

}  // namespace detail
BRAID_NAMESPACE_END
