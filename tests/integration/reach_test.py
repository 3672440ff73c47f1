"""The goals of bench/reach.py: what a value is made of, and what is said of it. And what bench/run.py
says to wrong arguments and to machines that lack something."""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import run  # noqa: E402
from programs import Build  # noqa: E402
from reach import FIB_JOINS, GOALS, ROWS, print_reach, reach  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

CLANG, GCC = "clang++ 19.1.7", "g++ 12.2.0"


def row(name, **rivals):
    return {"name": name, "rivals": [{"system": s.replace("_", " "), "samples": v}
                                     for s, v in rivals.items()]}


def printed(entries):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_reach(entries)
    return out.getvalue()


class goals(unittest.TestCase):
    def entry(self, name, *rows, compiler=GCC):
        return next(e for e in reach(list(rows), compiler) if e["id"] == name)

    def said(self, name, *rows):
        table = printed(reach(list(rows), GCC))
        return next(line for line in table.splitlines() if line.startswith(name + " "))

    def test_every_goal_is_listed_whatever_was_measured(self):
        self.assertEqual([e["id"] for e in reach([], GCC)], list(GOALS))
        self.assertTrue(all(e["value"] is None and e["samples"] == [] for e in reach([], GCC)))
        self.assertIn("not measured", self.said("fib.ctx.ns"))

    def test_every_goal_has_a_benchmark(self):
        everything = [row(name, **{system.replace(" ", "_"): [1.0] for system in (
            "serial", "raw", "machine", "braid", "braid plain", "braid announced", "child", "bare loop",
            "spawn, wait", "asio", "futex wake", "without", "tasks", "cpu", "through cores", "alone",
            "braid threads", "pread", "thread", "tbb")}) for name in ROWS]
        without = [e["id"] for e in reach(everything, GCC) if e["value"] is None]
        self.assertEqual(without, [])

    def test_clang_has_a_target_of_its_own_and_a_column(self):
        fib = row("fib.t1", serial=[10], braid=[10 + 2 * FIB_JOINS / 1e6])
        both = [self.entry("fib.ctx.ns", fib, compiler=c) for c in (GCC, CLANG)]
        self.assertEqual([e["target"] for e in both], [1.0, 2.5])
        self.assertEqual([e["compiler"] for e in both], [GCC, CLANG])
        head, line = printed(both).strip().splitlines()
        self.assertLess(head.index(GCC), head.index(CLANG))
        self.assertRegex(line, r"2\.00 <= 1 +missed +2\.00 <= 2\.5 +reached")

    def test_a_price_is_the_difference_to_serial_code_for_each_join(self):
        fib = row("fib.t1", serial=[10, 10, 12], braid=[10 + FIB_JOINS / 1e6] * 3)
        self.assertAlmostEqual(self.entry("fib.ctx.ns", fib)["value"], 1.0)
        self.assertIsNone(self.entry("fib.plain.ns", fib)["value"])

    def test_ratios_are_made_turn_by_turn(self):
        sort = row("sort.t2", serial=[10, 100, 1000], braid=[5, 60, 700])
        self.assertEqual(self.entry("sort.t2", sort)["samples"], [0.5, 0.6, 0.7])
        self.assertIn("missed", self.said("sort.t2", sort))
        uneven = row("uneven.t2", serial=[10, 10], braid=[5, 5])
        self.assertEqual(self.entry("uneven.t2", uneven)["value"], 1.0)
        self.assertIn("reached", self.said("uneven.t2", uneven))

    def test_a_cold_loop_is_compared_with_one_wake(self):
        rows = [row("machine.wake", machine=[2, 4]), row("fanout.64x2.cold", braid=[6])]
        self.assertEqual(self.entry("fanout.64x2.cold", *rows)["value"], 2.0)

    def test_bytes_a_second_are_what_times_are_turned_into(self):
        reads = row("stream.random", braid=[20, 10], braid_threads=[40, 10], raw=[10, 10])
        self.assertEqual(self.entry("stream.random", reads)["samples"], [0.5, 1.0])
        self.assertRegex(self.said("stream.random", reads), r"0\.75 >= 0\.9 +missed")
        self.assertRegex(self.said("stream.random.threads", reads), r"0\.62 >= 0\.6 +reached")

    def test_the_speedup_of_the_demo_is_to_be_exceeded(self):
        slow, fast = (self.said("demo.speedup", row("demo.frame", serial=[20], braid=[ms]))
                      for ms in (11, 10))
        self.assertRegex(slow, r"1\.82 >= 1\.85 +missed")
        self.assertRegex(fast, r"2\.00 >= 1\.85 +reached")


