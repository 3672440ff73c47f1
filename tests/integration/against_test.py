"""./bench.sh --against: what is made of measurements, of rows that one side lacks, and of commits that
are none. Nothing is built here; the programs are scripts that print made-up numbers."""

import argparse
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))

import against  # noqa: E402
from against import Broken, Side, Source  # noqa: E402
from programs import Build  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/support"))
from hang_limit import HANG_LIMIT_S  # noqa: E402

NAMES = ["current", "0123456789ab"]
SIDES = [Side(name, None) for name in NAMES]
COMPARE = """#!{python}
import json, sys
values = {values}
if "--system" in sys.argv and not {knows_system}:
    sys.exit("compare: '--system' is unknown or lacks a value.")
if "--list" in sys.argv:
    print(*values, sep="\\n")
    sys.exit(0)
name = sys.argv[sys.argv.index("--filter") + 1].strip("^()$").replace("\\\\", "")
print("  " + name, file=sys.stderr)
if isinstance(values[name], str):
    sys.exit("compare: " + values[name])
print(json.dumps([{{"name": name, "unit": "ms", "rivals": [
    {{"system": s, "median": v}} for s, v in values[name].items()]}}]))
"""


def made_up(row, current, other, unit="ms", **how):
    """A source that yields one value after the other on each side."""
    left = {"current": iter(current), NAMES[1]: iter(other)}
    return Source(row, lambda side: {row: (unit, next(left[side.name]))}, **how)


