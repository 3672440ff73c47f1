"""`arena --watch` takes what is built while it runs, refuses what is broken, once, and goes on. Without
--watch no thread looks at files."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from arena_runs import ARENA, HANG_LIMIT_S, check

BRAID, BUILD, EDITED = sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])


def publish(built, folder):
    subprocess.run([BRAID, "reload", "publish", str(built), str(folder / "libarena_game.so")],
                   check=True, timeout=HANG_LIMIT_S)


class Run:
    """The arena with a small crowd, which goes on until stop(); the lines that it prints."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [ARENA, "--headless", "--frames", "1000000", "--characters", "60", "--width", "64",
             "--height", "64", "--workers", "0", "--modules", str(folder), "--out", str(folder),
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TMPDIR": str(folder)})
        self.seen = []
        self.deadline = threading.Timer(HANG_LIMIT_S, self.process.kill)
        self.deadline.start()

    def wait_for(self, *parts):
        """The next line with all parts."""
        for line in self.process.stdout:
            self.seen.append(line)
            if all(part in line for part in parts):
                return line
        sys.exit(f"no line with {parts} in {HANG_LIMIT_S} s:\n{''.join(self.seen[-20:])}")

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def stop(self):
        self.deadline.cancel()
        self.process.kill()
        self.process.wait()


def takes_and_refuses(folder):
    arena = Run(folder, "--watch")
    try:
        arena.wait_for("Module 'game' was loaded")
        arena.wait_for("frame ")
        publish(EDITED / "game_fast.so", folder)
        arena.wait_for("Module 'game' was reloaded: build")
        # What a build writes that was stopped.
        live = folder / "libarena_game.so"
        (folder / "part").write_bytes(live.read_bytes()[:100_000])
        os.rename(folder / "part", live)
        arena.wait_for("Module 'game' was refused, and the code before goes on")
        arena.wait_for("frame ")
        # What crashes does so in the child that tries it.
        publish(EDITED / "game_crash.so", folder)
        line = arena.wait_for("Module 'game' was refused, and the code before goes on: its trial ended")
        check("SIGSEGV, in arena::update_characters at crowd.cpp:" in line, f"not by its place: {line}")
        arena.wait_for("frame ")
        publish(EDITED / "game_more_rows.so", folder)
        arena.wait_for("Module 'game' was reloaded: build")
        arena.wait_for("frame ")
        refusals = [line for line in arena.seen if "refused" in line]
        check(len(refusals) == 2, f"said more than once: {refusals}")
    finally:
        arena.stop()


def does_not_look_unasked(folder):
    arena = Run(folder)
    try:
        arena.wait_for("frame ")
        check(arena.threads() == 1, f"{arena.threads()} threads at 0 workers without --watch")
    finally:
        arena.stop()


with tempfile.TemporaryDirectory(prefix="arena-test-") as name:
    place = pathlib.Path(name)
    for part in ("game", "sound"):
        shutil.copy(BUILD / f"libarena_{part}.so", place)
        shutil.copy(BUILD / f"libarena_{part}.so.stamp", place)
    does_not_look_unasked(place)
    takes_and_refuses(place)
