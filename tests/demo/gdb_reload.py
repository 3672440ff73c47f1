"""gdb stops at a source line of code that was loaded while the program ran, and says in which file it is."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
SKIPPED = 77
# ccache may have put another folder before it.
SHOWN = "/".join(SOURCE.parts[-3:])

if not shutil.which("gdb"):
    print("gdb is not installed")
    sys.exit(SKIPPED)

lines = SOURCE.read_text().splitlines()
# Optimised code may begin some lines later.
line = next(i for i, text in enumerate(lines, 1) if text.startswith("void collide(")) + 1
with tempfile.TemporaryDirectory(prefix="arena-test-") as copies:
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
         "-ex", "set breakpoint pending on", "-ex", f"break {SHOWN}:{line}", "-ex", "run",
         "-ex", "backtrace 1", "-ex", "info symbol $pc", "-ex", "kill", "--args", PROGRAM,
         "--gtest_filter=ArenaReload.AnotherBuildGoesOnWithTheState"],
        capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False,
        env={**os.environ, "TMPDIR": copies})
said = done.stdout + done.stderr
if "Operation not permitted" in said:
    print("this system does not let gdb run programs")
    sys.exit(SKIPPED)
shown = re.escape(SHOWN)
if not re.search(rf"^#0 .*arena::collide .* at .*{shown}:[0-9]+$", said, re.MULTILINE):
    sys.exit(f"gdb did not stop at {SOURCE}:{line}:\n{said}")
if not re.search(r"^arena::collide.* in section \.text of .*/game\.[0-9a-f]+\.so$", said, re.MULTILINE):
    sys.exit(f"gdb does not name the copy that was loaded:\n{said}")
