"""Instructions per operation under callgrind, against a budget: budget_test.py BINARY

A budget is what was measured when the line was written, plus a twentieth. Who makes an operation
cheaper lowers its line; who makes it dearer explains why in the change that raises it."""

import re
import subprocess
import sys

# Operation: (workload, workload without it, instructions), g++ 12 -O2 -march=x86-64-v2.
# Tasks are counted with all of their life: made, run, completed.
BUDGET = {
    "post": ("post", None, 385),
    "spawn": ("spawn", None, 410),
    "spawn in a task": ("spawn_inside", None, 410),
    "task with an edge": ("chain", None, 1640),
    "batch member": ("batch", None, 95),
    "spawn and wait": ("spawn_and_wait", None, 1750),
    "post to a scope": ("scope_post", None, 370),
    "join": ("join", None, 48),
    "join, no context": ("join_plain", None, 57),
    "outermost join": ("join_outermost", None, 184),
    "loop of two": ("loop", None, 915),
    "node of a graph": ("graph", None, 420),
}
SMALL, LARGE = 5_000, 15_000


def instructions(binary, workload, count):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    ran = subprocess.run(
        [*command, binary, workload, str(count)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", ran.stderr).group(1))


def price(binary, workload):
    more = instructions(binary, workload, LARGE) - instructions(binary, workload, SMALL)
    return more / (LARGE - SMALL)


def main():
    binary = sys.argv[1]
    prices = {None: 0.0}
    over = 0
    for operation, (workload, without, budget) in BUDGET.items():
        for each in (workload, without):
            if each not in prices:
                prices[each] = price(binary, each)
        measured = prices[workload] - prices[without]
        print(f"{operation:16} {measured:7.1f} instructions, budget {budget}")
        over += measured > budget
    if over:
        print(f"{over} of {len(BUDGET)} operations are over their budget.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
