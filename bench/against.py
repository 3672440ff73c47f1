"""./bench.sh --against COMMIT: this tree, with its changes, beside that commit.

Both trees are built whole, since half of the library is inline, and each runs its own benchmarks.
A row is measured in turns, A B B A, one process after the other; what the machine does meanwhile
happens to both. A row whose median of ratios is above its limit is measured again, and is worse only
if it is above it again."""

import fcntl
import json
import runpy
import shutil
import subprocess
import sys
from dataclasses import dataclass
from statistics import median
from typing import Callable

from programs import (DEMO_ROW, OUT, ROOT, Build, builds, circumstances, demo_is_missing, exactly, fail,
                      micro_names, nothing_built, output_of, run_demo, run_micro, say, set_up, wants)
from reach import ROWS

LIMIT = 1.05
LIMIT_OF_COUNTS = 1.02  # instructions are nearly the same in every run
# A ratio of two values that are next to nothing says nothing: smaller ones count as this much.
LEAST = {"us over": 0.1, "ms/s": 0.05, "calls": 0.001}
TREES = ROOT / "out/against"
BUDGET_TEST = "tests/integration/budget/budget_test.py"


class Broken(Exception):
    """A benchmark ended badly on one side, in one sentence."""


@dataclass
class Side:
    """One of the two trees, as one compiler built it."""
    name: str
    build: Build


@dataclass
class Source:
    """A program that yields rows. take(side): {row: (unit, value)}; throws Broken."""
    title: str
    take: Callable
    limit: float = LIMIT
    once: bool = False  # a count, which needs no second round


# ---- the other tree

def commit_of(name):
    """The full hash. Ends the program where there is none."""
    top = output_of("git", "rev-parse", "--show-toplevel") if shutil.which("git") else ""
    if top != str(ROOT):
        fail(2, "This is no git checkout, so there is no commit to compare it with.")
    commit = output_of("git", "rev-parse", "--verify", "--quiet", "--end-of-options",
                       name + "^{commit}")
    if not commit:
        fail(2, f"There is no commit '{name}' in this repository.")
    return commit


def git_in(tree, *arguments):
    return output_of("git", "-C", str(tree), *arguments)


