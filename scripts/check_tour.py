#!/usr/bin/env python3
"""Checks the reading tours of docs/architecture.md against the source.

A tour is a fenced block ```tour NAME. Each line is a function and the file in which it is defined, in
the order in which they run; further words are for people. The checker reads as a person does: it
holds the functions that are open, from the first one to the one just read. Refused are

- a file that does not exist, and a function that is not defined there;
- a function that none of the open ones calls: comments, strings and the mere name do not count;
- a function that stands behind one which the same caller calls later, so that two lines that change
  places are seen, unless both have one name or one call stands among the other's arguments.

`by NAME` after the file: it is called through a pointer, a parameter or a lambda of that name, and a
step before it says which function that is. A line "// …" goes on elsewhere, with another thread:
nobody calls the next function. Where it ends in "in NAME()", and NAME is a step before it, the story
goes on within that one, which may call again what it has called.

How many files a tour opens, and how often it returns to one that was left before, has a ceiling in
CEILINGS. A header and its source are one file. The headers in MODEL_CHECKED are not counted.
"""

import argparse
import re
import sys
from pathlib import Path

PAGE = "docs/architecture.md"
BLOCK = re.compile(r"^```tour ([^\n]+)\n(.*?)^```", re.M | re.S)
# Tour -> files, returns. Lower them where a tour gets shorter; who raises one says in the page what it
# is for.
CEILINGS = {"task": (13, 20), "join": (7, 12), "wait": (10, 8), "event": (18, 6)}
# They stand apart so that the model checker can include them alone.
MODEL_CHECKED = {"words", "sleepers", "ready_queue", "parking_lot", "fork_stack"}
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`', re.S)
WITHIN = re.compile(r"\bin ([\w:.]+)\(\)$")
# Between a name and the parenthesis of its call.
ARGUMENTS = r"\s*(?:<[^;{}()]*>)?\s*"


def tours_of(text):
    """Name -> [(line number of the page, line)]."""
    found = {}
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(2)) + 1
        lines = enumerate(block.group(2).splitlines(), first)
        found[block.group(1)] = [(n, line.strip()) for n, line in lines if line.strip()]
    return found


def code_of(file):
    return NOT_CODE.sub(" ", file.read_text(encoding="utf-8"))


def end_of(text, start, pair):
    """Behind what closes the first bracket of that pair at or after `start`."""
    depth = 0
    for at in range(text.index(pair[0], start), len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at + 1
    return len(text)


def body_at(text, start):
    """What follows the parameters of the definition whose name begins at `start`; None: none."""
    begin = end_of(text, start, "()")
    brace = re.compile(r"[{;]").search(text, begin)
    if brace is None or brace.group() == ";":
        return None
    return text[begin : end_of(text, brace.start(), "{}")]


def body_of(function, text):
    """The definition without its name and parameters; None when the file has none."""
    scope, _, name = function.replace(".", "::").rpartition("::")
    own = scope.rpartition("::")[2]
    within = re.search(rf"\b(?:class|struct)\b[^;{{]*\b{re.escape(own)}\b", text) if scope else None
    # A member outside its class, with the class before it; in its class; or a free function.
    places = [(0, rf"\b{re.escape(scope)}::(?P<name>{re.escape(name)})\(")] if scope else []
    if not scope or within:
        begin = within.start() if within else 0
        named = rf"(?P<name>{re.escape(name)})\("
        places.append((begin, rf"^[ \t]*(?![ \t]|return\b).*[\w>&*\])] [*&]?{named}"))
        # A constructor, and a method of TypeScript.
        before = r"(?:explicit )?" if own == name else r"(?:private |async |static )*"
        if own == name or "." in function:
            places.append((begin, rf"^[ \t]*{before}{named}"))
    for start, place in places:
        for found in re.compile(place, re.M).finditer(text, start):
            body = body_at(text, found.start("name"))
            if body is not None:
                return body
    return None


class opened:
    """A function that the reader is in, and how far it has been read."""

    def __init__(self, function, body):
        self.function, self.body, self.at = function, body, 0

    def call(self, name, at):
        """Where the first call of `name` begins that ends at `at` or later. None: there is none."""
        for found in re.finditer(rf"(?<![\w~]){re.escape(name)}{ARGUMENTS}\(", self.body):
            if end_of(self.body, found.end() - 1, "()") >= at:
                return found.start()
        return None

    def construction(self, name, at):
        for found in re.finditer(rf"\b{re.escape(name)}\b(?:\s+\w+)?\s*\(", self.body):
            if end_of(self.body, found.end() - 1, "()") >= at:
                return found.start()
        return None


class reader:
    def __init__(self, root, tour):
        self.root, self.tour = root, tour
        self.stack = []
        self.steps = []  # (function, the stack with it on top)
        self.free = True  # nobody calls the next one

    def go_on_elsewhere(self, line):
        within = WITHIN.search(line)
        for function, stack in reversed(self.steps if within else []):
            if function == within.group(1) or function.endswith(f"::{within.group(1)}"):
                self.stack = [opened(f.function, f.body) for f in stack]
                self.free = False
                return
        self.stack, self.free = [], True

    def problem_of(self, line):
        """Reads a step. What is wrong with it, or nothing."""
        function, file, *more = line.split()
        by = more[1].rstrip(",;") if more[:1] == ["by"] and len(more) > 1 else None
        if not (self.root / file).is_file():
            return f"{file} does not exist."
        body = body_of(function, code_of(self.root / file))
        if body is None:
            return f"{function} is not defined in {file}."
        short = re.split(r"::|\.", function)[-1]
        if by and not any(re.search(rf"\b{short}\b", top[-1].body) for _, top in self.steps):
            return f"no step before {function} in '{self.tour}' says that {by} is {short}."
        if not self.free:
            wrong = self.enter(function, by or short)
            if wrong:
                return wrong
        self.stack.append(opened(function, body))
        self.steps.append((function, list(self.stack)))
        self.free = False
        return None

    def enter(self, function, name):
        """Leaves what has been read to its end before `function` is called."""
        parts = re.split(r"::|\.", function)
        constructor = len(parts) > 1 and parts[-1] == parts[-2]
        late = None
        for depth in reversed(range(len(self.stack))):
            caller = self.stack[depth]
            find = caller.construction if constructor else caller.call
            found = find(name, caller.at)
            if found is not None:
                caller.at = found
                del self.stack[depth + 1 :]
                return None
            if late is None and find(name, 0) is not None:
                late = caller.function
        if late is not None:
            return f"{late} calls {name} before what stands above it in '{self.tour}'."
        return f"no function that is open before {function} in '{self.tour}' calls {name}."


def problems_of(root, name, lines):
    at = reader(root, name)
    for number, line in lines:
        if line.startswith("//"):
            at.go_on_elsewhere(line)
        elif len(line.split()) < 2:
            yield f"{PAGE}:{number}: '{line}' is no step; write a function and its file."
        else:
            problem = at.problem_of(line)
            if problem:
                yield f"{PAGE}:{number}: {problem}"


def way_of(lines):
    """How many files the reader opens, how often, and how often one that was left before."""
    opened_files = []
    for _, line in lines:
        words = line.split()
        if line.startswith("//") or len(words) < 2:
            continue
        file = str(Path(words[1]).with_suffix(""))
        if Path(file).name not in MODEL_CHECKED and opened_files[-1:] != [file]:
            opened_files.append(file)
    files = len(set(opened_files))
    return files, len(opened_files), len(opened_files) - files


def growth_of(name, lines):
    files, _, returns = way_of(lines)
    most = CEILINGS.get(name, (files, returns))
    for is_now, may_be, what in zip((files, returns), most, ("files", "returns")):
        if is_now > may_be:
            yield f"{PAGE}: '{name}' has {is_now} {what}, at most {may_be}: see CEILINGS."


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
    problems += [p for name, lines in tours.items() for p in growth_of(name, lines)]
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} steps are not as {PAGE} says.")
        return 1
    for name, lines in tours.items():
        files, _, returns = way_of(lines)
        steps = sum(not line.startswith("//") for _, line in lines)
        elsewhere = len(lines) - steps
        print(f"{name}: {steps} functions, {files} files, {returns} returns, goes on elsewhere "
              f"{elsewhere} times.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
