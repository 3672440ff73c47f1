#!/usr/bin/env python3
"""How far a reader of the core goes, in numbers to compare before and after its walls move:

    scripts/way.py                    tours, functions within reach, forwarders, annotations
    scripts/way.py --list             with the names that were counted
    scripts/way.py --layout LIBRARY   where the fields of the scheduler and of a seat lie, by cache line;
                                      LIBRARY is a libbraid.so with debug information; asks gdb

- A tour is one of docs/architecture.md (scripts/check_tour.py). A header and its source are one file. The
  headers that the model checker includes are not counted: they stand apart for it. A return opens a
  file that was left before.
- Within reach are the public and protected member functions of the class `runtime` and of its bases, but
  for constructors, destructors and assignments.
- A forwarder is a function whose body is one call with its own parameters, in their order.
- An annotation is a line with BRAID_GUARDED_BY or BRAID_REQUIRES.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import check_tour

CORE = ("src/core", "include/braid/core")
NAMESPACE = "braid::v0::detail::"  # as in scripts/gdb/braid.py
WHOLE = "runtime"
SEAT = "whole_seat"
CLASS = r"^(?P<key>class|struct)\s+(?:BRAID_\w+\s+)?{name}\b(?:\s+final)?\s*(?::\s*(?:public\s+)?(?P<base>\w+)\s*)?\{{"
FUNCTION = re.compile(r"(?<![\w~])(~?\w+|operator\W+)\s*\(")
NO_FUNCTION = re.compile(r"^\s*(?:using|friend|class|struct|enum|static_assert)\b")
FORWARDER = re.compile(
    r"(?<![\w~])(?P<name>\w+)\((?P<params>[^(){};]*)\)\s*(?:const\s*|noexcept\s*|override\s*)*"
    r"\{\s*(?:return\s+)?(?P<call>[\w:.>*&()\s-]*?[\w>])\((?P<args>[^(){};]*)\);\s*\}"
)


def code_of_core(root):
    """Path -> text without comments and strings."""
    files = {}
    for folder in CORE:
        for file in sorted((root / folder).rglob("*.[hc]pp")):
            files[str(file.relative_to(root))] = check_tour.code_of(file)
    return files


def class_of(files, name):
    """Its base, or None, and what stands between its braces, whose first members are public in a struct.
    None: there is no such class."""
    for text in files.values():
        found = re.search(CLASS.format(name=name), text, re.M)
        if found:
            end = check_tour.end_of(text, found.end() - 1, "{}")
            access = "public:" if found.group("key") == "struct" else "private:"
            return found.group("base"), access + text[found.end() : end - 1]
    return None


def chain_of(files, name):
    """The class and its bases, from the top down, each with its body."""
    chain = []
    while name is not None and (found := class_of(files, name)) is not None:
        chain.append((name, found[1]))
        name = found[0]
    return chain


def declarations_of(body):
    """Each member's text without the bodies in it, and whether others may name it."""
    depth, text, open_to_others = 0, "", False
    for token in re.findall(r"(?:public|protected|private)\s*:(?!:)|[{};]|[^{};]", body):
        if depth == 0 and token[-1] == ":" and token[0] == "p":
            open_to_others = not token.startswith("private")
            continue
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        if depth == 0 and token in "};":
            yield text, open_to_others
            text = ""
        elif depth == 0 or (depth == 1 and token == "{"):
            text += " " if token == "{" else token


def functions_of(name, body):
    """Names of those within reach; an overload counts."""
    for text, open_to_others in declarations_of(body):
        found = FUNCTION.search(text)
        if not open_to_others or not found or NO_FUNCTION.match(text):
            continue
        if found.group(1).lstrip("~") != name and found.group(1) != "operator=":
            yield found.group(1)


def names_in(parameters):
    return [re.sub(r"=.*", "", p).strip().split()[-1].lstrip("*&") for p in parameters.split(",") if p.strip()]


def forwarders_in(text):
    for found in FORWARDER.finditer(text):
        arguments = [a.strip() for a in found.group("args").split(",") if a.strip()]
        if names_in(found.group("params")) == arguments:
            yield found.group("name")


def annotations_in(root):
    files = (f for folder in CORE for f in (root / folder).rglob("*.[hc]pp"))
    lines = (line for f in files for line in f.read_text(encoding="utf-8").splitlines())
    return sum("BRAID_GUARDED_BY" in line or "BRAID_REQUIRES" in line for line in lines)


def print_tours(root):
    page = root / check_tour.PAGE
    if not page.is_file():
        sys.exit(f"way.py: there is no file {page}.")
    for name, lines in check_tour.tours_of(page.read_text(encoding="utf-8")).items():
        files, openings, returns = check_tour.way_of(lines)
        print(f"{name}: {files} files, {openings} openings, {returns} returns")


def print_core(root, with_names):
    files = code_of_core(root)
    chain = chain_of(files, WHOLE)
    reach = [(name, list(functions_of(name, body))) for name, body in chain]
    print(f"{WHOLE}: {len(chain)} classes, each the base of the one before; "
          f"{sum(len(names) for _, names in reach)} functions within reach")
    if with_names:
        for name, names in reach:
            print(f"  {name}: {' '.join(names)}")
    forwarders = {path: list(forwarders_in(text)) for path, text in files.items()}
    print(f"{sum(len(names) for names in forwarders.values())} forwarders")
    if with_names:
        for path, names in forwarders.items():
            if names:
                print(f"  {path}: {' '.join(names)}")
    print(f"{annotations_in(root)} annotations of locks")


# Runs in gdb. Bases are walked into; what has no name of its own is a field of the base that it came from.
IN_GDB = """
import gdb
def fields(kind, at, of):
    for f in kind.strip_typedefs().fields():
        if not hasattr(f, 'bitpos'):
            continue
        here = at + f.bitpos // 8
        if f.is_base_class:
            yield from fields(f.type, here, f.type.name.rpartition('::')[2])
        else:
            yield here, f.type.strip_typedefs().sizeof, of, f.name
for name in {names}:
    kind = gdb.lookup_type('{namespace}' + name)
    print(name + ': ' + str(kind.sizeof) + ' bytes')
    line = -1
    for at, size, of, field in sorted(fields(kind, 0, name)):
        if at // 64 != line:
            line = at // 64
            print('  line ' + str(line))
        print('    {{:>6}} {{:>6}}  {{}}::{{}}'.format(at, size, of, field))
"""


def print_layout(library):
    if not library.is_file():
        sys.exit(f"way.py: there is no file {library}.")
    script = IN_GDB.format(names=[WHOLE, SEAT], namespace=NAMESPACE)
    result = subprocess.run(
        ["gdb", "-batch", "-nx", "-ex", "python exec(" + repr(script) + ")", str(library)],
        capture_output=True, text=True, check=False,
    )
    if result.returncode != 0 or "bytes" not in result.stdout:
        why = re.search(r"^gdb\.error: (.*)$|^(.*not in executable format.*)$", result.stderr, re.M)
        sys.exit(f"way.py: gdb finds no layouts in {library}: {why.group().strip() if why else result.stderr}")
    print(result.stdout, end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--layout", type=Path, metavar="LIBRARY")
    given = parser.parse_args()
    if given.layout:
        return print_layout(given.layout)
    print_tours(given.root)
    print_core(given.root, given.list)


if __name__ == "__main__":
    main()
