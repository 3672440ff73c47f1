"""braid reload: what it publishes, what it refuses, how it ends."""
import atexit
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

BRAID, MODULES = sys.argv[1], pathlib.Path(sys.argv[2])
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="braid-reload-"))
atexit.register(shutil.rmtree, FOLDER)


def run(*arguments):
    return subprocess.run([BRAID, "reload", *map(str, arguments)], capture_output=True, text=True,
                          timeout=HANG_LIMIT_S, check=False)


def check(condition, message):
    if not condition:
        sys.exit(message)


def expect(code, word, *arguments):
    done = run(*arguments)
    said = done.stdout + done.stderr
    check(done.returncode == code, f"{arguments}: exit {done.returncode}, not {code}\n{said}")
    check(word in said, f"{arguments}: no '{word}' in: {said}")
    if code == 2:
        check(done.stdout == "", f"{arguments}: printed {done.stdout}")
        check(done.stderr.count("\n") == 1 and done.stderr.endswith(".\n"),
              f"{arguments}: not one sentence: {done.stderr}")


def files():
    return sorted(path.name for path in FOLDER.iterdir())


live = FOLDER / "libgame.so"
expect(0, "can be reloaded", "check", MODULES / "game_1.so")
expect(0, "exports simulate: int(world::game&, const world::input&)", "check",
       MODULES / "game_1.so")
for module, flag in (("game_no_id", "--build-id"), ("game_no_debug", "-g"),
                     ("game_no_types", "not -g1"), ("game_little", "no types of 'little.cpp'"),
                     ("game_not_bound", "-Bsymbolic"), ("game_shows", "-fvisibility=hidden"),
                     ("empty", "export.hpp")):
    expect(1, flag, "check", MODULES / f"{module}.so")
expect(2, "is no ELF file", "check", __file__)
expect(2, "there is no file", "check", FOLDER / "missing.so")
expect(2, "is a folder", "check", FOLDER)
check(files() == [], f"a check left {files()}")

expect(0, "", "publish", MODULES / "game_1.so", live)
check(files() == ["libgame.so", "libgame.so.stamp"], f"publishing left {files()}")
check(live.read_bytes() == (MODULES / "game_1.so").read_bytes(), "another file was published")
expect(2, "--build-id", "publish", MODULES / "game_no_id.so", live)
expect(2, "describes no types", "publish", MODULES / "game_no_types.so", live)
expect(2, "no types of 'little.cpp'", "publish", MODULES / "game_little.so", live)
expect(0, "can be reloaded", "check", MODULES / "game_bare.so")
expect(2, "there is no file", "publish", FOLDER / "missing.so", live)
expect(2, "cannot lock", "publish", MODULES / "game_1.so", FOLDER / "missing" / "libgame.so")
check(live.read_bytes() == (MODULES / "game_1.so").read_bytes(), "a refused file was published")
expect(2, "FILE is required", "check")

# ---- plans ----------------------------------------------------------------------------------------
ONE, TWO, FOUR = (MODULES / f"colony_{version}.so" for version in (1, 2, 4))
expect(0, "No type of the state changes", "plan", ONE, ONE)
expect(0, "colony::ant::speed   added    float, from the constructor", "plan", ONE, TWO)
expect(0, "colony::ant::energy  changed  int is widened to long", "plan", ONE, TWO, "colony::ant")
expect(1, "colony::nest::action is a function pointer", "plan", ONE, FOUR)
expect(0, "colony::ant::energy  changed  int is widened to long", "plan", ONE, TWO, "ant")
expect(2, "Neither file describes a type 'colony::bee'", "plan", ONE, TWO, "colony::bee")
expect(2, "has no debug information", "plan", ONE, MODULES / "game_no_debug.so")
expect(2, "is no ELF file", "plan", __file__, TWO)
expect(2, "there is no file", "plan", ONE, FOLDER / "missing.so")
expect(2, "puts nothing into a reload::arena", "plan", MODULES / "sound_1.so", MODULES / "sound_2.so")
expect(2, "NEW is required", "plan", ONE)
