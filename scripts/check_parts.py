#!/usr/bin/env python3
"""Checks that the parts of the core know nothing of the whole.

A part is a folder of src/core with data of its own. The fenced block ```parts of docs/architecture.md
has a line for each: its folder, its class, then the folders of other parts that it may use. Refused
are, in the files of a part,

- an include of core/ that lies in no folder of its own row, and an include of the whole: runtime.hpp
  and the seat;
- the name of the whole, of a room, of a seat or of another part's piece of a seat, whether it is
  declared there or included: runtime, whole_seat, x_room, x_seat, and x_part but for its row's.

The block ```upward names what may be named all the same, because it is what a pointer upward takes: a
file, then the names. A name that the file no longer has is refused as well.
"""

import argparse
import re
import sys
from pathlib import Path

PAGE = "docs/architecture.md"
CORE = "src/core"
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|(?<!include )"(?:\\.|[^"\\\n])*"', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"core/([^"]+)"', re.M)
WHOLE = re.compile(r"\b(?<!memory_tag::)(?:runtime|whole_seat|\w+_room|\w+_seat)\b")
PIECE = re.compile(r"\b(\w+)_part\b")


def rows_of(text, name):
    """First word -> the words after it, of the fenced block ```name."""
    block = re.search(rf"^```{name}\n(.*?)^```", text, re.M | re.S)
    rows = [line.split() for line in block.group(1).splitlines()] if block else []
    for row in rows:
        if len(row) < 2:
            raise ValueError(f"has '{' '.join(row)}' in its block ```{name}; write at least two words")
    return {row[0]: row[1:] for row in rows}


def parts_of(text):
    """Folder -> folders that it may use, itself among them."""
    parts = {folder: {folder, *words[1:]} for folder, words in rows_of(text, "parts").items()}
    if not parts:
        raise ValueError("has no fenced block ```parts with a row")
    for folder, uses in parts.items():
        for used in uses - parts.keys():
            raise ValueError(f"lets the part '{folder}' use '{used}', which is no part")
    return parts


def problems_of(root, parts, upward):
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
            pointers = upward.get(str(file.relative_to(root)), [])
            for found in WHOLE.finditer(code):
                if found.group() not in pointers:
                    yield f"{at(found)}: a part does not know '{found.group()}'"
            for found in PIECE.finditer(code):
                if found.group(1) not in uses:
                    yield f"{at(found)}: the part '{folder}' may not use '{found.group()}'"

    for file, names in upward.items():
        text = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
        for name in names:
            if not re.search(rf"\b{re.escape(name)}\b", NOT_CODE.sub("", text)):
                yield f"{file}: the block ```upward names '{name}', which is not there"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = arguments.parse_args().root.resolve()
    try:
        page = (root / PAGE).read_text(encoding="utf-8")
        parts, upward = parts_of(page), rows_of(page, "upward")
    except (OSError, ValueError) as error:
        print(f"check_parts.py: {PAGE} {error}", file=sys.stderr)
        return 2
    problems = list(problems_of(root, parts, upward))
    for problem in problems:
        print(problem)
    if problems:
        return 1
    print(f"Parts of the core that know nothing of the whole: {', '.join(parts)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
