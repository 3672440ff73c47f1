"""Runs the arena for the tests beside this file."""
import atexit
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

ARENA = sys.argv[1]


def run(*arguments, within=()):
    """The finished process of one run; output as text. `within`: a program that runs it."""
    return subprocess.run([*within, ARENA, "--headless", *arguments], capture_output=True, text=True,
                          timeout=HANG_LIMIT_S, check=False)


def scratch_folder():
    """One that is gone when the test ends."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="arena-test-"))
    atexit.register(shutil.rmtree, folder)
    return folder


def small_run(*arguments):
    """Summary and folder of a short run of a small crowd that must succeed."""
    folder = scratch_folder()
    done = run("--frames", "8", "--characters", "60", "--width", "640", "--height", "360",
               "--out", str(folder), *arguments)
    if done.returncode != 0:
        sys.exit(f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads((folder / "summary.json").read_text()), folder


def backends():
    """What this build offers, from the program's own help."""
    text = run("--help").stdout
    return [name for name in ("braid", "tbb", "openmp", "serial") if name in text]


def has_vulkan():
    """This build can use graphics processors; a test without one, such as lavapipe, fails."""
    return "vulkan" in run("--help").stdout


def check(condition, message):
    if not condition:
        sys.exit(message)
