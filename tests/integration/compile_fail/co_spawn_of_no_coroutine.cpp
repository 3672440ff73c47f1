// says: co_spawn() takes a coroutine, or a callable that makes one of the arguments
#include <braid/async.hpp>

void start(braid::scheduler& s, int n) {
#if defined(MISTAKE)
    static_cast<void>(braid::co_spawn(s, {}, [n] { return n; }));
#else
    static_cast<void>(braid::co_spawn(s, {}, [n]() -> braid::co<int> { co_return n; }));
#endif
}