def quietly(function, *arguments):
    """What it returns (or exits with), prints, and says on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            result = function(*arguments)
        except SystemExit as end:
            result = end.code
    return result, out.getvalue(), err.getvalue()


def judged(*sources, rounds=3):
    """Rows by name, the exit code and the verdict."""
    (rows, only), _, _ = quietly(against.measure_twice, sources, SIDES, rounds)
    code, said, _ = quietly(against.print_verdict, rows, only, NAMES)
    return {row["name"]: row for row in rows}, code, said


class verdicts(unittest.TestCase):
    def test_a_row_that_is_above_its_limit_twice_is_worse(self):
        rows, code, said = judged(made_up("fib", [11] * 6, [10] * 6), made_up("sort", [10] * 3, [10] * 3))
        self.assertEqual(code, 1)
        self.assertTrue(rows["fib"]["worse"])
        self.assertFalse(rows["sort"]["worse"])
        self.assertRegex(said, r"Worse than 0123456789ab .*: fib 1\.100, then 1\.100\.\n$")

    def test_a_row_that_is_above_its_limit_once_is_named_but_not_worse(self):
        rows, code, said = judged(made_up("fib", [11] * 3 + [10] * 3, [10] * 6))
        self.assertEqual(code, 0)
        self.assertFalse(rows["fib"]["worse"])
        self.assertIn("Above the limit once, but not twice: fib 1.100, then 1.000.", said)
        self.assertIn("None of 1 rows is worse", said)

    def test_a_row_at_its_limit_is_not_measured_again(self):
        rows, code, _ = judged(made_up("fib", [105] * 3, [100] * 3))
        self.assertEqual((code, rows["fib"]["again"]), (0, None))

    def test_the_median_of_the_ratios_counts_and_the_spread_is_shown(self):
        # The machine becomes slower for both: ratios of a round, not ratios of medians.
        rows, code, _ = judged(made_up("fib", [10, 20, 90], [10, 10, 100]))
        row = rows["fib"]
        self.assertEqual((code, row["ratio"], row["lowest"], row["highest"]), (0, 1.0, 0.9, 2.0))
        _, table, _ = quietly(against.print_rows, "g++ 12.2.0", NAMES[1], [row])
        self.assertRegex(table, r"fib +ms +10\.00 +20\.00 +1\.000 +0\.900 +2\.000\n")

    def test_sides_take_turns_and_change_places(self):
        order = []

        def take(side):
            order.append(side.name[0])
            return {"fib": ("ms", 1)}

        judged(Source("fib", take), rounds=4)
        self.assertEqual("".join(order), "c00cc00c")

    def test_counts_are_taken_once_and_have_a_limit_of_their_own(self):
        how = {"unit": "instructions", "limit": against.LIMIT_OF_COUNTS, "once": True}
        _, code, _ = judged(made_up("budget.post", [102], [100], **how))
        self.assertEqual(code, 0)
        rows, code, _ = judged(made_up("budget.post", [103, 103], [100, 100], **how))
        self.assertEqual(code, 1)
        self.assertEqual(rows["budget.post"]["samples"], {"current": [103], "other": [100]})

    def test_values_that_are_next_to_nothing_have_no_ratio(self):
        idle = made_up("upkeep.idle", [0.01, -0.003, 0.02], [0.001, -0.0, -0.01], unit="ms/s")
        none = made_up("upkeep.allocations", [0] * 3, [0] * 3, unit="calls")
        some = made_up("upkeep.graph_allocations", [1] * 6, [0] * 6, unit="calls")
        rows, code, _ = judged(idle, none, some)
        self.assertEqual((rows["upkeep.idle"]["ratio"], rows["upkeep.allocations"]["ratio"]), (1, 1))
        self.assertTrue(rows["upkeep.graph_allocations"]["worse"])
        self.assertEqual(code, 1)

    def test_a_rival_of_one_side_is_listed_and_not_judged(self):
        def take(side):
            more = {"fib (braid plain)": ("ms", 9)} if side.name == "current" else {}
            return {"fib": ("ms", 1), **more}

        rows, code, said = judged(Source("fib", take))
        self.assertEqual((list(rows), code), (["fib"], 0))
        self.assertIn("Only in current: fib (braid plain).", said)

    def test_only_the_rows_of_a_source_are_measured_again(self):
        fib, sort = made_up("fib", [11] * 6, [10] * 6), made_up("sort", [10] * 3, [10] * 3)
        judged(fib, sort)  # StopIteration if sort were asked again


class planted(unittest.TestCase):
    """Two trees with programs that print what a test says."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for patch in (mock.patch("programs.ROOT", self.root), mock.patch("against.ROOT", self.root),
                      mock.patch("against.TREES", self.root / "out/against"),
                      mock.patch("against.OUT", self.root / "out/bench")):
            patch.start()
            self.addCleanup(patch.stop)
        (self.root / "out/bench").mkdir(parents=True)

    def options(self, **wanted):
        return argparse.Namespace(**{"filter": None, "compiler": "gcc", "quick": True, "no_build": True,
                                     "against": "HEAD", **wanted})

    def side(self, name, knows_system=True, **values):
        side = Side(name, Build("gcc", self.root / name))
        program = side.build.program("compare")
        program.parent.mkdir(parents=True)
        values = {row.replace("_", "."): value for row, value in values.items()}
        program.write_text(COMPARE.format(python=sys.executable, values=values, knows_system=knows_system))
        program.chmod(0o755)
        return side

    def run_all(self, sides, **wanted):
        """against() beyond commits, compilers and what is not in bench/compare."""
        nothing = ([], [[], []])
        with (mock.patch("against.commit_of", return_value="0123456789ab" + "0" * 28),
              mock.patch("against.check_out", return_value=sides[1].build.root),
              mock.patch("against.builds", return_value=[sides[0].build]),
              mock.patch("against.micro", return_value=nothing),
              mock.patch("against.demo", return_value=nothing),
              mock.patch.object(Build, "title", return_value="g++ 12.2.0")):
            return quietly(against.against, self.options(**wanted), ["--against", "HEAD"])


