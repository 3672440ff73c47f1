"""Plants one function at a time that is too large or too involved, and reads what the checks say."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "scripts/functions.clang-tidy"
FOLDERS = ("core", "graph", "job_list", "frame", "queue")

GOOD = "int small(int a, int b, int c, int d, int e) {\n    return a + b + c + d + e;\n}\n"
BAD = {
    "lines": "int f(int a) {\n" + "    ++a;\n" * 61 + "    return a;\n}\n",
    "parameters": "int f(int a, int b, int c, int d, int e, int g) {\n    return a + b + c + d + e + g;\n}\n",
    "nesting": "int f(int a) {\n    if (a) {\n        while (a) {\n            if (a > 2) {\n"
    "                if (a > 3) {\n                    --a;\n                }\n"
    "            }\n        }\n    }\n    return a;\n}\n",
    "complexity": "int f(int a) {\n" + "    if (a > 1 && a < 9) ++a;\n" * 14 + "    return a;\n}\n",
}


@unittest.skipUnless(shutil.which("clang-tidy-19"), "clang-tidy-19 is not installed")
class functions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def check(self, path, text, main="src/frame/main.cpp"):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        source = file
        if file.suffix == ".hpp":
            source = self.root / main
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(f'#include "{file}"\n', encoding="utf-8")
        command = ["clang-tidy-19", "--quiet", f"--config-file={CONFIG}", str(source), "--", "-std=c++20"]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False)

    def test_a_good_function_passes(self):
        result = self.check("src/graph/good.cpp", GOOD)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_each_threshold_is_an_error_in_a_source(self):
        for what, text in BAD.items():
            with self.subTest(what=what):
                result = self.check("src/graph/bad.cpp", text)
                self.assertNotEqual(result.returncode, 0, result.stdout)
                self.assertIn("function 'f'", result.stdout)

    def test_headers_of_the_folders_are_checked_and_those_of_others_are_not(self):
        for folder in FOLDERS:
            # The core's public headers hand much on to what they inline.
            for top in ("src",) if folder == "core" else ("src", "include/braid"):
                with self.subTest(folder=folder, top=top):
                    result = self.check(f"{top}/{folder}/bad.hpp", BAD["parameters"])
                    self.assertNotEqual(result.returncode, 0, result.stdout)
        result = self.check("src/elsewhere/bad.hpp", BAD["parameters"])
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_script_checks_these_folders(self):
        script = (ROOT / "scripts/tidy.sh").read_text("utf-8")
        self.assertIn(f"folders=({' '.join('src/' + folder for folder in FOLDERS)})", script)


if __name__ == "__main__":
    unittest.main()
