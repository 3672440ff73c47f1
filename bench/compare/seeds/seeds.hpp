#pragma once
// The designs of five documents about task systems, written again without their defects, on the
// same work: handmade_queue (000), locked_pool (001), job_lists (002), task_manager (003),
// task_queue (004). Always two threads: where the waiter helps it is one of them, elsewhere it
// sleeps. What came out: docs/design/seeds.md.

#include "driver.hpp"

namespace bench::seeds {

void add(suite& s);

void add_flat(suite& s);  // independent jobs: what a critical section costs, and from which size on
void add_tree(suite& s);  // jobs that make jobs: one global queue against stealing
void add_graph(suite& s);  // edges, against one dependency, sync points and draining
void add_mixed(suite& s);  // short work beside long work: priorities against queues of their own

}  // namespace bench::seeds