class programs(planted):
    def test_a_whole_run_ends_with_the_verdict_and_a_file(self):
        sides = [self.side("current", fib_t1={"braid": 12, "tbb": 1}, sort={"braid": 1}, new_row={}),
                 self.side(NAMES[1], fib_t1={"braid": 10, "tbb": 9}, sort={"braid": 1}, old_row={})]
        code, said, _ = self.run_all(sides)
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"\nfib\.t1 +ms +10\.00 +12\.00 +1\.200 .*\n    again +ms .* 1\.200 ")
        self.assertIn("Only in current: new.row.\nOnly in 0123456789ab: old.row.\n", said)
        self.assertNotIn("tbb", said)
        run = json.loads((self.root / "out/bench/against.json").read_text())["runs"][0]
        self.assertEqual([(row["name"], row["worse"]) for row in run["rows"]],
                         [("fib.t1", True), ("sort", False)])
        self.assertEqual(run["only"], {"current": ["new.row"], "other": ["old.row"]})
        code, said, _ = self.run_all(sides, filter="^sort")
        self.assertEqual(code, 0, said)
        self.assertNotIn("row.", said)

    def test_a_filter_that_matches_nothing_is_wrong_input(self):
        sides = [self.side(name, fib={"braid": 1}) for name in NAMES]
        code, _, said = self.run_all(sides, filter="bogus")
        self.assertEqual((code, said), (2, "bench.sh: No benchmark matches 'bogus'.\n"))

    def test_a_failed_check_ends_it_with_one_sentence(self):
        sides = [self.side("current", fib="fib, braid: wrong answer, sum: 1 instead of 2"),
                 self.side(NAMES[1], fib={"braid": 1})]
        code, printed, said = self.run_all(sides)
        self.assertEqual((code, printed), (1, ""))
        self.assertTrue(said.endswith("\nbench.sh: fib fails in current: braid: wrong answer, sum: 1 "
                                      "instead of 2.\n"), said)

    def test_other_systems_run_only_where_a_commit_cannot_leave_them_out(self):
        for knows_system in (True, False):
            sides = [self.side(f"{knows_system}{i}", knows_system or i == 0, fib={"braid": 1, "tbb": 2})
                     for i in (0, 1)]
            asked = []
            with mock.patch("against.comparison", lambda name, options, to=asked: to.append(options)):
                against.comparisons(self.options(), sides, False)
            self.assertEqual(asked, [["--system", "^braid"] if knows_system else []])
            (source,), _ = against.comparisons(self.options(), sides, False)
            self.assertEqual(source.take(sides[1]), {"fib": ("ms", 1)})

    def test_a_tree_that_was_not_built_is_named(self):
        sides = [self.side("current", fib={"braid": 1}), Side(NAMES[1], Build("gcc", self.root / "none"))]
        code, _, said = self.run_all(sides)
        self.assertEqual(code, 2)
        self.assertIn("none/out/build/bench", said)

    def test_each_side_has_its_own_operations_counted_by_one_script(self):
        sides = [Side(name, Build("gcc", self.root / name)) for name in NAMES]
        tables = ['"post": ("post", None, 1), "join": ("join", None, 1)',
                  '"post": ("old_post", "resting", 1), "loop": ("loop", None, 1)']
        for side, table, price in zip(sides, tables, ("len(workload)", "1 / 0")):
            script = side.build.root / against.BUDGET_TEST
            script.parent.mkdir(parents=True)
            script.write_text(f"BUDGET = {{{table}}}\ndef price(binary, workload, recorder):\n"
                              f"    return {price}\n")
        with mock.patch("against.budgets_are_missing", return_value=None):
            (post,), only = against.budgets(self.options(), sides)
            self.assertEqual(only, [["budget.join"], ["budget.loop"]])
            self.assertEqual([post.take(side) for side in sides],
                             [{"budget.post": ("instructions", 4)}, {"budget.post": ("instructions", 8)}])
            self.assertEqual(against.budgets(self.options(filter="^tasks"), sides), ([], [[], []]))
        with mock.patch("shutil.which", return_value=None), mock.patch("against.set_up"):
            found, _, said = quietly(against.budgets, self.options(), sides)
        self.assertEqual(found, ([], [[], []]))
        self.assertEqual(said, "bench.sh: Instructions are not counted: valgrind is not installed.\n")

    def test_a_count_that_fails_names_row_and_side(self):
        sides = [Side(name, Build("gcc", self.root / name)) for name in NAMES]
        for side in sides:
            script = side.build.root / against.BUDGET_TEST
            script.parent.mkdir(parents=True)
            script.write_text('import subprocess\nBUDGET = {"post": ("post", None, 1)}\n'
                              "def price(*_):\n    raise subprocess.CalledProcessError(1, 'valgrind')\n")
        with mock.patch("against.budgets_are_missing", return_value=None):
            (post,), _ = against.budgets(self.options(), sides)
        with self.assertRaisesRegex(Broken, "^budget.post fails in 0123456789ab: .*exit status 1.$"):
            post.take(sides[1])


