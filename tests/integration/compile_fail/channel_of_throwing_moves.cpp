// says: what goes through a channel must move without an exception
#include <braid/async.hpp>

struct item {
    item() = default;
#if defined(MISTAKE)
    item(item&&) {}
#else
    item(item&&) noexcept {}
#endif
};

bool put(braid::channel<item>& to) { return to.try_push(item{}); }
