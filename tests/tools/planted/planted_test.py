"""A cause that was planted in a real run is the one that `braid report` names; a healthy run names
none; of two at one moment it names both. Other programs on the machine are causes, too: of five
runs three must be right."""
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
# Two at one moment need a core for each chain, and none of either is to be taken away meanwhile.
PAIRS = {"affinity+straggler": {"upload", "tile"}, "serial_chain+straggler": {"link", "tile"},
         "affinity+serial_chain": {"upload", "link"}}


def diagnosis(cause, path):
    subprocess.run([PLANTED, cause, str(path)], check=True, timeout=60)
    told = subprocess.run([BRAID, "report", str(path), "--json"], check=True, timeout=60,
                          capture_output=True, text=True).stdout
    return json.loads(told)["frames"][0]["diagnosis"]


def names_pair(one, pair):
    if not one:
        return False
    causes = {(c["cause"], c["task"]) for c in one["causes"]}
    return ({c for c, _ in causes} == set(pair.split("+")) and {t for _, t in causes} == PAIRS[pair])


folder = pathlib.Path(tempfile.mkdtemp(prefix="braid-planted-"))
failures = []
for cause in [*CAUSES, *PAIRS]:
    found = [diagnosis(cause, folder / f"{cause}-{run}.braid") for run in range(RUNS)]
    if cause in PAIRS:
        right = [one for one in found if names_pair(one, cause)]
    elif cause == "none":
        right = [one for one in found if one is None]
    else:
        right = [one for one in found if one and one["cause"] == cause and one["task"] == CAUSES[cause]]
    print(f"{cause}: {len(right)} of {RUNS}")
    for one in found:
        print("    " + (one["sentence"] if one else "nothing to say"))
    if len(right) < ENOUGH:
        failures.append(cause)
if failures:
    sys.exit(f"not named: {', '.join(failures)}")
