"""The goals of bench/reach.py: what a value is made of, and what is said of it."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from reach import FIB_JOINS, GOALS, print_reach, reach  # noqa: E402


def row(name, **rivals):
    return {"name": name, "rivals": [{"system": s.replace("_", " "), "samples": v}
                                     for s, v in rivals.items()]}


class goals(unittest.TestCase):
    def entry(self, name, *rows):
        return next(e for e in reach(list(rows), "g++") if e["id"] == name)

    def said(self, name, *rows):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print_reach(reach(list(rows), "g++"))
        return next(line for line in out.getvalue().splitlines() if line.startswith(name + " "))

    def test_every_goal_is_listed_whatever_was_measured(self):
        self.assertEqual([e["id"] for e in reach([], "g++")], list(GOALS))
        self.assertTrue(all(e["value"] is None and e["samples"] == [] for e in reach([], "g++")))
        self.assertIn("not measured", self.said("fib.ctx.ns"))

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

    def test_the_speedup_of_the_demo_is_to_be_exceeded(self):
        entry = {"id": "demo.speedup", "value": 1.9, "target": 1.85, "unit": "x"}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print_reach([entry, {**entry, "value": 1.8}])
        lines = out.getvalue().splitlines()[-2:]
        self.assertIn("reached", lines[0])
        self.assertIn("missed", lines[1])


if __name__ == "__main__":
    unittest.main()
