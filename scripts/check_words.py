#!/usr/bin/env python3
"""Checks the words of comments, names, messages and pages: each thing of a scheduler has one name.

    scripts/check_words.py               what GROUPS lists
    scripts/check_words.py PATH...       these files and folders instead
    scripts/check_words.py --all-names   also names that PENDING lets pass

The table is explained in CONTRIBUTING.md, "Words". Prose (comments, string literals, pages) and
names are looked at apart, since "keep" and "turn" are English and `keep` and `pass_turn` are names.
"""

import argparse
import re
import sys
from pathlib import Path

# What is checked; a line for each module with its pages.
GROUPS = (
    ("src/core",),
    ("src/queue", "tests/queue"),
    ("include/braid", "samples", "README.md", "docs/manual", "docs/architecture.md",
     "docs/features.md"),
    ("src/graph", "tests/graph", "docs/design/graph.md"),
    ("src/job_list", "tests/job_list", "docs/design/job_list.md"),
    ("src/frame", "tests/frame", "docs/design/frame.md"),
    ("src/fork_join", "tests/fork_join", "docs/design/fork-join.md"),
    ("src/reload", "tests/reload", "docs/design/reload.md"),
    ("src/async", "tests/async", "docs/design/sources.md", "docs/design/completion.md",
     "docs/design/coroutines.md", "docs/design/streaming.md"),
    ("src/pages", "tests/pages", "docs/design/pages.md"),
    ("src/device", "tests/device", "docs/design/device.md"),
    ("tests/stress", "tests/model"),
    ("tests/core", "docs/design/batch.md", "docs/design/deadlock.md", "docs/design/lineage.md", "docs/design/ready_queue.md",
     "docs/design/seams.md", "docs/design/seeds.md", "docs/design/slot.md", "docs/design/wait.md",
     "docs/design/windows.md",
     "docs/design/memory-model.md", "docs/design/bodies.md", "docs/design/policies.md",
     "docs/design/mutants.md", "docs/design/nightly.md", "docs/design/profile.md"),
)
SUFFIXES = (".hpp", ".cpp", ".inl", ".md")

# Names that pass below a path: those that programs know. Each is deleted here when its thing gets
# another name.
PENDING = {
    "samples/23_foreign_event_loop.cpp": "boost",  # a library's namespace
    "": "ObserverTells ObserverTellsOfJoins job_ended job_started jobs_stolen spilled"
        " start_told_by_run tell_each",
}

PERMIT = r"(?:seats?|permits?|permissions?|workers?)"
STATES = "the state's name, for example complete, settled, drained, published"
# (what it is called, what to write instead, prose that is refused, names that are refused)
RULES = (
    ("permission", "successor or dependent of a task; permit of a thread",
     r"permissions?", r"permissions?"),
    ("spill", "overflow list, task list", r"(?:un)?spill(?:s|ed|ing)?", r"(?:un)?spill(?:s|ed)?"),
    ("keep", "run next (`run_next`)",
     r"(?:run|runs|the|a) kept (?:task|node|branch|one|ones)",
     r"^(?:is_kept|\w*run_kept|\w*drop_kept)$"),
    ("hand over", "release the permit; pass, give or publish anything else",
     r"hand(?:s|ed|ing)? over", r"hand(?:s|ed|ing)?_over"),
    ("lend", "release the permit",
     rf"(?:lends?|lent|lending|on loan)\b[^.;]{{0,40}}\b{PERMIT}|{PERMIT}\b[^.;]{{0,20}}\blent",
     r"^lent$"),
    ("take back", "acquire the permit again",
     rf"(?:take|taking)s? (?:back (?:a|the|its) {PERMIT}|(?:a|the|its) {PERMIT} back)"
     rf"|{PERMIT}\b[^.;]{{0,20}}\btaken back", None),
    ("boost", "inherit the priority (`inherit_priority`)",
     r"(?-i:boost(?:s|ed|ing)?)", r"boost(?:s|ed)?"),
    ("turn", "gate, serial gate; \"one after the other\" for those who take turns",
     r"(?:its|whose|the|this|their|no|a) turns?|takes? turns|taking turns", r"(?<!in_)turns?"),
    ("tell", "notify, report, observe",
     r"told(?! (?:\w+ ){0,2}apart)|tell(?:s|ing)?(?! (?:\w+ ){0,6}apart)", r"told|tells?|telling"),
    ("look on", "spin, poll; watch",
     r"look(?:s|ed|ing)? on(?! (?:its?|them|the|both|each|either)\b)", None),
    ("to who", "the noun: waiter, caller, owner, thread", r"to who|whoever", r"whoever"),
    ("is over", STATES, r"(?:is|are|was|were|be|been|being) over", None),
    ("is there", STATES, r"(?:is|are|was|were|be) there(?! (?:is|are|an?|any|no)\b)", None),
    ("at hand", STATES, r"(?:lie|lies|lay|have|has|is|are) (?:\w+ )?at hand", None),
)
# Where a task that runs next is meant, and where a branch of a join is.
RUN_NEXT = ("keep", "run next (`run_next`)", None, r"^(?:keep|kept)$")
OF_READY_TASKS = re.compile(r"^src/core/(?!.*/completion)|^docs/design/(?:graph|slot)\.md$")
BRANCH = ("job", "branch: jobs are functions with data in a job list", r"jobs?", r"jobs?")
OF_JOINS = re.compile(r"(?:^|/)fork[-_](?:join|stack)|core/fork\.cpp")
OPENING = re.compile(r"(?:Of|As)\b|…|\.\.\.")
# How a comment on a declaration begins that goes on from another one.
GOING_ON = re.compile(r"Its?\b|Those\b|That(?: one)?[.:,]"
                      r"|The same(?=[.:,]| (?:as|by|for|in|over|two|with|without)\b)")
