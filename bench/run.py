#!/usr/bin/env python3
"""Builds and runs all benchmarks under g++ and clang++, prints two tables, draws pictures, and writes
results.json and reach.json into out/bench.

The comparisons (bench/compare) run every rival in turns within one process and check each answer
before anything is printed; the micro-benchmarks (bench/core) run under Google Benchmark.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys

from against import against
from programs import (DEMO_ROW, OUT, ROOT, builds, circumstances, demo_is_missing, fail, micro_names,
                      run_comparisons, run_demo, run_micro, say, wants)
from reach import print_reach, reach


class Parser(argparse.ArgumentParser):
    """One sentence instead of a page of usage."""

    def error(self, message):
        fail(2, f"{message[0].upper()}{message[1:]}; see ./bench.sh --help.")


def arguments():
    p = Parser(prog="./bench.sh", description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--filter", metavar="REGEX", help="only rows whose name matches")
    p.add_argument("--against", metavar="COMMIT",
                   help="compare this tree with that commit, in turns; exit code 1 if a row is worse")
    p.add_argument("--compiler", choices=("gcc", "clang", "both"),
                   help="both: all rows under g++, those of the goals (or of the filter) under "
                        "clang++; without it both, with --against gcc")
    p.add_argument("--quick", action="store_true", help="3 turns instead of 9")
    p.add_argument("--no-build", action="store_true", help="run what was built before")
    p.add_argument("--pictures", action="store_true",
                   help="draw into docs/pictures instead of out/bench/pictures")
    a = p.parse_args()
    try:
        re.compile(a.filter or ".")
    except re.error:
        p.error(f"'{a.filter}' is no regular expression")
    if a.pictures and (a.filter or a.against is not None):
        p.error("--pictures shows all rows and goes without --filter and --against")
    a.compiler = a.compiler or ("both" if a.against is None else "gcc")
    return a


def measure(a, b, goals_only):
    """All that was measured of one build."""
    print(f"Measuring with {b.title()}.", file=sys.stderr)
    micro = [] if goals_only else [n for row, n in micro_names(b).items() if wants(a, row)]
    run = {"compiler": b.title(), "version": b.version(), "flags": b.flags(),
           "rows": run_comparisons(a, b, goals_only), "core": run_micro(b, micro, a.quick)}
    if wants(a, DEMO_ROW):
        demo, why_not = [], demo_is_missing(a, b)
        if why_not is None:
            demo, why_not = run_demo(b, 1 if a.quick else 3)
        run["rows"] += demo
        if why_not:
            say(f"demo.speedup is not measured with {b.title()}: {why_not}.")
    return run


def ratio(value, base):
    return f"{value / base:8.2f}" if base and value and base > 0 and value > 0 else " " * 8


def print_table(runs):
    names = {r["name"]: r for run in runs for r in run["rows"]}
    medians = [{r["name"]: {x["system"]: x["median"] for x in r["rivals"]} for r in run["rows"]}
               for run in runs]
    print("\n" + " " * 33 + "".join(f"{run['compiler']:>16} {'/serial':>8} {'/tbb':>8}" for run in runs))
    for name, row in names.items():
        print(f"{name}   ({row['about']}; {row['unit']})")
        for system in [x["system"] for x in row["rivals"]]:
            columns = ""
            for of in (m.get(name, {}) for m in medians):
                value = of.get(system)
                shown = "-" if value is None else f"{value:.2f}"
                columns += f"{shown:>16} {ratio(value, of.get('serial'))} {ratio(value, of.get('tbb'))}"
            print(f"    {system:29}{columns}".rstrip())
    core = {row["name"]: row for run in runs for row in run["core"]}
    if core:
        print("core   (parts of Braid by themselves)")
    for name, row in core.items():
        values = [{r["name"]: r["median"] for r in run["core"]}.get(name) for run in runs]
        columns = "".join(f"{'-':>16}{'':18}" if v is None else f"{v:16.2f} {row['unit']:17}"
                          for v in values)
        print(f"    {name:29}{columns}".rstrip())


def draw_pictures(a):
    """Debian's matplotlib belongs to Debian's Python, which may not be the one that runs this."""
    folder = ROOT / "docs/pictures" if a.pictures else OUT / "pictures"
    shutil.rmtree(OUT / "pictures", ignore_errors=True)  # those of another run
    for python in (sys.executable, "/usr/bin/python3"):
        there = subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False)
        if there.returncode == 0:
            command = [python, ROOT / "bench/pictures.py", OUT / "results.json", folder]
            if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
                fail(1, "The pictures could not be drawn (see above).")
            return f"; pictures: {folder.relative_to(ROOT)}"
    say("No pictures: python3-matplotlib is not installed.")
    return ""


def main():
    a = arguments()
    OUT.mkdir(parents=True, exist_ok=True)
    if a.against is not None:
        sys.exit(against(a, sys.argv[1:]))
    measured = builds(a)
    results = circumstances(sys.argv[1:])
    results["runs"] = [measure(a, b, goals_only=i > 0 and a.filter is None)
                       for i, b in enumerate(measured)]
    if not any(run["rows"] or run["core"] for run in results["runs"]):
        fail(2, f"No benchmark matches '{a.filter}'.")
    (OUT / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print_table(results["runs"])
    goals = [goal for run in results["runs"] for goal in reach(run["rows"], run["compiler"])]
    (OUT / "reach.json").write_text(json.dumps(goals, indent=1) + "\n")
    print_reach(goals)
    pictures = draw_pictures(a)
    print(f"\n{results['machine']['processor']}, {results['machine']['cores']} cores, "
          f"{', '.join(run['compiler'] for run in results['runs'])}, {results['runs'][0]['flags']}\n"
          f"All samples: out/bench/results.json; goals: out/bench/reach.json{pictures}")


if __name__ == "__main__":
    main()
