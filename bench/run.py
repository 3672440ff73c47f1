#!/usr/bin/env python3
"""Builds and runs all benchmarks, prints two tables, writes out/bench/results.json and reach.json.

The comparisons (bench/compare) run every rival in turns within one process and check each answer
before anything is printed; the micro-benchmarks (bench/core) run under Google Benchmark.
"""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from reach import print_reach, reach

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "out/build/bench"
OUT = ROOT / "out/bench"


class Parser(argparse.ArgumentParser):
    """One sentence instead of a page of usage."""

    def error(self, message):
        fail(2, f"{message[0].upper()}{message[1:]}; see ./bench.sh --help.")


def fail(code, message):
    print(f"bench.sh: {message}", file=sys.stderr)
    sys.exit(code)


def arguments():
    p = Parser(prog="./bench.sh", description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--filter", default=".", metavar="REGEX", help="only rows whose name matches")
    p.add_argument("--quick", action="store_true", help="3 turns instead of 9")
    p.add_argument("--no-build", action="store_true", help="run what was built before")
    a = p.parse_args()
    try:
        re.compile(a.filter)
    except re.error:
        p.error(f"'{a.filter}' is no regular expression")
    return a


def output_of(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def cached(name):
    """A value from CMake's cache."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    return ""


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def circumstances(options):
    compiler = cached("CMAKE_CXX_COMPILER")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": output_of("git", "rev-parse", "HEAD"),
        "changed_files": bool(output_of("git", "status", "--porcelain", "--untracked-files=no")),
        "machine": {
            "processor": processor(),
            "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(),
            "load_before": Path("/proc/loadavg").read_text().split()[0],
        },
        "compiler": output_of(compiler, "--version").split("\n")[0],
        "flags": " ".join([cached("CMAKE_CXX_FLAGS"), cached("CMAKE_CXX_FLAGS_RELEASE")]).strip(),
        "command": " ".join(["./bench.sh", *options]),
    }


def run_comparisons(a):
    result = OUT / "compare.json"
    command = [BUILD / "bin/compare", "--filter", a.filter, "--out", result]
    done = subprocess.run(command + (["--quick"] if a.quick else []), cwd=ROOT, check=False)
    if done.returncode != 0:
        fail(done.returncode if done.returncode > 0 else 1, "the comparisons failed (see above).")
    return json.loads(result.read_text())


def run_micro(a):
    result = OUT / "core.json"
    result.unlink(missing_ok=True)
    subprocess.run(
        [BUILD / "bin/core_bench", f"--benchmark_out={result}", "--benchmark_out_format=json",
         f"--benchmark_min_time={0.02 if a.quick else 0.1}", "--benchmark_repetitions=3",
         f"--benchmark_filter={a.filter if a.filter != '.' else 'all'}",
         "--benchmark_enable_random_interleaving=true"],
        cwd=ROOT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not result.exists() or result.stat().st_size == 0:
        return []
    rows = json.loads(result.read_text())["benchmarks"]
    return [
        {"name": "core." + r["run_name"].split("/real_time")[0],
         "unit": r["time_unit"] if "items_per_second" not in r else "ns/item",
         "median": 1e9 / r["items_per_second"] if "items_per_second" in r else r["real_time"]}
        for r in rows if r.get("aggregate_name") == "median"
    ]


def ratio(value, base):
    return f"{value / base:8.2f}" if base and base > 0 and value > 0 else " " * 8


def print_table(rows, micro):
    print(f"{'':42}{'median':>10} {'':8} {'/serial':>8} {'/tbb':>8}")
    for row in rows:
        medians = {r["system"]: r["median"] for r in row["rivals"]}
        print(f"{row['name']}   ({row['about']})")
        for system, value in medians.items():
            print(f"    {system:38}{value:10.2f} {row['unit']:8}"
                  f" {ratio(value, medians.get('serial'))} {ratio(value, medians.get('tbb'))}")
    if micro:
        print("core   (parts of Braid by themselves)")
    for row in micro:
        print(f"    {row['name']:38}{row['median']:10.2f} {row['unit']:8}")


def main():
    a = arguments()
    if not a.no_build:
        built = subprocess.run(["bash", "-c", "set -e; source scripts/build.sh; build_preset bench bench"],
                               cwd=ROOT, check=False)
        if built.returncode != 0:
            sys.exit(1)
    OUT.mkdir(parents=True, exist_ok=True)
    results = circumstances(sys.argv[1:])
    results["rows"] = run_comparisons(a)
    results["core"] = run_micro(a)
    if not results["rows"] and not results["core"]:
        fail(2, f"no benchmark matches '{a.filter}'.")
    (OUT / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print_table(results["rows"], results["core"])
    goals = reach(results["rows"], results["compiler"])
    (OUT / "reach.json").write_text(json.dumps(goals, indent=1) + "\n")
    print_reach(goals)
    print(f"\n{results['machine']['processor']}, {results['machine']['cores']} cores, "
          f"{results['compiler']}, {results['flags']}\nAll samples: out/bench/results.json; goals: out/bench/reach.json")


if __name__ == "__main__":
    main()
