// says: a task that returns a coroutine would not run it: use co_spawn()
#include <braid/async.hpp>

braid::co<int> number() { co_return 1; }

void make(braid::scheduler& s) {
#if defined(MISTAKE)
    s.spawn([] { return number(); });
#else
    braid::co_spawn(s, {}, [] { return number(); });
#endif
}
