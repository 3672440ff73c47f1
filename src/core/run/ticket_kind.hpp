#pragma once

#include "core/task/slot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A ticket of a batch; it completes as other tasks do. Defined where the whole scheduler is known.
extern const task_kind ticket_kind;

}  // namespace detail
BRAID_NAMESPACE_END
