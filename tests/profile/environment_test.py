"""BRAID_CAPTURE=FILE records the first scheduler of a program that knows nothing of it."""
import atexit
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

PROGRAM, BRAID = sys.argv[1], sys.argv[2]
folder = pathlib.Path(tempfile.mkdtemp(prefix="braid-environment-"))
atexit.register(shutil.rmtree, folder)


def run(*command, **variables):
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True,
                          timeout=HANG_LIMIT_S, check=False)


def check(condition, message):
    if not condition:
        sys.exit(message)


path = folder / "run.braid"
done = run(PROGRAM, BRAID_CAPTURE=str(path))
check(done.returncode == 0, done.stderr)
check(done.stderr == "braid: BRAID_CAPTURE: the first scheduler is recorded, and 'second' is not.\n",
      done.stderr)
told = run(BRAID, "stats", str(path))
check(told.returncode == 0 and "ends in the middle" not in told.stderr, told.stderr)
check(b"not recorded" not in path.read_bytes() and b"recorded" in path.read_bytes(), "its tasks")

done = run(PROGRAM, BRAID_CAPTURE="no such folder/run.braid")
check(done.returncode == 0, "the program runs all the same")
check("cannot write 'no such folder/run.braid': No such file or directory." in done.stderr,
      done.stderr)
check("No space left" in run(PROGRAM, BRAID_CAPTURE="/dev/full").stderr, "a full disk is told")

quiet = run(PROGRAM, BRAID_CAPTURE="")
check(quiet.stderr == "", quiet.stderr)
