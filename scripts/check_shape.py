#!/usr/bin/env python3
"""Checks the shape of the source text: headers at most 400 lines, sources at most 800 (400 in the
core), lines at most 100 columns, at most 25 public functions in a class or struct of the core and of
its public headers, where a friend class has to be listed, and none of `volatile`, silenced warnings,
silenced linters or sanitizer suppressions."""

import argparse
import re
import sys
from pathlib import Path

FOLDERS = ("include", "src", "tests", "samples", "demo", "tools", "bench")
LINES = {".hpp": 400, ".inl": 400, ".cpp": 800}
COLUMNS = 100
CORE = "src/core/"
CORE_LINES = 400
PUBLIC_CORE = "include/braid/core/"
PUBLIC_FUNCTIONS = 25
# Classes that have more, and how many they have. docs/architecture.md says why.
MORE_FUNCTIONS = {"scheduler": 39}
# Friend classes of the core, each with its reason there.
FRIENDS = {
    "include/braid/core/code_holders.hpp": {"detail::holder_list"},
    "include/braid/core/fork_stack.hpp": {"detail::fork_access"},
    "src/core/outside/outside_source.hpp": {"outside_room"},
}
FRIEND = re.compile(r"\bfriend\s+(?:class|struct)\s+([\w:]+)")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|"(?:\\.|[^"\\\n])*"', re.S | re.M)
CLASS_HEAD = re.compile(
    r"\b(class|struct)\s+(?:\w+\((?:[^(){};]|\([^()]*\))*\)\s+)?([\w:]+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?\{"
)
# What stands in a class and declares no function, and what stands in a declaration and calls none.
NO_FUNCTION = re.compile(
    r"(?:using|friend|static_assert|enum|struct|class|template\s*<[^>]*>\s*(?:class|struct))\b"
)
NO_CALL = re.compile(
    r"\bBRAID_GUARDED_BY\([^()]*\)|\balignas\([^()]*\)|\[\[.*?\]\]|__attribute__\(\(.*?\)\)"
)
FORBIDDEN = {
    r"(?<!asm )(?<!__asm__ )\bvolatile\b": "volatile orders nothing between threads; use an atomic",
    r"\bNO" r"LINT": "mend what the linter says, or turn the check off for all in .clang-tidy",
    r"diagnostic\s+ignored": "mend the warning instead of silencing it",
    r"\bno_sanitize\b|suppressions=": "mend what the sanitizer says instead of silencing it",
}


def public_functions(text):
    """(class, line, number of public functions) of each class that is defined at any depth."""
    text = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    for head in CLASS_HEAD.finditer(text):
        if not text[: head.start()].rstrip().endswith("enum"):
            name = head.group(2).rpartition("::")[2]
            count = count_public(text, head.end(), name, head.group(1) == "struct")
            yield name, text.count("\n", 0, head.start()) + 1, count


def count_public(text, at, name, public):
    """Functions of the class whose body begins at `at`, but for constructors and destructors."""
    depth, statement, count = 1, "", 0
    while depth and at < len(text):
        letter = text[at]
        at += 1
        if letter in "{;" and depth == 1:
            access = re.findall(r"\b(public|private|protected)\s*:(?!:)", statement)
            public = access[-1] == "public" if access else public
            declared = re.sub(r"\b(?:public|private|protected)\s*:(?!:)", "", statement)
            count += public and is_function(declared.strip(), name)
            statement = ""
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 1 and letter not in "{};":
            statement += letter
    return count


def is_function(declared, name):
    if NO_FUNCTION.match(declared):
        return False
    called = re.search(r"(~?\w+|operator\W+)\s*\(", NO_CALL.sub(" ", declared))
    return called is not None and called.group(1).lstrip("~") not in (name, "operator=")


def problems_of(file, relative):
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    core = relative.as_posix().startswith(CORE)
    limit = CORE_LINES if core else LINES[file.suffix]
    of_core = core or relative.as_posix().startswith(PUBLIC_CORE)
    for name, number, count in public_functions(text) if of_core else ():
        most = MORE_FUNCTIONS.get(name, PUBLIC_FUNCTIONS)
        if count > most:
            yield (
                f"{relative}:{number}: {name} has {count} public functions, at most "
                f"{most}; split it by what its callers want."
            )
    for found in FRIEND.finditer(text) if of_core else ():
        if found.group(1) not in FRIENDS.get(relative.as_posix(), ()):
            number = text.count("\n", 0, found.start()) + 1
            yield f"{relative}:{number}: {found.group(1)} is a friend; give it a function to call."
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
