#pragma once
// The whole of Braid in one include.

#include "braid/base/version.hpp"
#include "braid/core/error.hpp"
#include "braid/core/event.hpp"
#include "braid/core/future.hpp"
#include "braid/core/queue.hpp"
#include "braid/core/resource.hpp"
#include "braid/core/scheduler.hpp"
#include "braid/core/scope.hpp"
#include "braid/core/spawn_batch.hpp"
#include "braid/core/task_builder.hpp"
#include "braid/fork_join/join.hpp"
#include "braid/fork_join/parallel_for.hpp"
#include "braid/fork_join/reduce.hpp"
#include "braid/fork_join/sort.hpp"
