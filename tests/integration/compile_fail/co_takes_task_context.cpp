// says: a task_context or fork_context ends with the first suspension
#include <braid/async.hpp>

#if defined(MISTAKE)
braid::co<int> number(braid::task_context&) { co_return 1; }
#else
braid::co<int> number(int n) { co_return n; }
#endif
