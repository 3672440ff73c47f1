"""A cause that was planted in a real run is the one that `braid report` names; a healthy run names
none; of two at one moment it names both. Five runs each, of which four must be right where threads
can be urgent (root, or a limit for real-time priorities), else three, because other programs on the
machine are causes, too: what stands below a virtual machine now and then takes a core from all. With arguments after the two programs: only these."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from hang_limit import HANG_LIMIT_S

PLANTED, BRAID, *CHOSEN = sys.argv[1:]
RUNS = 5
CAUSES = {"none": None, "affinity": "upload", "serial_chain": "link", "too_fine": "dust",
          "priority": "light", "straggler": "tile", "background": "bake", "late_wake": "hop",
          "preemption": "solve"}
# What a frame waits for outside: its name, and the text of the line that the report names.
HERE = pathlib.Path(__file__).parent
OUTSIDE = {"sleep": ("cooldown", 'sleep_for(late, "cooldown")'),
           "timer": ("respawn", 'braid::timer respawn('),
           "channel": ("orders", "orders.pop()"),
           "completion": ("disk read", '.name = "disk read"')}
# What a processor holds up: the words of the sentence.
DEVICE = {"device_queue": "in the queue of 'unit', which ran other work",
          "device_transfer": "for 'unit' to copy",
          "device_late_submit": "later than usual, which had nothing to run until then"}
# Eight pairs cannot be there at one moment on two cores; docs/design/profile.md says why.
PAIRS = """
    affinity+background affinity+late_wake affinity+preemption affinity+serial_chain
    affinity+straggler background+preemption background+priority background+serial_chain
    background+straggler background+too_fine late_wake+background late_wake+preemption
    late_wake+serial_chain late_wake+straggler preemption+priority preemption+serial_chain
    preemption+straggler preemption+too_fine straggler+serial_chain straggler+too_fine""".split()


def enough():
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(3))
        os.sched_setscheduler(0, *before)
        return RUNS - 1
    except PermissionError:
        return 3


def diagnosis(cause, path):
    subprocess.run([PLANTED, cause, str(path)], check=True, timeout=HANG_LIMIT_S)
    told = subprocess.run([BRAID, "report", str(path), "--json"], check=True, timeout=HANG_LIMIT_S,
                          capture_output=True, text=True).stdout
    path.unlink()
    return json.loads(told)["frames"][0]["diagnosis"]


def line_of(text):
    lines = (HERE / "outside.hpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def is_right(one, planted):
    if planted in OUTSIDE:
        name, text = OUTSIDE[planted]
        return (one is not None and one["causes"] == [{"cause": "external", "task": name}]
                and f"'{name}' (outside.hpp:{line_of(text)})" in one["sentence"])
    if planted in DEVICE:
        return (one is not None and {"cause": "device", "task": "skin"} in one["causes"]
                and DEVICE[planted] in one["sentence"])
    named = {(c["cause"], c["task"]) for c in one["causes"]} if one else set()
    return named == {(c, CAUSES[c]) for c in planted.split("+") if c != "none"}


failures = []
with tempfile.TemporaryDirectory(prefix="braid-planted-") as folder:
    for cause in CHOSEN or [*CAUSES, *OUTSIDE, *DEVICE, *PAIRS]:
        found = [diagnosis(cause, pathlib.Path(folder, f"{run}.braid")) for run in range(RUNS)]
        right = sum(is_right(one, cause) for one in found)
        print(f"{cause}: {right} of {RUNS}")
        for one in found:
            print("    " + (one["sentence"] if one else "nothing to say"), flush=True)
        if right < enough():
            failures.append(cause)
if failures:
    sys.exit(f"not named: {', '.join(failures)}")
