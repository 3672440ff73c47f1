"""Begins a module in a planted tree and checks that it is one of ours from the first line on."""

import shutil
import subprocess
import sys
import unittest

from planted_tree import HANG_LIMIT_S, ROOT, planted_tree


class new_module(planted_tree):
    script = "scripts/new_module.py"

    def setUp(self):
        super().setUp()
        self.write("docs/architecture.md", "```layers\ngraph\nbase\n```\n")
        self.write("CMakeLists.txt", "project(x)\nset(braid_modules base)\n")
        shutil.copytree(ROOT / "include/braid/base", self.root / "include/braid/base")

    def refusal(self, name, word):
        result = self.run_script(name)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(word, result.stderr)
        self.assertFalse((self.root / "src").exists())

    def check(self, script):
        command = [sys.executable, str(ROOT / "scripts" / script), "--root", str(self.root)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_new_module_builds_and_keeps_the_house_rules(self):
        result = self.run_script("graph")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            result.stdout.split(),
            ["include/braid/graph/graph.hpp", "src/graph/graph.cpp", "tests/graph/graph_test.cpp"],
        )
        self.assertIn("set(braid_modules base graph)", (self.root / "CMakeLists.txt").read_text())
        self.check("check_layers.py")
        self.check("check_shape.py")
        for file in ("src/graph/graph.cpp", "tests/graph/graph_test.cpp"):
            command = ["g++", "-std=c++20", "-fsyntax-only", "-Iinclude", file]
            subprocess.run(command, cwd=self.root, check=True, timeout=HANG_LIMIT_S)

    def test_a_module_without_a_layer_is_refused(self):
        self.refusal("audio", "layer table")

    def test_a_name_that_is_no_identifier_is_refused(self):
        self.refusal("Graph-2", "snake_case")

    def test_an_existing_module_is_left_alone(self):
        self.write("tests/graph/graph_test.cpp", "mine\n")
        self.refusal("graph", "exists already")
        self.assertEqual((self.root / "tests/graph/graph_test.cpp").read_text(), "mine\n")


if __name__ == "__main__":
    unittest.main()
