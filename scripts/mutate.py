#!/usr/bin/env python3
"""Changes one thing at a time and runs the tests that ought to notice: scripts/mutate.sh SEED N

N mutants, drawn by SEED, of src/{core,graph,job_list,queue,frame} and include/braid/fork_join, tried
in a copy in out/mutate. Ends with 1 if more than a tenth survives, and if tests fail unchanged.
"""

import argparse
import fcntl
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
import mutants  # noqa: E402  (beside this file)

MODULES = {
    "core": "src/core",
    "graph": "src/graph",
    "job_list": "src/job_list",
    "queue": "src/queue",
    "frame": "src/frame",
    "fork_join": "include/braid/fork_join",
}
# Only joins, and nodes that join, tell the core's part of joins; those who use its doors tell them.
# Stable ids of nodes are compared with those of all else.
ALSO = {
    "src/core/extension.cpp": ("graph", "job_list"),
    "src/core/extension.hpp": ("graph", "job_list"),
    "src/core/fork_doors.cpp": ("fork_join", "graph"),
    "src/core/life/suspension_lists.cpp": ("async",),
    "src/core/life/suspension_lists.hpp": ("async",),
    "src/core/life/suspensions_room.cpp": ("async",),
    "src/core/outside/outside_room.cpp": ("async",),
    "src/core/outside/source_thread.cpp": ("async",),
    "src/core/own_task.hpp": ("graph", "job_list"),
    "src/core/ready/branches_room.cpp": ("fork_join", "graph"),
    "src/core/run/branch.cpp": ("fork_join", "graph"),
    "src/core/scheduler.cpp": ("fork_join",),
    "src/core/suspend.cpp": ("async",),
    "src/core/wait/wait_for_branch.cpp": ("fork_join", "graph"),
    "src/graph/graph_run.cpp": ("core",),
    "src/queue/queue.cpp": ("frame",),
}
TESTED = list(dict.fromkeys([*MODULES, *(m for also in ALSO.values() for m in also)]))
COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "tests", "scripts")
# What no mutant is in, and gdb, which takes longer than all the rest.
OPTIONS = ("-DBRAID_BUILD_SAMPLES=OFF", "-DBRAID_BUILD_DEMO=OFF", "-DBRAID_BUILD_TOOLS=OFF",
           "-DBRAID_BUILD_BENCH=OFF", "-DBRAID_WITH_STREAM=OFF", "-DBRAID_WITH_TRACY=OFF",
           "-DCMAKE_CXX_FLAGS_DEBUG=-O1")  # fmt: skip
LEFT_OUT = ["Gdb.*"]
BUILD_SECONDS = 900
PATIENCE = 10  # how many times as long as before one test may take, beside LEAST_SECONDS
LEAST_SECONDS = 5
REPEATS = 3  # of a test that failed, alone: a busy machine fails some now and then
KILLERS = 40  # tests that noticed something lately, which are tried first
MEMORY = 8 << 30  # a mutant that never stops allocating
MOST_SURVIVORS = 0.1
WORKERS = "0,2"


class stopped(Exception):
    """What was begun cannot go on; the text says why."""


def draw(root, seed):
    """All mutants of a tree, in the order in which `seed` tries them."""
    found = []
    for folder in MODULES.values():
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".hpp", ".cpp"):
                name = file.relative_to(root).as_posix()
                try:
                    found += mutants.source(name, file.read_text("utf-8")).mutants
                except mutants.unreadable as error:
                    raise stopped(str(error)) from error
    random.Random(seed).shuffle(found)
    return found


def module_of(file):
    return next(m for m, folder in MODULES.items() if file.startswith(folder + "/"))


