// says: a task_context or fork_context ends with the first suspension
#include <braid/async.hpp>

void start(braid::scheduler& s) {
#if defined(MISTAKE)
    const auto body = [](const braid::task_context&) -> braid::co<> { co_return; };
#else
    const auto body = []() -> braid::co<> { co_return; };
    static_cast<void>(braid::co_spawn(s, {}, body()));
#endif
    static_cast<void>(body);
    static_cast<void>(s);
}
