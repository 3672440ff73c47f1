"""Instructions per operation under callgrind, against a budget: budget_test.py BINARY

A budget is what was measured when the line was written, plus a twentieth. Who makes an operation
cheaper lowers its line; who makes it dearer explains why in the change that raises it."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from hang_limit import HANG_LIMIT_S

# Operation: (workload, recorder, instructions), g++ 12 -O2 -march=x86-64-v2.
# Tasks are counted with all of their life: made, run, completed; and with what their pools make ahead
# where 15,000 are open at once.
BUDGET = {
    "post": ("post", None, 370),
    "spawn": ("spawn", None, 394),
    "spawn in a task": ("spawn_inside", None, 393),
    "task with an edge": ("chain", None, 1606),
    "batch member": ("batch", None, 95),
    "spawn and wait": ("spawn_and_wait", None, 1350),
    "post to a scope": ("scope_post", None, 370),
    "join": ("join", None, 43),
    "join, no context": ("join_plain", None, 54),
    "outermost join": ("join_outermost", None, 184),
    "loop of two": ("loop", None, 915),
    "node of a graph": ("graph", None, 460),
    "submission and its task": ("submit", None, 7880),
    "read, with a chooser": ("read_file", None, 33100),
    "event for 1 of 60 tasks": ("set_among_60", None, 3150),
    "event for 1 of 6,000 tasks": ("set_among_6000", None, 3300),
    "post, recorder at rest": ("post", "resting", 370),
    "post, recording": ("post", "recording", 880),
    "join, recorder at rest": ("join", "resting", 43),
    "node of a graph, recorder at rest": ("graph", "resting", 460),
    "node of a graph, recording": ("graph", "recording", 690),
}
SMALL, LARGE = 5_000, 15_000


def instructions(binary, workload, recorder, count):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    ran = subprocess.run(
        [*command, binary, workload, str(count), *([recorder] if recorder else [])],
        capture_output=True,
        text=True,
        timeout=HANG_LIMIT_S,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", ran.stderr).group(1))


def price(binary, workload, recorder):
    more = instructions(binary, workload, recorder, LARGE)
    more -= instructions(binary, workload, recorder, SMALL)
    return more / (LARGE - SMALL)


def main():
    binary = sys.argv[1]
    over = 0
    for operation, (workload, recorder, budget) in BUDGET.items():
        measured = price(binary, workload, recorder)
        print(f"{operation:34} {measured:7.1f} instructions, budget {budget}")
        over += measured > budget
    if over:
        print(f"{over} of {len(BUDGET)} operations are over their budget.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
