#include "braid/async/waiting_tasks.hpp"

#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

struct alignas(64) waiting_mutex : mutex {
    waiting_mutex* next_free = nullptr;
};

/// They are never freed, because a wait that is cancelled may be another scheduler's than its list,
/// and that one may have ended.
struct mutex_pool {
    mutex lock;
    waiting_mutex* free BRAID_GUARDED_BY(lock) = nullptr;
    waiting_mutex shared;
};
#if !defined(__MINGW32__)  // whose mutexes are made at run time
constinit
#endif
    mutex_pool waiting_mutexes;

}  // namespace

mutex& take_waiting_mutex() {
    const locked lock(waiting_mutexes.lock);
    if (waiting_mutex* const first = waiting_mutexes.free) {
        waiting_mutexes.free = first->next_free;
        return *first;
    }
    waiting_mutex* const made = new (std::nothrow) waiting_mutex;
    return made != nullptr ? *made : waiting_mutexes.shared;
}

void give_waiting_mutex(mutex& m) {
    if (&m == &waiting_mutexes.shared) return;
    auto& given = static_cast<waiting_mutex&>(m);
    const locked lock(waiting_mutexes.lock);
    given.next_free = std::exchange(waiting_mutexes.free, &given);
}

}  // namespace detail
BRAID_NAMESPACE_END
