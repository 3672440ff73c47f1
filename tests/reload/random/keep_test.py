"""A random pair that goes wrong is kept, small, under a name that is the same in each run."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from hang_limit import HANG_LIMIT_S

SCRIPT = pathlib.Path(__file__).with_name("random_pairs.py")
RUNNER = "#!/bin/sh\necho 'pair0: planted'\nexit 1\n"


def check(condition, message):
    if not condition:
        sys.exit(message)


def kept(folder, hash_seed):
    """Names and contents of what a run keeps in which whatever runs first goes wrong."""
    runner = folder / "runner"
    runner.write_text(RUNNER)
    runner.chmod(0o700)
    place = folder / f"kept{hash_seed}"
    done = subprocess.run(
        [sys.executable, SCRIPT, runner, folder, folder / "build", "1", "1", "true"], capture_output=True, text=True,
        timeout=HANG_LIMIT_S, check=False,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "BRAID_KEEP_PAIRS": str(place)})
    check("pairs went wrong" in done.stderr, f"no pair went wrong:\n{done.stdout}{done.stderr}")
    return {path.name: path.read_text() for path in place.iterdir()}


with tempfile.TemporaryDirectory(prefix="braid-keep-") as name:
    first, again = (kept(pathlib.Path(name), hash_seed) for hash_seed in "12")
check(len(first) == 1, f"one pair went wrong, and {len(first)} were kept")
check(first == again, f"two runs kept {sorted(first)} and {sorted(again)}")
