"""What the builds of one tree are called, how they are built, and how their programs are run."""

import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from reach import ROWS

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out/bench"
DEMO_ROW = "demo.frame"


def say(message):
    print(f"bench.sh: {message}", file=sys.stderr)


def fail(code, message):
    say(message)
    sys.exit(code)


def output_of(*command):
    """What the command prints; nothing where there is no such program."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


class Build:
    """What one compiler built of the tree `root`: the benchmarks, and the demo."""

    def __init__(self, compiler, root=ROOT):
        suffix = "-clang" if compiler == "clang" else ""
        self.compiler = compiler
        self.root = root
        self.preset = "bench" + suffix
        self.demo_preset = "demo" + suffix

    def folder(self, preset):
        return self.root / "out/build" / preset

    def where(self, preset):
        return self.folder(preset).relative_to(ROOT)

    def program(self, name):
        return self.folder(self.preset) / "bin" / name

    def arena(self):
        return self.folder(self.demo_preset) / "bin/arena"

    def build(self, preset, *targets):
        command = f"source scripts/build.sh; build_preset {preset} {' '.join(targets)}"
        return subprocess.run(["bash", "-c", command], cwd=self.root, check=False).returncode == 0

    def cached(self, name):
        """A value from CMake's cache."""
        cache = self.folder(self.preset) / "CMakeCache.txt"
        for line in cache.read_text().splitlines():
            if line.startswith(name + ":"):
                return line.split("=", 1)[1]
        return ""

    def version(self):
        # A toolchain file's compiler is not in the cache.
        files = (self.folder(self.preset) / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")
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
        "commit": output_of("git", "rev-parse", "HEAD") or "unknown",
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


def nothing_built(b):
    return f"Nothing is built in {b.where(b.preset)}; run ./bench.sh without --no-build."


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
            fail(2, nothing_built(b))
    return wanted


def wants(a, name):
    return re.search(a.filter or ".", name) is not None


def exactly(names):
    return "^(" + "|".join(re.escape(n) for n in names) + ")$"


def run_comparisons(a, b, goals_only):
    names = output_of(b.program("compare"), "--list").split()
    names = [n for n in names if wants(a, n) and (n in ROWS or not goals_only)]
    if not names:
        return []
    result = OUT / f"compare-{b.compiler}.json"
    command = [b.program("compare"), "--filter", exactly(names), "--out", result]
    done = subprocess.run(command + (["--quick"] if a.quick else []), cwd=ROOT, check=False)
    if done.returncode != 0:
        fail(done.returncode if done.returncode > 0 else 1, "The comparisons failed (see above).")
    return json.loads(result.read_text())


def micro_names(b):
    """{what the table calls it: what Google Benchmark calls it}"""
    listed = output_of(b.program("core_bench"), "--benchmark_list_tests").split()
    return {micro_row(name): name for name in listed}


def micro_row(name):
    return "core." + name.split("/real_time")[0].split("/manual_time")[0]


def run_micro(b, names, quick):
    """Rows with the medians of the micro-benchmarks that Google Benchmark calls `names`. Empty
    when they fail."""
    result = OUT / f"core-{b.compiler}.json"
    result.unlink(missing_ok=True)
    if not names:
        return []
    done = subprocess.run(
        [b.program("core_bench"), f"--benchmark_out={result}", "--benchmark_out_format=json",
         f"--benchmark_min_time={0.02 if quick else 0.1}", "--benchmark_repetitions=3",
         f"--benchmark_filter={exactly(names)}", "--benchmark_enable_random_interleaving=true"],
        cwd=ROOT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0 or not result.exists() or result.stat().st_size == 0:
        return []
    rows = json.loads(result.read_text())["benchmarks"]
    return [
        {"name": micro_row(r["run_name"]),
         "unit": r["time_unit"] if "items_per_second" not in r else "ns/item",
         "median": 1e9 / r["items_per_second"] if "items_per_second" in r else r["real_time"]}
        for r in rows if r.get("aggregate_name") == "median"
    ]


def demo_is_missing(a, b):
    """Builds the demo; why it cannot be measured, or None."""
    if not a.no_build and not (set_up("demo") and b.build(b.demo_preset, "arena")):
        return "the demo could not be built (see above)"
    if not b.arena().exists():
        return f"nothing is built in {b.where(b.demo_preset)}"
    return None


def run_demo(b, runs):
    """Its row, and why there is none. The arena alternates serial and parallel frames itself."""
    medians = {"serial": [], "braid": []}
    for _ in range(runs):
        command = [b.arena(), "--headless", "--workers", "1", "--frames", "120", "--out", OUT / "demo"]
        done = subprocess.run(command, cwd=b.root, capture_output=True, text=True, check=False)
        if done.returncode == 1:
            fail(1, f"The demo in {b.where(b.demo_preset)} draws other frames in parallel than serially.")
        if done.returncode != 0:
            return [], (done.stderr.strip().split("\n")[-1] or "the demo failed").rstrip(".")
        summary = json.loads((OUT / "demo/summary.json").read_text())
        medians["serial"].append(summary["serial_ms"]["p50"])
        medians["braid"].append(summary["parallel_ms"]["p50"])
    return [{"name": DEMO_ROW, "unit": "ms", "about": "a frame of the arena on two threads",
             "rivals": [{"system": system, "median": sorted(values)[len(values) // 2],
                         "samples": values} for system, values in medians.items()]}], None
