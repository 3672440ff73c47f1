#!/usr/bin/env python3
"""Checks the reading tours of docs/architecture.md against the source.

A tour is a fenced block ```tour NAME. Each line is a function and the file in which it is defined,
in the order in which one reads them; further words are for people. Refused are: a file that does not
exist, a function that is not defined there, and one that no line before it mentions, so that a reader
would not know how to come there. A line "// …" says where the thread of the story changes.
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


def is_defined(function, text):
    """By its name, and where it is a member outside its class, by that, too."""
    scope, _, name = function.rpartition("::")
    call = rf"\b{re.escape(name)}\("
    if not scope:
        return re.search(rf"^[ \t]*(?![ \t]|return\b|//).*[\w>&*\]] \*?{call}", text, re.M) is not None
    if re.search(rf"\b{re.escape(scope)}::{re.escape(name)}\(", text):
        return True
    own = scope.rpartition("::")[2]
    return (re.search(rf"\b(?:class|struct|interface)\b[^;{{]*\b{re.escape(own)}\b", text) is not None
            and re.search(call, text) is not None)


def problems_of(root, name, lines):
    seen = ""
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
        text = file.read_text(encoding="utf-8")
        short = function.rpartition("::")[2]
        if not is_defined(function, text):
            yield f"{where}: {function} is not defined in {words[1]}."
        elif not start and not re.search(rf"\b{re.escape(short)}\b", seen):
            yield f"{where}: no file before {words[1]} in '{name}' mentions {short}."
        seen += text
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