class machines(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([sys.executable, BENCH / "run.py", *arguments], capture_output=True,
                              text=True, timeout=HANG_LIMIT_S, check=False)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def options(self, **wanted):
        return argparse.Namespace(**{"filter": None, "compiler": "both", "quick": True,
                                     "no_build": True, **wanted})

    def test_wrong_arguments_get_one_sentence(self):
        self.assertIn("--quik", self.refused("--quik"))
        self.assertIn("regular expression", self.refused("--filter", "("))
        self.assertIn("'msvc'", self.refused("--compiler", "msvc"))
        self.assertIn("without --filter", self.refused("--pictures", "--filter", "fib"))

    def test_a_machine_without_clang_measures_with_gcc_and_says_so(self):
        said = io.StringIO()
        with (mock.patch("programs.set_up", return_value=True), mock.patch("shutil.which", return_value=None),
              mock.patch("pathlib.Path.exists", return_value=True), contextlib.redirect_stderr(said)):
            found = run.builds(self.options())
            self.assertEqual([b.compiler for b in found], ["gcc"])
            self.assertEqual(said.getvalue().count("\n"), 1)
            self.assertIn("no clang++", said.getvalue())
            with self.assertRaises(SystemExit) as end:
                run.builds(self.options(compiler="clang"))
            self.assertEqual(end.exception.code, 2)

    def test_a_demo_that_is_not_there_is_a_reason(self):
        build = Build("clang")
        build.demo_preset = "nowhere"
        self.assertIn("out/build/nowhere", run.demo_is_missing(self.options(), build))

    def test_the_table_has_a_column_for_each_compiler(self):
        rows = [{**row("fib.t1", serial=[10], braid=[20]), "about": "joins", "unit": "ms"}]
        for rival in rows[0]["rivals"]:
            rival["median"] = rival["samples"][0]
        core = [{"name": "core.chain", "unit": "ns", "median": 5.0}]
        runs = [{"compiler": GCC, "rows": rows, "core": core},
                {"compiler": CLANG, "rows": [], "core": []}]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            run.print_table(runs)
        self.assertRegex(out.getvalue(), r"g\+\+ 12\.2\.0 .*clang\+\+ 19\.1\.7")
        self.assertRegex(out.getvalue(), r"\n    braid +20\.00 +2\.00 +-\n")
        self.assertRegex(out.getvalue(), r"\n    core\.chain +5\.00 ns +-\n")


class pictures(unittest.TestCase):
    def test_the_same_results_give_the_same_pictures(self):
        python = next((p for p in (sys.executable, "/usr/bin/python3") if subprocess.run(
            [p, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0), None)
        if python is None:
            self.skipTest("needs python3-matplotlib")
        fib = row("fib.t2", serial=[10.0], braid=[6.0], tbb=[400.0])
        for rival in fib["rivals"]:
            rival["median"] = rival["samples"][0]
        results = {"date": "2026-01-01T00:00:00", "commit": "0" * 40, "changed_files": False,
                   "machine": {"processor": "one", "cores": 2},
                   "runs": [{"compiler": GCC, "flags": "-O3", "rows": [fib]}]}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results.json"
            file.write_text(json.dumps(results))
            drawn = []
            for name in ("a", "b"):
                subprocess.run([python, BENCH / "pictures.py", file, Path(folder) / name], check=True,
                               timeout=HANG_LIMIT_S)
                drawn.append({f.name: f.read_bytes() for f in (Path(folder) / name).iterdir()})
        self.assertEqual(list(drawn[0]), ["bench-fork-join.svg"])
        self.assertEqual(drawn[0], drawn[1])


if __name__ == "__main__":
    unittest.main()
