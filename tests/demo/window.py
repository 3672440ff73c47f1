"""With a display the arena opens a window, draws into it, ends by itself after --frames, and obeys
its keys. With --watch an edit of the game's source is in the picture as soon as it is built."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import threading

from arena_runs import ARENA, HANG_LIMIT_S, check, scratch_folder
from edited_build import build_edited

RELOADING = sys.argv[2:]  # the tool and the folder with the modules; empty where nothing can be reloaded

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
    said, complaint = arena.communicate(timeout=HANG_LIMIT_S)
    check(arena.returncode == 0, f"exit {arena.returncode}\n{complaint}")
    return said


def pixels_of(colour):
    """How many of the screen have it, as blue, green, red."""
    shot = (screens / "Xvfb_screen0").read_bytes()
    header, lines = struct.unpack(">I", shot[:4])[0], struct.unpack(">I", shot[76:80])[0]
    picture = shot[header + 12 * lines:]
    return sum(picture[at:at + 3] == colour for at in range(0, len(picture) - 3, 4))


def pixels_once(arena, colour, least):
    """How many have it, as soon as there are so many."""
    while True:
        ended = arena.poll() is not None
        seen = pixels_of(colour)
        if seen >= least:
            return seen
        check(not ended, f"{seen} pixels of {tuple(colour)}, not {least}")


def lines_of(arena):
    """Those that it prints, one after the other."""
    late = threading.Timer(HANG_LIMIT_S, arena.kill)
    late.daemon = True
    late.start()
    yield from arena.stdout
    sys.exit("the arena ended, or was too late")


def an_edit_is_seen(folder):
    """A box of the picture's text gets another colour."""
    tool, live = RELOADING[0], pathlib.Path(RELOADING[1])
    for part in ("game", "sound"):
        for end in ("", ".stamp"):
            shutil.copy(live / f"libarena_{part}.so{end}", folder)
    pink = bytes((192, 0, 255))
    arena = open_window("--workers", "1", "--watch", "--modules", str(folder))
    lines = lines_of(arena)
    next(line for line in lines if "Module 'game' was loaded" in line)
    text = bytes((170, 226, 255))
    headline = pixels_once(arena, text, 100)
    check(pixels_of(pink) == 0, "the colour is there before the edit")
    (folder / ".build_began").touch()
    built = build_edited(live.parent, folder, "presentation.cpp", "86, make_rgba(8, 10, 16, 150)",
                         "86, make_rgba(255, 0, 192)")
    subprocess.run([tool, "reload", "publish", str(built), str(folder / "libarena_game.so")],
                   check=True, timeout=HANG_LIMIT_S)
    next(line for line in lines if "Module 'game' was reloaded" in line)
    figures = next(lines)
    check("built in" in figures and "reloaded in" in figures, f"no times: {figures}")
    pixels_once(arena, pink, 1000)
    # Two lines more, of about 60 letters each.
    pixels_once(arena, text, headline + 500)
    subprocess.run(["xdotool", "search", "--sync", "--name", "The arena", "windowfocus", "--sync", "key", "q"],
                   env=surroundings, timeout=HANG_LIMIT_S, check=True, stdout=subprocess.DEVNULL)


screens = scratch_folder()
reading, writing = os.pipe()
server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24",
                           "-fbdir", str(screens)],
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
                                timeout=HANG_LIMIT_S, check=True).stdout.split()[0]
        subprocess.run(["xdotool", "windowfocus", "--sync", window, "key", "--delay", "50",
                        "equal", "2", "s", "s", "equal", "minus", "q"],
                       env=surroundings, timeout=HANG_LIMIT_S, check=True)
        said = last_words(arena)
        check("for 160 characters on 2 workers" in said, f"keys {options}: {said}")
    if RELOADING:
        an_edit_is_seen(scratch_folder())
finally:
    server.terminate()
    server.wait()
