// says: a task that returns a coroutine would not run it: use co_spawn()
#include <braid/async.hpp>

braid::co<int> number() { co_return 1; }

/// A coroutine of another library, which runs when it is called.
struct eager {
    struct promise_type {
        eager get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
eager runs() { co_return; }

void make(braid::scheduler& s) {
    s.spawn([] { return runs(); });
#if defined(MISTAKE)
    s.spawn([] { return number(); });
#else
    braid::co_spawn(s, {}, [] { return number(); });
#endif
}
