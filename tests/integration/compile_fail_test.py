"""Usual mistakes do not compile, and the compiler's output says what to write instead. A case is a
file in compile_fail/: its first line says the sentence, and without MISTAKE it compiles."""

import argparse
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

HERE = Path(__file__).resolve().parent
CASES = sorted((HERE / "compile_fail").glob("*.cpp"))
arguments = None


def compiled(case, *flags):
    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{arguments.include}", *arguments.flag, *flags, str(case)]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S)


class CompileFail(unittest.TestCase):
    def test_without_the_mistake_each_compiles(self):
        self.assertTrue(CASES)
        for case in CASES:
            with self.subTest(case.stem):
                went = compiled(case)
                self.assertEqual(went.returncode, 0, went.stderr)

    def test_with_the_mistake_none_compiles_and_the_sentence_is_said(self):
        for case in CASES:
            with self.subTest(case.stem):
                first = case.read_text(encoding="utf-8").splitlines()[0]
                self.assertTrue(first.startswith("// says: "), first)
                went = compiled(case, "-DMISTAKE")
                self.assertNotEqual(went.returncode, 0)
                # Compilers break no line of a static_assert.
                self.assertIn(first.removeprefix("// says: "), went.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--flag", action="append", default=[])
    arguments = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
