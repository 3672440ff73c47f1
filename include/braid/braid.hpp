#pragma once
// This header includes tasks, waits, queues and events. Joins and parallel algorithms are in
// braid/fork_join.hpp, which takes longer to compile.

#include "braid/base/version.hpp"
#include "braid/core/error.hpp"
#include "braid/core/event.hpp"
#include "braid/core/future.hpp"
#include "braid/core/resource.hpp"
#include "braid/core/scheduler.hpp"
#include "braid/core/scope.hpp"
#include "braid/core/spawn_batch.hpp"
#include "braid/core/task_builder.hpp"
#include "braid/queue/queue.hpp"
