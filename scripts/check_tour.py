#!/usr/bin/env python3
"""Checks the reading tours of docs/architecture.md against the source.

A tour is a fenced block ```tour NAME. Each line is a function and the file in which it is defined,
in the order in which one reads them; further words are for people. Refused are: a file that does not
exist, a function that is not defined there, and one that the bodies of the functions before it do not
mention, so that a reader would not know how to come there. A line "// …" says where the story goes on
with another thread.
"""

import argparse
import re
import sys
from pathlib import Path

PAGE = "docs/architecture.md"
BLOCK = re.compile(r"^```tour ([^\n]+)\n(.*?)^```", re.M | re.S)


def tours_of(text):
    """Name -> [(line number of the page, line)]."""
    found = {}
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(2)) + 1
        lines = enumerate(block.group(2).splitlines(), first)
        found[block.group(1)] = [(n, line.strip()) for n, line in lines if line.strip()]
    return found


def body_at(text, start):
    """What stands between the braces of the definition that begins at `start`; None: none follows."""
    brace = re.compile(r"[{;]").search(text, start)
    if brace is None or brace.group() == ";":
        return None
    depth = 0
    for at in range(brace.start(), len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start : at + 1]
    return text[start:]


def body_of(function, text):
    """The definition's text; None when the file has none."""
    scope, _, name = function.rpartition("::")
    own = scope.rpartition("::")[2]
    within = re.search(rf"\b(?:class|struct)\b[^;{{]*\b{re.escape(own)}\b", text) if scope else None
    # A member outside its class, with the class before it; in its class; or a free function.
    places = [(0, rf"\b{re.escape(scope)}::{re.escape(name)}\(")] if scope else []
    if not scope or within:
        place = rf"^[ \t]*(?![ \t]|return\b|//).*[\w>&*\]] [*&]?{re.escape(name)}\("
        places.append((within.start() if within else 0, place))
    for start, place in places:
        for found in re.compile(place, re.M).finditer(text, start):
            body = body_at(text, found.start())
            if body is not None:
                return body
    return None


def problems_of(root, name, lines):
    read = ""  # the bodies of the steps so far
    start = True
    for number, line in lines:
        if line.startswith("//"):
            start = True  # the story goes on elsewhere: nobody calls the next function by name
            continue
        words = line.split()
        where = f"{PAGE}:{number}"
        if len(words) < 2:
            yield f"{where}: '{line}' is no step; write a function and its file."
            continue
        function, file = words[0], root / words[1]
        if not file.is_file():
            yield f"{where}: {words[1]} does not exist."
            continue
        body = body_of(function, file.read_text(encoding="utf-8"))
        if body is None:
            yield f"{where}: {function} is not defined in {words[1]}."
            continue
        short = function.rpartition("::")[2]
        if not start and not re.search(rf"\b{re.escape(short)}\b", read):
            yield f"{where}: no step before {function} in '{name}' mentions {short}."
        read += body
        start = False


def files_of(lines):
    """The files in the order of reading, each as often as a reader turns to it."""
    files = []
    for _, line in lines:
        words = line.split()
        if not line.startswith("//") and len(words) > 1 and files[-1:] != words[1:2]:
            files.append(words[1])
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    page = root / PAGE
    tours = tours_of(page.read_text(encoding="utf-8")) if page.is_file() else {}
    if not tours:
        print(f"{PAGE} has no block ```tour, so there is nothing to check.", file=sys.stderr)
        return 2
    problems = [p for name, lines in tours.items() for p in problems_of(root, name, lines)]
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} steps are not as {PAGE} says.")
        return 1
    for name, lines in tours.items():
        files = files_of(lines)
        steps = sum(not line.startswith("//") for _, line in lines)
        print(f"{name}: {steps} functions, {len(set(files))} files, turned to {len(files)} times.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
