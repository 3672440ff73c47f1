#!/usr/bin/env python3
"""Checks that includes point downward only, and that system headers stay in base/platform.

The layers are the fenced block ```layers of docs/architecture.md, one row a line, top row first.
Modules of one row do not include each other. `profile/{chrome,stream}` names sub-folders that are
modules of their own. The block ```doors names the one private header of a module that others may
include; its rooms, which are folders inside it, go past the door. Headers of other libraries are
allowed where the block ```foreign of that page says so. Standard C++ headers are free. Only
include/braid/** and src/** are checked.
"""

import argparse
import re
import sys
from pathlib import Path

SOURCES = (".hpp", ".cpp", ".inl")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(\S[^\n]*)", re.M)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# C headers that exist with .h but belong to the C++ standard library too.
C_STANDARD = set(
    "assert ctype errno fenv float inttypes limits locale math setjmp stdarg stddef stdint stdio"
    " stdlib string time wchar wctype".split()
)
PLATFORM = ("include/braid/base/platform", "src/base/platform")


class table_error(Exception):
    pass


def fenced_block(text, name):
    found = re.search(rf"^```{name}\n(.*?)^```", text, re.M | re.S)
    return found.group(1).splitlines() if found else None


def expand(word):
    """profile/{chrome,stream} -> [profile/chrome, profile/stream]"""
    found = re.fullmatch(r"([\w/]*)\{([\w/,]+)\}", word)
    if not found:
        return [word]
    return [found.group(1) + part for part in found.group(2).split(",")]


def read_layers(text):
    """Module -> level; 0 is the lowest row."""
    block = fenced_block(text, "layers")
    if block is None:
        raise table_error("has no fenced block ```layers")
    rows = [row for row in (re.sub(r"\([^)]*\)", "", line).split() for line in block) if row]
    levels = {}
    for level, row in enumerate(reversed(rows)):
        for module in (name for word in row for name in expand(word)):
            if module in levels:
                raise table_error(f"names the module '{module}' twice")
            levels[module] = level
    if not levels:
        raise table_error("has an empty block ```layers")
    return levels


def read_foreign(text):
    """Header pattern -> folders that may include it."""
    allowed = {}
    for line in fenced_block(text, "foreign") or []:
        words = line.split()
        if words:
            allowed[words[0]] = words[1:]
    return allowed


def read_doors(text):
    """Module -> the one header below src/ by which others enter it."""
    doors = {}
    for line in fenced_block(text, "doors") or []:
        words = line.split()
        if len(words) != 2:
            raise table_error(f"has '{line}' in its block ```doors; write a module and its header")
        doors[words[0]] = Path(words[1])
    return doors


def public_rows(levels):
    """Of a module with rooms (rows like core/seats) the public headers count as the lowest room."""
    rooms = {}
    for name, level in levels.items():
        module = name.partition("/")[0]
        if name != module and module in levels and level < levels[module]:
            rooms[module] = min(level, rooms.get(module, level))
    return {f"{module} (public)": level - 0.5 for module, level in rooms.items()}


def strip_comments(text):
    """Comments become spaces; line numbers and strings stay."""

    def blank(found):
        token = found.group(0)
        return token if token.startswith('"') else re.sub(r"[^\n]", " ", token)

    return COMMENT.sub(blank, text)


