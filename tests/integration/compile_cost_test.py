"""What Braid adds to a user's compile time (C36), in processor time of g++ -O2:
braid.hpp alone at most 0.5 s, one more task type with its spawn at most 20 ms.

Each figure is the median of several runs; processor time, because it suffers less from a busy
machine. A busy machine still spoils caches, so each figure has three tries, without any tolerance on
top of the limit.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER_LIMIT_S = 0.5
SPAWN_LIMIT_S = 0.020
SPAWNS = 40
RUNS = 5
TRIES = 3


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


class bench:
    def __init__(self, compiler, include, folder):
        self.command = [compiler, "-std=c++20", "-O2", f"-I{include}", "-c", "-o", f"{folder}/out.o"]
        self.folder = Path(folder)

    def once(self, text):
        source = self.folder / "unit.cpp"
        source.write_text(text, encoding="utf-8")
        before = children_time()
        subprocess.run([*self.command, str(source)], check=True, timeout=60)
        return children_time() - before

    def median(self, text):
        return statistics.median(self.once(text) for _ in range(RUNS))

    def header(self):
        return self.median("#include <braid/braid.hpp>\n")

    def one_more_spawn(self):
        return (self.median(program(1 + SPAWNS)) - self.median(program(1))) / SPAWNS


def within(name, limit, measure):
    for attempt in range(1, TRIES + 1):
        seconds = measure()
        print(f"{name}: {seconds * 1000:.1f} ms, limit {limit * 1000:.0f} ms (try {attempt})")
        if seconds <= limit:
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = bench(arguments.compiler, arguments.include, folder)
        run.header()  # fills the page cache
        results = [
            within("braid.hpp alone", HEADER_LIMIT_S, run.header),
            within("one more spawn", SPAWN_LIMIT_S, run.one_more_spawn),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
