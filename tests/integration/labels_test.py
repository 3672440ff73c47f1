"""Each row of tests/labels.txt names a test of CTest, and somebody runs each label: labels_test.py CTEST BUILD"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

TESTS = pathlib.Path(__file__).resolve().parents[1]
# What .ci/run runs; each other label has a part of scripts/nightly.sh.
LANDS = {"unit", "model", "stress", "source", "docs", "sample", "demo", "integration", "install", "viewer",
         "profile", "budget", "system"}
NIGHTLY = {p.stem for p in (TESTS.parent / "scripts/nightly").glob("*.sh")}


def tests_of(ctest, build):
    """Label of each test of CTest by its name, with the file name of its program."""
    listed = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                            timeout=HANG_LIMIT_S, check=True)
    found = {}
    for test in json.loads(listed.stdout)["tests"]:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        program = pathlib.Path(test["command"][0]).name if "command" in test else ""
        found[test["name"]] = (program, labels)
    return found


def complaints(rows, found):
    for row in rows:
        label, program, name, *reason = row.split(maxsplit=3)
        actual_program, labels = found.get(name, (None, []))
        if not reason:
            yield f"'{name}' has no reason"
        if actual_program is None or program not in ("-", actual_program):
            yield f"'{name}' is no test of {program}"
        elif labels != [label]:
            yield f"'{name}' has the labels {labels}, not '{label}'"
    for name, (_, labels) in found.items():
        if not labels or not set(labels) <= LANDS | NIGHTLY:
            yield f"nobody runs the labels {labels} of '{name}'"


def main():
    rows = [row for row in (TESTS / "labels.txt").read_text().splitlines() if row and row[0] != "#"]
    found = tests_of(*sys.argv[1:])
    wrong = list(complaints(rows, found))
    for complaint in wrong:
        print(f"labels.txt: {complaint}.")
    sys.exit(1 if wrong or not rows else 0)


main()
