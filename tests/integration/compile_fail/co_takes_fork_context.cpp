// says: a task_context or fork_context ends with the first suspension
#include <braid/async.hpp>
#include <braid/fork_join.hpp>

#if defined(MISTAKE)
braid::co<> part(int, braid::fork_context&) { co_return; }
#else
braid::co<> part(int) { co_return; }
#endif
