#pragma once

#include "core/slots/slot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The kind of a batch's tickets, which complete as other tasks do. It is defined where the whole
/// scheduler is known.
extern const task_kind ticket_kind;

}  // namespace detail
BRAID_NAMESPACE_END
