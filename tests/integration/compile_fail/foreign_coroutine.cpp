// says: what Braid gives to co_await is awaited in a coroutine that returns a braid::co
#include <braid/async.hpp>

/// A coroutine of another library.
struct foreign {
    struct promise_type {
        foreign get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

#if defined(MISTAKE)
foreign waits() { co_await braid::sleep_for(braid::milliseconds(1)); }
#else
braid::co<> waits() { co_await braid::sleep_for(braid::milliseconds(1)); }
#endif