OPENING_ADVICE = "a comment is a sentence of its own, with a subject and a verb"
# A value that stands for a sentence, "False: full.", where others than its authors read: "Returns
# false if the ring is full."
PLAIN = ("include/braid",)
ANSWER = re.compile(r"(?:^|(?<=[.;] ))(?:True|False|Null|Empty|-?\d+)(?: also| at once)?:(?= )")
# What a comment there does not begin with.
PLAIN_OPENING = re.compile(r"(?:Then|Does|One that|Likewise|And)\b")
ANSWER_ADVICE = "a sentence, for example 'Returns false if ...' or '0 means ...'"

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")'
    r'|(?P<text>"(?:\\.|[^"\\\n])*")'
    r"|(?P<character>'(?:\\.|[^'\\\n])')"
    r"|(?P<include>^[ \t]*#[ \t]*include[^\n]*)"
    r"|(?P<number>\b\d[\w']*)"
    r"|(?P<name>[A-Za-z_]\w*)", re.S | re.M)
PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


class line_map:
    """A text put together from pieces of a file, which knows the line of each position."""

    def __init__(self):
        self.text, self.starts = "", []

    def add(self, piece, line):
        self.starts.append((len(self.text), line))
        self.text += piece

    def line(self, at):
        return max(s for s in self.starts if s[0] <= at)[1]


def pending_in(relative):
    return {name for path, names in PENDING.items() if relative.startswith(path)
            for name in names.split()}


def rules_of(relative):
    also = [rule for rule, where in ((RUN_NEXT, OF_READY_TASKS), (BRANCH, OF_JOINS))
            if where.search(relative)]
    return (*RULES, *also)