def lock_trees():
    """Held until the returned file is closed, for another run could remove the tree of this one."""
    lock = (OUT / "against.lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        fail(2, "Another ./bench.sh --against runs here; wait until it has ended.")
    return lock


def check_out(commit):
    """A tree of that commit below out/against. One that is there is used again with all that was built
    in it; those of other commits are removed. The caller holds the lock."""
    tree = TREES / commit[:12]
    for other in TREES.iterdir() if TREES.exists() else ():
        if other == tree and git_in(tree, "rev-parse", "--show-toplevel", "HEAD").split() == [
                str(tree), commit] and not git_in(tree, "status", "--porcelain"):
            continue
        output_of("git", "worktree", "remove", "--force", "--force", str(other))
        shutil.rmtree(other, ignore_errors=True)
    if not tree.exists():
        # Forced, in case that out/ was removed by hand and git still knows of this tree.
        command = ["git", "worktree", "add", "--force", "--force", "--detach", str(tree), commit]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(2, f"{commit[:12]} cannot be checked out: {done.stderr.strip().splitlines()[-1]}.")
    return tree


def sides_of(a, build, tree, name):
    """[current, other], both built."""
    other = Build(build.compiler, tree)
    if not a.no_build and not other.build(other.preset, "bench"):
        fail(2, f"The benchmarks of {name} cannot be built (see above).")
    if not other.program("compare").exists():
        fail(2, nothing_built(other))
    return [Side("current", build), Side(name, other)]


# ---- what both sides have to measure

def last_line(text):
    return (text.strip().splitlines() or ["it says nothing"])[-1].rstrip(".")


def comparison(name, options):
    def take(side):
        command = [side.build.program("compare"), "--filter", exactly([name]), "--quick", *options]
        done = subprocess.run(command, cwd=side.build.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            why = last_line(done.stderr) if done.returncode > 0 else f"signal {-done.returncode}"
            why = why.removeprefix("compare: ").removeprefix(f"{name}, ")
            raise Broken(f"{name} fails in {side.name}: {why}.")
        return {name if rival["system"] == "braid" else f"{name} ({rival['system']})":
                (row["unit"], rival["median"])
                for row in json.loads(done.stdout) for rival in row["rivals"]
                if rival["system"].startswith("braid")}

    return Source(name, take)


def comparisons(a, sides, goals_only):
    """Sources, and for each side the names that only it has."""
    # Commits from before --system measure all rivals; then so does the current tree, for equal
    # circumstances.
    options = ["--system", "^braid"]
    if not all(output_of(side.build.program("compare"), "--list", *options) for side in sides):
        options = []
    names = [output_of(side.build.program("compare"), "--list", *options).split() for side in sides]
    names = [[n for n in of if wants(a, n) and (n in ROWS or not goals_only)] for of in names]
    return on_both(names, lambda name: comparison(name, options))


def micro(a, sides):
    names = [micro_names(side.build) for side in sides]

    def source(row):
        def take(side):
            taken = run_micro(side.build, [micro_names_of[side.name][row]], quick=True)
            if not taken:
                raise Broken(f"{row} fails in {side.name}.")
            return {row: (taken[0]["unit"], taken[0]["median"])}

        return Source(row, take)

    micro_names_of = {side.name: of for side, of in zip(sides, names)}
    return on_both([[n for n in of if wants(a, n)] for of in names], source)


def demo(a, sides):
    def take(side):
        rows, why_not = run_demo(side.build, 1)
        if why_not:
            raise Broken(f"{DEMO_ROW} fails in {side.name}: {why_not}.")
        return {DEMO_ROW: ("ms", next(rival["median"] for rival in rows[0]["rivals"]
                                      if rival["system"] == "braid"))}

    if not wants(a, DEMO_ROW):
        return [], [[], []]
    for side in sides:
        why_not = demo_is_missing(a, side.build)
        if why_not:
            say(f"{DEMO_ROW} is not measured: in {side.name} {why_not}.")
            return [], [[], []]
    return [Source(DEMO_ROW, take)], [[], []]


def budgets(a, sides):
    """The operations of budget_test.py: each side's own table, counted by the current tree's script."""
    scripts = [side.build.root / BUDGET_TEST for side in sides]
    scripts = [runpy.run_path(str(script)) if script.exists() else {} for script in scripts]
    tables = [{f"budget.{operation}": line for operation, line in script.get("BUDGET", {}).items()
               if wants(a, f"budget.{operation}")} for script in scripts]
    if not any(tables):
        return [], [[], []]
    why_not = budgets_are_missing(a, sides)
    if why_not:
        say(f"Instructions are not counted: {why_not}.")
        return [], [[], []]
    line_of = {side.name: table for side, table in zip(sides, tables)}

    def source(row):
        def take(side):
            workload, recorder, _ = line_of[side.name][row]
            binary = side.build.folder("budget") / "bin/budget_tests"
            try:
                return {row: ("instructions", scripts[0]["price"](binary, workload, recorder))}
            except subprocess.SubprocessError as e:
                raise Broken(f"{row} fails in {side.name}: {last_line(str(e))}.") from e

        return Source(row, take, LIMIT_OF_COUNTS, once=True)

    return on_both([list(table) for table in tables], source)


def budgets_are_missing(a, sides):
    """Builds them; why they cannot be counted, or None."""
    if not a.no_build and not set_up("test"):
        return "what they need cannot be installed (see above)"
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    for side in sides:
        if not a.no_build and not side.build.build("budget", "budget_tests"):
            return f"preset budget of {side.name} cannot be built (see above)"
        if not (side.build.folder("budget") / "bin/budget_tests").exists():
            return f"nothing is built in {side.build.where('budget')}"
    return None


def on_both(names, source):
    """A source for each name that both sides have, and for each side the names that only it has."""
    both = [source(name) for name in names[0] if name in names[1]]
    return both, [[n for n in names[0] if n not in names[1]], [n for n in names[1] if n not in names[0]]]


# ---- measuring and judging

def in_turns(source, sides, rounds):
    """{row: (unit, (values of the first side, values of the second))}"""
    taken = {}
    print(f"  {source.title:41}", end="", file=sys.stderr, flush=True)
    try:
        for n in range(1 if source.once else rounds):
            for i in (0, 1) if n % 2 == 0 else (1, 0):
                for row, (unit, value) in source.take(sides[i]).items():
                    taken.setdefault(row, (unit, ([], [])))[1][i].append(value)
            if not taken:
                break  # nothing of Braid is in it
            print(".", end="", file=sys.stderr, flush=True)
    finally:
        print(file=sys.stderr)
    return taken


def compared(unit, current, other):
    least = LEAST.get(unit, 1e-9)
    ratios = [max(mine, least) / max(its, least) for mine, its in zip(current, other)]
    return {"current": median(current), "other": median(other), "ratio": median(ratios),
            "lowest": min(ratios), "highest": max(ratios),
            "samples": {"current": current, "other": other}}


def measure_twice(sources, sides, rounds):
    """All rows, and for each side those that only it has. A row above its limit has a second
    measurement, `again`; `worse`: above it in both."""
    rows, only = [], [[], []]
    for source in sources:
        for name, (unit, values) in in_turns(source, sides, rounds).items():
            if not all(values):
                only[0 if values[0] else 1].append(name)
                continue
            rows.append({"name": name, "unit": unit, "limit": source.limit, "again": None,
                         "worse": False, **compared(unit, *values), "source": source})
    above = [row for row in rows if row["ratio"] > row["limit"]]
    if above:
        print("Again, since they are above their limit:", file=sys.stderr)
    for source in {id(row["source"]): row["source"] for row in above}.values():
        taken = in_turns(source, sides, rounds)
        for row in above:
            if row["source"] is source:
                unit, values = taken[row["name"]]
                row["again"] = compared(unit, *values)
                row["worse"] = row["again"]["ratio"] > row["limit"]
    for row in rows:
        del row["source"]
    return rows, only


# ---- what it says

def print_rows(title, other, rows):
    print(f"\n{title:42}{'unit':14}{other:>12}{'current':>12}{'ratio':>8}{'lowest':>9}{'highest':>9}")
    for row in rows:
        for label, values in ((row["name"], row), ("    again", row["again"])):
            if values:
                print(f"{label:42}{row['unit']:14}{values['other']:12.2f}{values['current']:12.2f}"
                      f"{values['ratio']:8.3f}{values['lowest']:9.3f}{values['highest']:9.3f}")


def print_verdict(rows, only, names):
    """The exit code."""
    for name, mine in zip(names, only):
        if mine:
            print(f"Only in {name}: {', '.join(mine)}.")

    def listed(which):
        return "; ".join(f"{row['name']} {row['ratio']:.3f}, then {row['again']['ratio']:.3f}"
                         for row in which)

    worse = [row for row in rows if row["worse"]]
    once = [row for row in rows if row["again"] and not row["worse"]]
    if once:
        print(f"Above the limit once, but not twice: {listed(once)}.")
    limits = f"{LIMIT} in two runs; instructions: {LIMIT_OF_COUNTS}"
    if worse:
        print(f"Worse than {names[1]} ({limits}): {listed(worse)}.")
    else:
        print(f"None of {len(rows)} rows is worse than {names[1]} ({limits}).")
    return 1 if worse else 0


def gathered(*parts):
    """One (sources, only) made of several."""
    return [s for sources, _ in parts for s in sources], [
        [name for _, only in parts for name in only[i]] for i in (0, 1)]


def against(a, options):
    """The exit code: 1 if a row is worse."""
    commit = commit_of(a.against)
    with lock_trees():
        return against_commit(a, options, commit)


def against_commit(a, options, commit):
    name = commit[:12]
    measured, tree = builds(a), check_out(commit)
    pairs = [sides_of(a, build, tree, name) for build in measured]
    groups = []
    for i, sides in enumerate(pairs):
        goals_only = i > 0 and a.filter is None
        parts = [comparisons(a, sides, goals_only), demo(a, sides)]
        if not goals_only:
            parts.append(micro(a, sides))
        groups.append((sides[0].build.title(), sides, gathered(*parts)))
    groups.append(("instructions", pairs[0], budgets(a, pairs[0])))
    if not any(sources or any(only) for _, _, (sources, only) in groups):
        fail(2, f"No benchmark matches '{a.filter}'.")
    results = {**circumstances(options), "against": commit, "limit": LIMIT,
               "limit_of_counts": LIMIT_OF_COUNTS, "rounds": 3 if a.quick else 9, "runs": []}
    for title, sides, (sources, only) in groups:
        try:
            rows, found = measure_twice(sources, sides, results["rounds"])
        except Broken as e:
            fail(1, str(e))
        results["runs"].append({"title": title, "rows": rows, "only": {
            "current": only[0] + found[0], "other": only[1] + found[1]}})
    (OUT / "against.json").write_text(json.dumps(results, indent=1) + "\n")
    return print_all(results, name, a.against)


def print_all(results, name, asked):
    changed = ", with changes" if results["changed_files"] else ""
    print(f"\ncurrent: {results['commit'][:12]}{changed}; against {name} ({asked}), "
          f"{results['rounds']} rounds")
    code = 0
    for run in results["runs"]:
        if run["rows"] or any(run["only"].values()):
            print_rows(run["title"], name, run["rows"])
            code |= print_verdict(run["rows"], list(run["only"].values()), ["current", name])
    print("All samples: out/bench/against.json")
    return code