class processes:
    """Starts each in a session of its own, and leaves none behind."""

    def __init__(self):
        self.running = []

    def start(self, command, **how):
        process = subprocess.Popen(command, start_new_session=True, **how)
        self.running.append(process)
        return process

    def end_all(self):
        """First asks: ninja's compilers are in groups of their own, which only ninja ends."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            for process in self.running:
                try:
                    os.killpg(process.pid, how)
                except ProcessLookupError:
                    pass
            for process in self.running:
                try:
                    process.wait(5 if how == signal.SIGTERM else None)
                except subprocess.TimeoutExpired:
                    pass
        self.running = []

    def run(self, commands, seconds, hangs=lambda: False, **how):
        """All at once, until all are done or one fails: 0, that exit status, or None: no time.

        `failed` is then the number of the command that failed.
        """
        end = time.monotonic() + seconds
        waiting = [(i, self.start(c, **{**how, **extra})) for i, (c, extra) in enumerate(commands)]
        self.failed = None
        try:
            while waiting:
                for i, process in list(waiting):
                    status = process.poll()
                    if status is not None:
                        waiting.remove((i, process))
                    if status:
                        self.failed = i
                        return status
                if time.monotonic() > end or hangs():
                    return None
                time.sleep(0.02)
            return 0
        finally:
            self.end_all()


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class test_log:
    """What one process with tests has said so far; which test it is at, and since when."""

    def __init__(self, path):
        self.path, self.size, self.since = path, -1, time.monotonic()

    def lines(self):
        return self.path.read_text("utf-8", "replace").splitlines()

    def running(self):
        """The test that has begun last, unless it is over."""
        at = None
        for line in self.lines():
            said = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^ ,]+)", line)
            if said and said[1] == "RUN":
                at = said[2]
            elif said and said[2] == at:
                at = None
        return at

    def durations(self):
        found = (re.match(r"\[       OK \] ([^ ,]+).* \((\d+) ms\)$", x) for x in self.lines())
        return {f[1]: int(f[2]) / 1000 for f in found if f}

    def failed(self):
        found = (re.match(r"\[  FAILED  \] ([^ ,]+)", x) for x in self.lines())
        return next((f[1] for f in found if f), None) or self.running()

    def idle_seconds(self):
        size = self.path.stat().st_size
        if size != self.size:
            self.size, self.since = size, time.monotonic()
        return time.monotonic() - self.since


class workshop:
    """A copy of the project with its build."""

    def __init__(self, root):
        self.root = root
        self.folder = root / "out/mutate"
        self.tree, self.build = self.folder / "tree", self.folder / "build"
        self.log = self.folder / "log"  # of the build
        self.logs = self.folder / "logs"  # of the tests
        self.jobs = len(os.sched_getaffinity(0))
        self.children = processes()
        self.seconds = {}  # of a module's tests, unchanged
        self.durations = {}  # of each test, unchanged
        self.files = {}  # of each module: its tests with their files
        self.killers = []  # tests, the latest first
        self.building = 0  # seconds

    def copy(self):
        """What is the same already keeps its time, so that it is not built again."""
        wanted = set()
        for part in COPIED:
            top = self.root / part
            for file in top.rglob("*") if top.is_dir() else [top]:
                if not file.is_file() or "__pycache__" in file.parts:
                    continue
                copy = self.tree / file.relative_to(self.root)
                wanted.add(copy)
                if not copy.exists() or copy.read_bytes() != file.read_bytes():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, copy)
        for file in [f for f in self.tree.rglob("*") if f.is_file()]:
            if file not in wanted:
                file.unlink()

    def configure(self):
        command = ["cmake", "--preset", "dev", "-B", str(self.build), *OPTIONS]
        if self.quietly(command) != 0:
            raise stopped(f"the copy cannot be configured; see {self.log}")

    def quietly(self, command):
        with open(self.log, "wb") as log:
            return self.children.run(
                [(command, {})], BUILD_SECONDS, cwd=self.tree, stdout=log, stderr=log
            )

    def make(self, modules):
        return self.quietly(["ninja", "-C", str(self.build), *(m + "_tests" for m in modules)]) == 0

    def test(self, module, seconds=BUILD_SECONDS, only=(), without=(), repeats=1, patience=None):
        """0, an exit status, or None for a time limit; `culprit` is then the test that was it.

        With `patience` each test has a limit of its own: so many times what it took unchanged.
        """
        shards = 1 if len(only) == 1 else 2 * self.jobs  # many tests sleep most of the time
        chosen = ":".join(only or ["*"]) + "-" + ":".join([*LEFT_OUT, *without])
        program = [str(self.build / f"bin/{module}_tests"), "--gtest_filter=" + chosen,
                   f"--gtest_repeat={repeats}"]  # fmt: skip
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir()
        commands, self.said = [], []
        for shard in range(shards):
            environment = {
                **os.environ,
                "BRAID_TEST_WORKERS": WORKERS,
                "GTEST_FAIL_FAST": "1",
                "GTEST_TOTAL_SHARDS": str(shards),
                "GTEST_SHARD_INDEX": str(shard),
            }
            self.said.append(test_log(self.logs / str(shard)))
            log = open(self.said[-1].path, "wb")
            commands.append((program, {"env": environment, "stdout": log, "stderr": log}))
        self.culprit = None

        def hangs():
            for log in self.said if patience is not None else ():
                if log.idle_seconds() < LEAST_SECONDS * patience / PATIENCE:
                    continue
                test = log.running()
                if log.idle_seconds() > self.limit_of(test, patience):
                    self.culprit = test
                    return True
            return False

        try:
            status = self.children.run(commands, seconds, hangs, cwd=self.build, preexec_fn=limits)
        finally:
            for _, how in commands:
                how["stdout"].close()
        if status:
            self.culprit = self.said[self.children.failed].failed()
        return status

    def limit_of(self, test, patience):
        return patience * (self.durations.get(test, 0) + LEAST_SECONDS / PATIENCE)

    def files_of(self, module):
        """Test file, without its end, by the name of each test."""
        listed = self.folder / "listed.json"
        program = [str(self.build / f"bin/{module}_tests"), "--gtest_list_tests",
                   f"--gtest_output=json:{listed}"]  # fmt: skip
        subprocess.run(program, stdout=subprocess.DEVNULL, check=True,
                       env={**os.environ, "BRAID_TEST_WORKERS": WORKERS})  # fmt: skip
        return {
            f"{suite['name']}.{test['name']}": Path(test["file"]).stem.removesuffix("_test")
            for suite in json.loads(listed.read_text("utf-8"))["testsuites"]
            for test in suite["testsuite"]
        }

    def most_likely(self, module, file):
        """The tests that noticed something lately, and those whose file is named like this one."""
        source = Path(file)
        names = {source.stem, source.parent.name}
        alike = [t for t, f in self.files[module].items()
                 if any(f.startswith(n) or n.startswith(f) for n in names)]  # fmt: skip
        known = [t for t in self.killers if t in self.files[module]]
        return list(dict.fromkeys(known + alike))

    def prepare(self, modules):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.folder / "lock", "w")  # until this program ends
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise stopped(f"another one works in {self.folder}; wait for it") from None
        self.copy()
        if not (self.build / "build.ninja").exists():
            self.configure()
        if not self.make(modules):
            raise stopped(f"the copy does not build; see {self.log}")
        for module in modules:
            start = time.monotonic()
            self.files[module] = self.files_of(module)
            if self.test(module) != 0:
                raise stopped(f"{module}_tests fails without any change: {self.culprit}")
            self.seconds[module] = time.monotonic() - start
            for log in self.said:
                self.durations.update(log.durations())

    def judge(self, change):
        """killed, survived, timed out, or "no mutant" if it does not compile; and by which test."""
        file = self.tree / change.file
        text = file.read_text("utf-8")
        modules = [module_of(change.file), *ALSO.get(change.file, ())]
        try:
            file.write_text(change.apply(text), "utf-8")
            start = time.monotonic()
            compiles = self.make(modules)
            self.building += time.monotonic() - start
            if not compiles:
                return "no mutant", ""
            for module in modules:
                outcome = self.notice(module, self.most_likely(module, change.file))
                if outcome != "survived":
                    self.killers = [self.culprit, *(t for t in self.killers if t != self.culprit)]
                    del self.killers[KILLERS:]
                    return outcome, self.culprit or "the whole program"
            return "survived", ""
        finally:
            file.write_text(text, "utf-8")

    def notice(self, module, first):
        """First those tests, then the others; who fails or hangs must do so alone, too."""
        seconds = 60 + PATIENCE * self.seconds[module]
        doubtful = []
        for only, without in ([(first, [])] if first else []) + [([], first)]:
            while (
                status := self.test(module, seconds, only, without + doubtful, patience=PATIENCE)
            ) != 0:
                test = self.culprit
                if test is None or len(doubtful) == 3 or self.fails_alone(module, test):
                    self.culprit = test
                    return "timed out" if status is None else "killed"
                doubtful.append(test)
        return "survived"

    def fails_alone(self, module, test):
        limit = REPEATS * self.limit_of(test, 3 * PATIENCE)
        return self.test(module, limit, [test], repeats=REPEATS, patience=3 * PATIENCE) != 0


def number(text):
    value = int(text) if text.isascii() and text.isdigit() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"give whole numbers from 1, not '{text}'")
    return value


class one_sentence(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"mutate.sh: {message}.\n")


def read_arguments():
    parser = one_sentence(prog="mutate.sh", description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=number, metavar="SEED")
    parser.add_argument("count", type=number, metavar="N")
    parser.add_argument("--list", action="store_true", help="say what would be tried first")
    parser.add_argument("--only", help="of these only the ones with such numbers, as 3,17")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    if arguments.only is not None:
        try:
            arguments.only = {number(n) for n in arguments.only.split(",")}
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument --only: {error}")
    return arguments


def report(results, wanted):
    table, modules = Counter(), Counter()
    for outcome, change in results:
        table[outcome] += 1
        modules[module_of(change.file), outcome] += 1
    columns = ("killed", "survived", "timed out")
    print(f"\n{'':10}" + "".join(f"{c:>11}" for c in columns))
    for module in MODULES:
        print(f"{module:10}" + "".join(f"{modules[module, c]:11}" for c in columns))
    print(f"{'all':10}" + "".join(f"{table[c]:11}" for c in columns))
    if len(results) < wanted:
        print(f"Only {len(results)} of {wanted} were tried.")
    return 1 if table["survived"] > MOST_SURVIVORS * len(results) else 0


def campaign(shop, drawn, count, only, results):
    """Adds (outcome, mutant) of the first `count` that compile; prints them as they come."""
    for at, change in enumerate(drawn, 1):
        if len(results) == count:
            break
        if only is not None and at not in only:
            continue
        start = time.monotonic()
        outcome, by = shop.judge(change)
        took = time.monotonic() - start
        if outcome != "no mutant":
            results.append((outcome, change))
        by = f" [{by}]" if by else ""
        print(f"{at:4} {outcome:10} {took:4.0f} s {change}{by}", flush=True)


def main():
    arguments = read_arguments()
    shop, results = workshop(arguments.root.resolve()), []
    for how in (signal.SIGINT, signal.SIGTERM):  # also where the shell ignores the first
        signal.signal(how, signal.default_int_handler)
    try:
        drawn = draw(shop.root, arguments.seed)
        if arguments.list:
            for at, change in enumerate(drawn[: arguments.count], 1):
                print(f"{at:4} {change}")
            return 0
        shop.prepare(TESTED)
        campaign(shop, drawn, arguments.count, arguments.only, results)
    except stopped as error:
        print(f"mutate.sh: {error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        report(results, arguments.count)
        return 130
    finally:
        shop.children.end_all()
    return report(results, len(arguments.only or ()) or arguments.count)


if __name__ == "__main__":
    sys.exit(main())
