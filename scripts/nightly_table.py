"""Keeps docs/design/nightly.md: nightly_table.py PART RESULT SECONDS. RESULT is green or red; a row a part."""

import datetime
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/design/nightly.md"
PARTS = ROOT / "scripts/nightly"
HEAD = """# What runs at night

`scripts/nightly.sh` runs what `.ci/run` leaves out, a file of `scripts/nightly` a part, and writes this page.
A row is as old as it says; what changed the code of a part since then has not been through it.

| part | what it does | last run | last green run |
|---|---|---|---|
"""


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def rows():
    """Last run and last green run of each part, as the page has them."""
    found = {}
    for line in PAGE.read_text().splitlines() if PAGE.exists() else []:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0].startswith("`"):
            found[cells[0].strip("`")] = cells[2:]
    return found


def describe(part):
    return (PARTS / f"{part}.sh").read_text().splitlines()[1].removeprefix("# ")


def main():
    part, result, seconds = sys.argv[1:]
    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no", "--", ":!docs/design/nightly.md") else ""
    commit = git("rev-parse", "--short", "HEAD") or "no commit"
    now = f"{datetime.date.today().isoformat()}, {commit}{changed}, {result}, {seconds} s"
    known = rows()
    before = known.get(part, ["never", "never"])
    known[part] = [now, now if result == "green" else before[1]]
    text = HEAD
    for name in sorted(p.stem for p in PARTS.glob("*.sh") if p.stem != "common"):
        last, green = known.get(name, ["never", "never"])
        text += f"| `{name}` | {describe(name)} | {last} | {green} |\n"
    PAGE.write_text(text)


main()
