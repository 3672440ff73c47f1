#pragma once

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <exception>

BRAID_NAMESPACE_BEGIN

/// Thrown by a wait for a task that never ran, because its scope was cancelled or the scheduler
/// discarded it. If the task was cancelled because a predecessor failed, the wait throws the
/// predecessor's exception instead.
class BRAID_API task_cancelled : public std::exception {
public:
    const char* what() const noexcept override;
};

/// Thrown in place of a task's exception if the task had already failed when another task named it
/// as a predecessor or awaited its id. The exception itself was passed to the task's waiters and
/// successors at the time of the failure, or to the handler for unobserved exceptions.
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
