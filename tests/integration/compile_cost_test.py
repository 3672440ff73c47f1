"""What Braid adds to a user's compile time (C36), in instructions of g++ -O2: braid.hpp alone, and one
more task type with its spawn.

Half a second for the header and 20 ms for a spawn are the aim. Seconds are no measure that holds: the
same source took 0.46 s on a quiet machine and 0.60 s on a busy one. So valgrind counts instructions, as
it does for the budgets. 1.4 thousand million were 0.46 to 0.55 s, of which <atomic> takes 1.1; 80
million were 17 to 20 ms. The seconds are printed beside them.
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

HEADER_LIMIT = 1_500_000_000
SPAWN_LIMIT = 80_000_000
SPAWNS = 40
COUNTER = "valgrind,--tool=cachegrind,--cache-sim=no,--cachegrind-out-file=/dev/null"


def program(spawns):
    # Each lambda is a type of its own, with captures, like those of a real program.
    calls = "\n".join(
        f'    last = s.spawn({{.name = "task {i}", .after = {{last}}}}, [&n] {{ n += {i}; }});'
        for i in range(spawns)
    )
    return f"""#include <braid/braid.hpp>
int run(braid::scheduler& s) {{
    int n = 0;
    braid::task_id last;
{calls}
    s.wait(last);
    return n;
}}
"""


def children_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class compiler:
    def __init__(self, name, include, folder):
        self.command = [name, "-std=c++20", "-O2", f"-I{include}", "-S", "-o", f"{folder}/out.s"]
        self.source = Path(folder) / "unit.cpp"

    def cost(self, text):
        """(instructions, seconds) to compile this text."""
        self.source.write_text(text, encoding="utf-8")
        before = children_time()
        subprocess.run([*self.command, str(self.source)], check=True, timeout=HANG_LIMIT_S)
        seconds = children_time() - before
        counted = subprocess.run(
            [*self.command, "-wrapper", COUNTER, str(self.source)],
            check=True, timeout=HANG_LIMIT_S, stderr=subprocess.PIPE, text=True,
        )
        return int(re.search(r"I\s+refs:\s+([\d,]+)", counted.stderr)[1].replace(",", "")), seconds


def within(name, limit, instructions, seconds):
    print(
        f"{name}: {instructions / 1e6:.1f} million instructions, limit {limit / 1e6:.0f}"
        f" ({seconds * 1000:.1f} ms)"
    )
    return instructions <= limit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cpp = compiler(arguments.compiler, arguments.include, folder)
        header = cpp.cost("#include <braid/braid.hpp>\n")
        one = cpp.cost(program(1))
        many = cpp.cost(program(1 + SPAWNS))
    spawn = [(of_many - of_one) / SPAWNS for of_many, of_one in zip(many, one)]
    results = [
        within("braid.hpp alone", HEADER_LIMIT, *header),
        within("one more spawn", SPAWN_LIMIT, *spawn),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
