// says: a coroutine runs once: co_await std::move(c), or the call that makes it
#include <braid/async.hpp>

braid::co<int> number() { co_return 1; }

braid::co<int> twice() {
    braid::co<int> c = number();
#if defined(MISTAKE)
    co_return co_await c;
#else
    co_return co_await std::move(c);
#endif
}
