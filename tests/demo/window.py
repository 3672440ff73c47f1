"""With a display the arena opens a window, draws into it and ends by itself after --frames."""
import os
import shutil
import subprocess
import sys

from arena_runs import ARENA, DEADLINE, check

if not shutil.which("Xvfb"):
    print("Xvfb is not installed")
    sys.exit(77)

reading, writing = os.pipe()
server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24"],
                          pass_fds=[writing], stderr=subprocess.DEVNULL)
try:
    os.close(writing)
    display = os.read(reading, 16).decode().strip()
    check(display.isdigit(), "Xvfb did not start")
    surroundings = {**os.environ, "DISPLAY": f":{display}", "SDL_VIDEODRIVER": "x11",
                    "SDL_AUDIODRIVER": "dummy"}
    done = subprocess.run([ARENA, "--frames", "12", "--characters", "60", "--width", "640",
                           "--height", "360"], env=surroundings, capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
finally:
    server.terminate()
    server.wait()
check(done.returncode == 0, f"exit {done.returncode}\n{done.stderr}")
check("12 frames in the window" in done.stdout, f"no window: {done.stdout}{done.stderr}")
