#!/usr/bin/env python3
"""Checks the shape of the source text: headers at most 400 lines, sources at most 800, lines at most
100 columns, and none of `volatile`, silenced warnings, silenced linters or sanitizer suppressions."""

import argparse
import re
import sys
from pathlib import Path

FOLDERS = ("include", "src", "tests", "samples", "demo", "tools", "bench")
LINES = {".hpp": 400, ".inl": 400, ".cpp": 800}
COLUMNS = 100
FORBIDDEN = {
    r"(?<!asm )(?<!__asm__ )\bvolatile\b": "volatile orders nothing between threads; use an atomic",
    r"\bNO" r"LINT": "mend what the linter says, or turn the check off for all in .clang-tidy",
    r"diagnostic\s+ignored": "mend the warning instead of silencing it",
    r"\bno_sanitize\b|suppressions=": "mend what the sanitizer says instead of silencing it",
}


def problems_of(file, relative):
    lines = file.read_text(encoding="utf-8").splitlines()
    limit = LINES[file.suffix]
    if len(lines) > limit:
        yield f"{relative}:{limit + 1}: {len(lines)} lines, at most {limit}; split by what varies."
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{relative}:{number}: {len(line)} columns, at most {COLUMNS}."
        for pattern, advice in FORBIDDEN.items():
            if re.search(pattern, line):
                yield f"{relative}:{number}: {advice}."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    files = [f for top in FOLDERS for f in sorted((root / top).rglob("*")) if f.suffix in LINES]
    problems = [p for file in files for p in problems_of(file, file.relative_to(root))]
    print("\n".join([*problems, f"{len(problems)} problems in {len(files)} files."]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
