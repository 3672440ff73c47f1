#pragma once
// This header includes joins and parallel algorithms.

#include "braid/fork_join/gather.hpp"
#include "braid/fork_join/join.hpp"
#include "braid/fork_join/parallel_for.hpp"
#include "braid/fork_join/per_worker.hpp"
#include "braid/fork_join/pipeline.hpp"
#include "braid/fork_join/reduce.hpp"
#include "braid/fork_join/sort.hpp"