class checker:
    def __init__(self, root, text):
        self.root = root
        self.levels = read_layers(text)
        self.foreign = read_foreign(text)
        self.doors = read_doors(text)
        self.public = public_rows(self.levels)
        self.levels.update(self.public)
        self.problems = []

    def module_of(self, path, is_public):
        """The module of a path below include/braid or src; '' for the umbrella headers beside them."""
        parts = path.parts
        if is_public and f"{parts[0]} (public)" in self.public:
            return f"{parts[0]} (public)"
        for depth in range(len(parts) - 1, 0, -1):
            name = "/".join(parts[:depth])
            if name in self.levels:
                return name
        return "" if len(parts) == 1 else None

    def module_of_file(self, relative):
        """By the path relative to the root; None when it is in no row."""
        path = self.inside(relative)
        return path and self.module_of(path, relative.is_relative_to("include"))

    def resolve(self, file, name):
        """The included file of ours, relative to the root; None when there is none."""
        for base in (file.parent, self.root / "include", self.root / "src"):
            candidate = (base / name).resolve()
            if candidate.is_file() and candidate.is_relative_to(self.root):
                return candidate.relative_to(self.root)
        return None

    def inside(self, path):
        """Path below include/braid or src."""
        for top in ("include/braid", "src"):
            if path.is_relative_to(top):
                return path.relative_to(top)
        return None

    def report(self, where, text):
        self.problems.append(f"{where}: {text}")

    def check_file(self, file):
        relative = file.relative_to(self.root)
        module = self.module_of_file(relative)
        if module is None:
            self.report(
                f"{relative}:1",
                f"'{self.inside(relative).parent}' is in no row of the layer table; add it to"
                " docs/architecture.md.",
            )
            return
        text = strip_comments(file.read_text(encoding="utf-8"))
        for found in INCLUDE.finditer(text):
            where = f"{relative}:{text.count(chr(10), 0, found.start(1)) + 1}"
            self.check_include(where, file, module, found.group(1).strip())

    def check_include(self, where, file, module, target):
        quoted = re.match(r'["<]([^">]+)[">]', target)
        if not quoted:
            self.report(where, f"'{target}' hides what is included; name the header.")
            return
        name = quoted.group(1)
        ours = self.resolve(file, name)
        if ours is not None and (target[0] == '"' or name.startswith("braid/")):
            self.check_direction(where, module, ours)
        elif target[0] == '"' or name.startswith("braid/"):
            self.report(where, f"no file '{name}' beside it, in include/ or in src/.")
        else:
            self.check_system(where, name)

    def check_direction(self, where, module, included):
        path = self.inside(included)
        if path is None:
            self.report(where, f"'{included}' is outside include/braid and src.")
            return
        other = self.module_of_file(included)
        if module == "" or module == other:
            return
        if other == "":
            self.report(where, f"includes all of Braid; include the headers that {module} needs.")
        elif other is None:
            self.report(where, f"'{path.parent}' is in no row of the layer table.")
        elif self.levels[other] == self.levels[module]:
            self.report(
                where,
                f"{module} and {other} stand in one row; move what they share to a row below.",
            )
        elif self.levels[other] > self.levels[module]:
            self.report(
                where,
                f"{module} includes {other}, which is above it; move the declaration down, or let"
                f" {other} install a hook.",
            )
        else:
            self.check_door(where, module, included)

    def check_door(self, where, module, included):
        """Of a module with a door others see its public headers and the door."""
        for owner, door in self.doors.items():
            if included == door or not included.is_relative_to(Path("src") / owner):
                continue
            if module != owner and not module.startswith((owner + "/", owner + " ")):
                self.report(
                    where,
                    f"'{included}' is private to {owner}; enter by {door}, and put there what is"
                    " missing.",
                )

    def check_system(self, where, name):
        standard = "/" not in name and ("." not in name or name.removesuffix(".h") in C_STANDARD)
        if standard or where.startswith(tuple(folder + "/" for folder in PLATFORM)):
            return
        folders = self.foreign.get(name) or self.foreign.get(name.split("/")[0] + "/")
        if folders is None:
            self.report(
                where,
                f"<{name}> belongs to a platform or another library; reach it through"
                " src/base/platform, or name its one folder in the block ```foreign of"
                " docs/architecture.md.",
            )
        elif not where.startswith(tuple(folder.rstrip("/") + "/" for folder in folders)):
            self.report(where, f"<{name}> may be included in {', '.join(folders)} only.")


def check(root):
    """All problems of the tree at root, and how many files were read."""
    page = root / "docs/architecture.md"
    if not page.is_file():
        raise table_error("does not exist")
    text = page.read_text(encoding="utf-8")
    run = checker(root, text)
    files = sorted(
        file
        for top in ("include/braid", "src")
        for file in (root / top).rglob("*")
        if file.suffix in SOURCES
    )
    for file in files:
        run.check_file(file)
    return run.problems, len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    try:
        problems, files = check(root)
    except table_error as error:
        print(f"docs/architecture.md {error}, so there are no layers to check.", file=sys.stderr)
        return 2
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} include{'s' * (len(problems) > 1)} against the layers.")
        return 1
    print(f"{files} files keep to the layers.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
