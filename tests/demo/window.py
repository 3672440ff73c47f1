"""With a display the arena opens a window, draws into it, ends by itself after --frames, and obeys
its keys."""
import os
import shutil
import subprocess
import sys

from arena_runs import ARENA, DEADLINE, check

for tool in ("Xvfb", "xdotool"):
    if not shutil.which(tool):
        print(f"{tool} is not installed")
        sys.exit(77)

SMALL = ["--characters", "60", "--width", "640", "--height", "360"]


def open_window(*arguments):
    return subprocess.Popen([ARENA, *SMALL, *arguments], env=surroundings, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def last_words(arena):
    """What it says at its end."""
    said, complaint = arena.communicate(timeout=DEADLINE)
    check(arena.returncode == 0, f"exit {arena.returncode}\n{complaint}")
    return said


reading, writing = os.pipe()
server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24"],
                          pass_fds=[writing], stderr=subprocess.DEVNULL)
try:
    os.close(writing)
    display = os.read(reading, 16).decode().strip()
    check(display.isdigit(), "Xvfb did not start")
    surroundings = {**os.environ, "DISPLAY": f":{display}", "SDL_VIDEODRIVER": "x11",
                    "SDL_AUDIODRIVER": "dummy"}
    said = last_words(open_window("--frames", "12"))
    check("12 frames in the window" in said, f"no window: {said}")

    for options in ([], ["--serial-stage", "skinning", "--priorities", "dynamic"]):
        arena = open_window("--workers", "1", *options)
        window = subprocess.run(["xdotool", "search", "--sync", "--name", "The arena"],
                                env=surroundings, capture_output=True, text=True,
                                timeout=DEADLINE, check=True).stdout.split()[0]
        subprocess.run(["xdotool", "windowfocus", "--sync", window, "key", "--delay", "50",
                        "equal", "2", "s", "s", "equal", "minus", "q"],
                       env=surroundings, timeout=DEADLINE, check=True)
        said = last_words(arena)
        check("for 160 characters on 2 workers" in said, f"keys {options}: {said}")
finally:
    server.terminate()
    server.wait()
