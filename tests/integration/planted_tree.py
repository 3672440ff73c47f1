"""A temporary folder that a test fills with files to run a script of ours on."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

ROOT = Path(__file__).resolve().parents[2]


class planted_tree(unittest.TestCase):
    script = ""  # relative to the project's root

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_script(self, *arguments):
        command = [sys.executable, str(ROOT / self.script), "--root", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False)
