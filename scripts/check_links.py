#!/usr/bin/env python3
"""Checks that every relative link of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md leads
somewhere, and that each row of docs/features.md says `planned` or links to what shows it."""

import argparse
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
FENCE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
ROW = re.compile(r"^\| ([A-Z]\d+) \|.*\| ([^|]*) \|$", re.M)


def pages(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    yield from sorted((root / "docs").rglob("*.md"))


def anchors(text):
    """The names under which a renderer offers the headings."""
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(text))
    return {title.strip().replace(" ", "-") for title in plain}


def broken_links(root, page):
    text = page.read_text(encoding="utf-8")
    text = FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)
    for found in LINK.finditer(text):
        target, _, anchor = found.group(1).partition("#")
        where = f"{page.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}"
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or not file.is_relative_to(root):
            yield f"{where}: '{target}' does not exist."
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{where}: '{target}' has no heading '#{anchor}'."


def bad_rows(root):
    page = root / "docs/features.md"
    if not page.is_file():
        return
    seen = set()
    for name, shown in ROW.findall(page.read_text(encoding="utf-8")):
        if name in seen:
            yield f"docs/features.md: {name} stands there twice."
        seen.add(name)
        if shown.strip() != "planned" and not LINK.search(shown):
            yield f"docs/features.md: {name} is neither `planned` nor linked to what shows it."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    existing = [page for page in pages(root) if page.is_file()]
    problems = [problem for page in existing for problem in broken_links(root, page)]
    problems += bad_rows(root)
    print("\n".join([*problems, f"{len(problems)} problems in {len(existing)} pages."]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
