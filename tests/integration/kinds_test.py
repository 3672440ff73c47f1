"""Changes one thing at a time in a copy of the files and reads what kinds.py --check says."""

import shutil
import unittest
from pathlib import Path

from planted_tree import planted_tree

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "include/braid/core/observer.hpp",
    "include/braid/profile/capture.hpp",
    "viewer/src/parse/kinds.ts",
    "src/profile/export/steps.hpp",
    "src/profile/analysis/history.hpp",
    "viewer/src/model/model.ts",
)


class kinds(planted_tree):
    script = "scripts/kinds.py"

    def setUp(self):
        super().setUp()
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def change(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1, old)
        (self.root / name).write_text(text.replace(old, new), encoding="utf-8")

    def test_what_the_table_says_passes(self):
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_a_changed_number_is_found_in_each_file_and_put_right(self):
        changes = ((" edge = 2,", " edge = 3,"), (" edge = 2,", " edge = 3,"),
                   (" edge: 2,", " edge: 3,"), (" wait = 3,", " wait = 2,"),
                   (" forked = 18,", " forked = 17,"), (" offCore: 7,", " offCore: 6,"))
        for name, (old, new) in zip(FILES, changes):
            self.change(name, old, new)
            result = self.run_script("--check")
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, f"{name}: not what the table says; run scripts/kinds.py.\n")
            self.assertEqual(self.run_script().returncode, 0)
            self.assertEqual(self.run_script("--check").returncode, 0)

    def test_files_without_marks_are_named(self):
        self.change(FILES[2], "// ---- as far as here\n", "")
        result = self.run_script("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("marks", result.stdout)


if __name__ == "__main__":
    unittest.main()