class word_checker:
    def __init__(self, relative, pending):
        self.relative, self.pending, self.problems = relative, pending, []

    def report(self, line, said, advice):
        self.problems.append((line, f"{self.relative}:{line}: '{said}': write {advice}."))

    def prose(self, block):
        """Sentences; what stands between `marks` is code."""
        for found in re.finditer(r"`([^`]*)`", block.text):
            for name in re.finditer(r"[A-Za-z_]\w*", found.group(1)):
                self.name(name.group(), block.line(found.start(1) + name.start()))
        text = re.sub(r"`[^`]*`", lambda m: "`" * len(m.group()), block.text)
        for _, advice, pattern, _ in rules_of(self.relative):
            if pattern is None:
                continue
            for found in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w/-]|::)", text, re.I):
                self.report(block.line(found.start()), found.group(), advice)
        # Names in prose, which have an underscore or a call's parentheses.
        for found in re.finditer(r"[A-Za-z]\w*_\w*|[A-Za-z]\w*(?=\(\))", text):
            self.name(found.group(), block.line(found.start()))

    def name(self, name, line):
        if name in self.pending:
            return
        parts = [p.lower() for word in name.split("_") for p in PART.findall(word)]
        joined = "_".join(parts)
        for _, advice, _, pattern in rules_of(self.relative):
            if pattern is None:
                continue
            if pattern.startswith("^"):
                hit = re.search(pattern, name.rstrip("_"))
            else:
                hit = re.search(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", joined)
            if hit:
                self.report(line, name, advice)

    def opening(self, mark, text, line):
        found = OPENING.match(text) or (mark == "///" and GOING_ON.match(text))
        if found:
            self.problems.append((line, f"{self.relative}:{line}: a comment begins with "
                                        f"'{found.group()}': {OPENING_ADVICE}."))

    def comment(self, block, mark):
        """A whole comment on lines of its own, which a reader may see alone."""
        self.prose(block)
        if mark != "///" or not self.relative.startswith(PLAIN):
            return
        text = block.text.lstrip()
        cut = len(block.text) - len(text)
        found = [PLAIN_OPENING.match(text), *ANSWER.finditer(text)]
        for match in filter(None, found):
            self.report(block.line(cut + match.start()), match.group(), ANSWER_ADVICE)

    def source(self, text):
        block, last, own = line_map(), 0, ""  # comment lines that follow each other
        at, line = 0, 1
        for token in TOKEN.finditer(text):
            line += text.count("\n", at, token.start())
            at = token.start()
            if token["comment"]:
                alone = text[text.rfind("\n", 0, at) + 1:at].strip() == ""
                mark = re.match(r"/+|/\*+", token["comment"]).group()
                if not (block.text and alone and own == mark and line == last + 1):
                    self.comment(block, own)
                    block, own = line_map(), mark if alone else ""
                    if alone:
                        self.opening(mark, token["comment"].lstrip("/*!< "), line)
                for offset, piece in enumerate(token["comment"].split("\n")):
                    block.add(piece.strip("/*!< ") + " ", line + offset)
                last = line + token["comment"].count("\n")
            elif token["raw"] or token["text"]:
                said = line_map()
                for offset, piece in enumerate(token.group().split("\n")):
                    said.add(piece + " ", line + offset)
                self.prose(said)
            elif token["name"]:
                self.name(token["name"], line)
        self.comment(block, own)

    def page(self, text):
        block, fence = line_map(), False
        for number, line in enumerate(text.split("\n"), 1):
            if line.lstrip().startswith("```"):
                fence = not fence
                self.prose(block)
                block = line_map()
                continue
            if fence:  # code or a figure: names and prose cannot be told apart by their marks
                line = re.sub(r"[A-Za-z_]\w*",
                              lambda m: "" if m.group() in self.pending else m.group(), line)
            # Links keep their text.
            line = re.sub(r"\]\([^)]*\)", "]", line)
            block.add(line + " ", number)
            if not line.strip() or line.startswith(("|", "- ", "#")):
                self.prose(block)
                block = line_map()
        self.prose(block)


def problems_of(file, relative, pending):
    checker = word_checker(relative, pending)
    text = file.read_text(encoding="utf-8")
    (checker.page if file.suffix == ".md" else checker.source)(text)
    return [p for _, p in sorted(set(checker.problems))]


def files_of(root, path):
    if (root / path).is_file():
        return [root / path]
    return [f for f in sorted((root / path).rglob("*")) if f.suffix in SUFFIXES]


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--all-names", action="store_true")
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args(given)
    root = arguments.root.resolve()
    paths = arguments.paths or [path for group in GROUPS for path in group]
    files = [(f, str(f.relative_to(root))) for path in paths for f in files_of(root, path)]
    problems = [p for f, name in files
                for p in problems_of(f, name, set() if arguments.all_names else pending_in(name))]
    print("\n".join([*problems, f"{len(problems)} problems in {len(files)} files."]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
