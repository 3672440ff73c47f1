#!/usr/bin/env python3
"""Builds and runs all benchmarks under g++ and clang++, prints two tables, draws pictures, and writes
results.json and reach.json into out/bench.

The comparisons (bench/compare) run every rival in turns within one process and check each answer
before anything is printed; the micro-benchmarks (bench/core) run under Google Benchmark.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from reach import ROWS, print_reach, reach

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out/bench"
DEMO_ROW = "demo.frame"


class Parser(argparse.ArgumentParser):
    """One sentence instead of a page of usage."""

    def error(self, message):
        fail(2, f"{message[0].upper()}{message[1:]}; see ./bench.sh --help.")


def say(message):
    print(f"bench.sh: {message}", file=sys.stderr)


def fail(code, message):
    say(message)
    sys.exit(code)


def arguments():
    p = Parser(prog="./bench.sh", description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--filter", metavar="REGEX", help="only rows whose name matches")
    p.add_argument("--compiler", choices=("gcc", "clang", "both"), default="both",
                   help="both: all rows under g++, those of the goals (or of the filter) under clang++")
    p.add_argument("--quick", action="store_true", help="3 turns instead of 9")
    p.add_argument("--no-build", action="store_true", help="run what was built before")
    p.add_argument("--pictures", action="store_true",
                   help="draw into docs/pictures instead of out/bench/pictures")
    a = p.parse_args()
    try:
        re.compile(a.filter or ".")
    except re.error:
        p.error(f"'{a.filter}' is no regular expression")
    if a.pictures and a.filter:
        p.error("--pictures shows all rows and goes without --filter")
    return a


def output_of(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


class Build:
    """What one compiler built: the benchmarks, and the demo."""

    def __init__(self, compiler):
        suffix = "-clang" if compiler == "clang" else ""
        self.compiler = compiler
        self.preset = "bench" + suffix
        self.demo_preset = "demo" + suffix

    def program(self, name):
        return ROOT / "out/build" / self.preset / "bin" / name

    def arena(self):
        return ROOT / "out/build" / self.demo_preset / "bin/arena"

    def build(self, preset, *targets):
        command = f"source scripts/build.sh; build_preset {preset} {' '.join(targets)}"
        return subprocess.run(["bash", "-c", command], cwd=ROOT, check=False).returncode == 0

    def cached(self, name):
        """A value from CMake's cache."""
        cache = ROOT / "out/build" / self.preset / "CMakeCache.txt"
        for line in cache.read_text().splitlines():
            if line.startswith(name + ":"):
                return line.split("=", 1)[1]
        return ""

    def version(self):
        # A toolchain file's compiler is not in the cache.
        files = (ROOT / "out/build" / self.preset / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")
        newest = max(files, key=lambda file: file.stat().st_mtime)
        compiler = re.search(r'set\(CMAKE_CXX_COMPILER "(.*)"\)', newest.read_text()).group(1)
        return output_of(compiler, "--version").split("\n")[0]

    def title(self):
        """g++ 12.2.0"""
        number = re.search(r"\d+(\.\d+)+", self.version())
        name = "clang++" if "clang" in self.version() else "g++"
        return f"{name} {number.group()}" if number else name

    def flags(self):
        names = ("CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELEASE")
        return " ".join(self.cached(name) for name in names).strip()


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def circumstances(options):
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
        "command": " ".join(["./bench.sh", *options]),
    }


def set_up(group):
    return subprocess.run(["scripts/setup.sh", group], cwd=ROOT, check=False).returncode == 0


def builds(a):
    """The builds to measure. Without clang++ it says so; that is an error only if nothing is left."""
    wanted = [] if a.compiler == "clang" else [Build("gcc")]
    if a.compiler != "gcc":
        # What cmake/clang.cmake looks for.
        if set_up("clang") and (shutil.which("clang++-19") or shutil.which("clang++")):
            wanted.append(Build("clang"))
        elif wanted:
            say("There is no clang++ on this machine: measuring with g++ only.")
        else:
            fail(2, "There is no clang++ on this machine; install clang-19 and libomp-19-dev.")
    for b in wanted:
        if not a.no_build and not b.build(b.preset, "bench"):
            sys.exit(1)
        if not b.program("compare").exists():
            fail(2, f"Nothing is built in out/build/{b.preset}; run ./bench.sh without --no-build.")
    return wanted


def wants(a, name):
    return re.search(a.filter or ".", name) is not None


def run_comparisons(a, b, goals_only):
    names = output_of(b.program("compare"), "--list").split()
    names = [n for n in names if wants(a, n) and (n in ROWS or not goals_only)]
    if not names:
        return []
    result = OUT / f"compare-{b.compiler}.json"
    exactly = "^(" + "|".join(re.escape(n) for n in names) + ")$"
    command = [b.program("compare"), "--filter", exactly, "--out", result]
    done = subprocess.run(command + (["--quick"] if a.quick else []), cwd=ROOT, check=False)
    if done.returncode != 0:
        fail(done.returncode if done.returncode > 0 else 1, "The comparisons failed (see above).")
    return json.loads(result.read_text())


def run_micro(a, b):
    result = OUT / f"core-{b.compiler}.json"
    result.unlink(missing_ok=True)
    subprocess.run(
        [b.program("core_bench"), f"--benchmark_out={result}", "--benchmark_out_format=json",
         f"--benchmark_min_time={0.02 if a.quick else 0.1}", "--benchmark_repetitions=3",
         f"--benchmark_filter={a.filter or 'all'}", "--benchmark_enable_random_interleaving=true"],
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


def run_demo(a, b):
    """Its row, and why there is none. The arena alternates serial and parallel frames itself."""
    if not a.no_build and not (set_up("demo") and b.build(b.demo_preset, "arena")):
        return [], "the demo could not be built (see above)"
    if not b.arena().exists():
        return [], f"nothing is built in out/build/{b.demo_preset}"
    medians = {"serial": [], "braid": []}
    for _ in range(1 if a.quick else 3):
        command = [b.arena(), "--headless", "--workers", "1", "--frames", "120", "--out", OUT / "demo"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 1:
            fail(1, "The demo's frames differ between serial and parallel runs.")
        if done.returncode != 0:
            return [], (done.stderr.strip().split("\n")[-1] or "the demo failed").rstrip(".")
        summary = json.loads((OUT / "demo/summary.json").read_text())
        medians["serial"].append(summary["serial_ms"]["p50"])
        medians["braid"].append(summary["parallel_ms"]["p50"])
    return [{"name": DEMO_ROW, "unit": "ms", "about": "a frame of the arena on two threads",
             "rivals": [{"system": system, "median": sorted(values)[len(values) // 2],
                         "samples": values} for system, values in medians.items()]}], None


def measure(a, b, goals_only):
    """All that was measured of one build."""
    print(f"Measuring with {b.title()}.", file=sys.stderr)
    run = {"compiler": b.title(), "version": b.version(), "flags": b.flags(),
           "rows": run_comparisons(a, b, goals_only), "core": [] if goals_only else run_micro(a, b)}
    if wants(a, DEMO_ROW):
        demo, why_not = run_demo(a, b)
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
