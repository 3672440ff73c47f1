#pragma once

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <exception>

BRAID_NAMESPACE_BEGIN

/// Thrown by a wait for a task that never ran because its scope was cancelled or the scheduler
/// discarded it. (If a predecessor's failure cancelled the task, the wait throws that failure
/// instead.)
class BRAID_API task_cancelled : public std::exception {
public:
    const char* what() const noexcept override;
};

/// Thrown in place of a task's exception, if the task had already failed when another task came
/// after it or awaited its id. The exception itself went to those that were waiters and successors
/// when the task failed, or to the handler for unobserved exceptions.
class BRAID_API task_failed : public std::exception {
public:
    const char* what() const noexcept override;
};

/// Thrown by future::get() when the task ended without a value.
class BRAID_API broken_promise : public std::exception {
public:
    const char* what() const noexcept override;
};

BRAID_NAMESPACE_END
