#!/usr/bin/env python3
"""Checks that the parts of the core know nothing of the whole.

A part is a folder of src/core with data of its own. The fenced block ```parts of docs/architecture.md
has a line for each: its folder, its class, then the folders of other parts that it may use. Refused
are, in the files of a part,

- an include of core/ that lies in no folder of its own row, and an include of the whole: runtime.hpp
  and the seat;
- the name of the whole, of a room, of a seat or of another part's piece of a seat, whether it is
  declared there or included: runtime, whole_seat, x_room, x_seat, and x_part but for its row's.
"""

import argparse
import re
import sys
from pathlib import Path

PAGE = "docs/architecture.md"
CORE = "src/core"
BLOCK = re.compile(r"^```parts\n(.*?)^```", re.M | re.S)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|(?<!include )"(?:\\.|[^"\\\n])*"', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"core/([^"]+)"', re.M)
WHOLE = re.compile(r"\b(?:runtime|whole_seat|\w+_room|\w+_seat)\b")
PIECE = re.compile(r"\b(\w+)_part\b")


def parts_of(text):
    """Folder -> folders that it may use, itself among them."""
    block = BLOCK.search(text)
    if block is None:
        raise ValueError("has no fenced block ```parts")
    parts = {}
    for line in block.group(1).splitlines():
        words = line.split()
        if len(words) < 2:
            raise ValueError(f"has '{line}' in its block ```parts; write a folder, its class, and what it may use")
        parts[words[0]] = {words[0], *words[2:]}
    for folder, uses in parts.items():
        for used in uses - parts.keys():
            raise ValueError(f"lets the part '{folder}' use '{used}', which is no part")
    return parts


def problems_of(root, parts):
    for folder, uses in parts.items():
        place = root / CORE / folder
        files = sorted(f for f in place.rglob("*") if f.suffix in (".hpp", ".cpp"))
        if not files:
            yield f"{CORE}/{folder}: the part has no files"
        for file in files:
            text = file.read_text(encoding="utf-8")
            code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)

            def at(found):
                return f"{file.relative_to(root)}:{code.count(chr(10), 0, found.start()) + 1}"

            for found in INCLUDE.finditer(code):
                if found.group(1).partition("/")[0] not in uses:
                    yield f"{at(found)}: the part '{folder}' may not include core/{found.group(1)}"
            code = INCLUDE.sub("", code)
            for found in WHOLE.finditer(code):
                yield f"{at(found)}: a part does not know '{found.group()}'"
            for found in PIECE.finditer(code):
                if found.group(1) not in uses:
                    yield f"{at(found)}: the part '{folder}' may not use '{found.group()}'"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = arguments.parse_args().root.resolve()
    try:
        parts = parts_of((root / PAGE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"check_parts.py: {PAGE} {error}", file=sys.stderr)
        return 2
    problems = list(problems_of(root, parts))
    for problem in problems:
        print(problem)
    if problems:
        return 1
    print(f"Parts of the core that know nothing of the whole: {', '.join(parts)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
