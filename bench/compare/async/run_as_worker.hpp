#pragma once
// A thread that works until a coroutine has ended.

#include <braid/async/co.hpp>
#include <braid/core/event.hpp>
#include <braid/core/scheduler.hpp>

#include <utility>

namespace bench::async {

/// What the coroutine returns. The calling thread works like a worker meanwhile: it runs what is
/// ready, whoever may need it.
template <class T>
T run_as_worker(braid::scheduler& b, braid::co<T>&& c) {
    braid::event done(b);
    braid::future<T> value = braid::co_spawn(b, {}, std::move(c));
    const braid::task_id after = b.spawn({.after_any = {value.id()}}, [&] { done.set(); });
    b.work_until(done);
    b.wait(after);
    return value.get();
}

}  // namespace bench::async