@unittest.skipUnless(shutil.which("git"), "needs git")
class commits(planted):
    def git(self, *arguments):
        who = {f"GIT_{role}_{part}": "a@b" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        done = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True,
                              timeout=HANG_LIMIT_S, check=True, env={**os.environ, **who})
        return done.stdout.strip()

    def commit(self, text):
        (self.root / "file").write_text(text)
        self.git("add", "file")
        self.git("commit", "--quiet", "--message", text)
        return self.git("rev-parse", "HEAD")

    def make_repository(self):
        self.git("init", "--quiet")
        return [self.commit("first"), self.commit("second")]

    def test_an_unknown_commit_is_refused_in_one_sentence(self):
        first, second = self.make_repository()
        self.assertEqual([against.commit_of(name) for name in ("HEAD", "HEAD~1", first[:9])],
                         [second, first, first])
        for name in ("nowhere", "", "--all", "HEAD^{tree}"):
            self.assertEqual(quietly(against.commit_of, name),
                             (2, "", f"bench.sh: There is no commit '{name}' in this repository.\n"))

    def test_a_folder_without_history_is_refused_in_one_sentence(self):
        code, _, said = quietly(against.commit_of, "HEAD")
        self.assertEqual((code, said.count("\n")), (2, 1))
        self.assertIn("no git checkout", said)

    def test_two_runs_do_not_take_each_others_trees_away(self):
        sides = [self.side(name, fib={"braid": 1}) for name in NAMES]
        with against.lock_trees():
            code, _, said = self.run_all(sides)
        self.assertEqual((code, said.count("\n")), (2, 1))
        self.assertIn("Another ./bench.sh --against runs here", said)
        self.assertEqual(self.run_all(sides)[0], 0)

    def test_the_script_refuses_before_it_builds(self):
        # A copy, so that a script that does not refuse checks out and builds nothing of ours.
        shutil.copytree(BENCH, self.root / "bench", ignore=shutil.ignore_patterns("results", "__pycache__"))
        self.make_repository()
        script = self.root / "bench/run.py"
        for arguments in (["--against"], ["--against", "no such commit"],
                          ["--against", "HEAD", "--pictures"], ["--against", "HEAD", "--filter", "("]):
            done = subprocess.run([sys.executable, script, *arguments], capture_output=True,
                                  text=True, timeout=HANG_LIMIT_S, check=False)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)

    def test_a_tree_is_used_again_with_all_that_was_built_in_it(self):
        first, _ = self.make_repository()
        tree = against.check_out(first)
        self.assertEqual((tree / "file").read_text(), "first")
        self.assertEqual(tree.parent, self.root / "out/against")
        (self.root / ".git/info/exclude").write_text("/out/\n")
        (tree / "out").mkdir()
        (tree / "out/built").write_text("")
        self.assertEqual(against.check_out(first), tree)
        self.assertTrue((tree / "out/built").exists())

    def test_a_tree_that_somebody_changed_is_made_anew(self):
        first, _ = self.make_repository()
        tree = against.check_out(first)
        (tree / "file").write_text("changed")
        self.assertEqual((against.check_out(first) / "file").read_text(), "first")

    def test_trees_of_other_commits_are_removed(self):
        first, second = self.make_repository()
        old, new = against.check_out(first), against.check_out(second)
        self.assertEqual((old.exists(), new.exists()), (False, True))
        self.assertNotIn(str(old), self.git("worktree", "list"))

    def test_a_tree_that_was_deleted_by_hand_is_made_again(self):
        first, _ = self.make_repository()
        shutil.rmtree(against.check_out(first))
        self.assertEqual((against.check_out(first) / "file").read_text(), "first")


if __name__ == "__main__":
    unittest.main()
