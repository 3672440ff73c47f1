"""Instructions per operation under callgrind, against a budget: budget_test.py BINARY

The budget is what was measured when the line was written, plus a tenth. Who makes an operation
cheaper lowers its line; who makes it dearer explains why in the change that raises it."""

import re
import subprocess
import sys

# Workload -> instructions per operation, g++ 12 -O2 -march=x86-64-v2.
BUDGET = {
    "spawn": 2330,  # spawn + wait + run + complete
    "after": 4650,  # the same with a predecessor: two tasks, one edge
    "post": 1850,  # post + run + complete, amortised over blocks of 500
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


def main():
    binary = sys.argv[1]
    over = 0
    for workload, budget in BUDGET.items():
        more = instructions(binary, workload, LARGE) - instructions(binary, workload, SMALL)
        price = more / (LARGE - SMALL)
        print(f"{workload}: {price:.1f} instructions, budget {budget}")
        over += price > budget
    if over:
        print(f"{over} of {len(BUDGET)} operations are over their budget.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
