"""A cause that was planted in a real run is the one that `braid report` names; a healthy run names
none. Other programs on the machine are causes, too: of five runs three must name the planted one."""
import json
import pathlib
import subprocess
import sys
import tempfile

PLANTED, BRAID = sys.argv[1], sys.argv[2]
RUNS, ENOUGH = 5, 3
CAUSES = {"none": None, "affinity": "upload", "serial_chain": "link", "too_fine": "dust",
          "priority": "light", "straggler": "tile", "background": "bake", "late_wake": "hop",
          "preemption": "solve"}


def diagnosis(cause, path):
    subprocess.run([PLANTED, cause, str(path)], check=True, timeout=60)
    told = subprocess.run([BRAID, "report", str(path), "--json"], check=True, timeout=60,
                          capture_output=True, text=True).stdout
    return json.loads(told)["frames"][0]["diagnosis"]


folder = pathlib.Path(tempfile.mkdtemp(prefix="braid-planted-"))
failures = []
for cause, task in CAUSES.items():
    found = [diagnosis(cause, folder / f"{cause}-{run}.braid") for run in range(RUNS)]
    if cause == "none":
        right = [one for one in found if one is None]
    else:
        right = [one for one in found if one and one["cause"] == cause and one["task"] == task]
    print(f"{cause}: {len(right)} of {RUNS}")
    for one in found:
        print("    " + (one["sentence"] if one else "nothing to say"))
    if len(right) < ENOUGH:
        failures.append(cause)
if failures:
    sys.exit(f"not named: {', '.join(failures)}")
