"""Where a C++ source can be changed in one thing, so that a test ought to notice.

Reads just enough C++ for this: tokens, brackets, which braces hold statements. What it does not
understand it leaves alone; what does not compile is noticed by who builds it.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      |(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      |(?P<text>(?:u8|u|U|L)?R"(?P<d>[^()\s\\]*)\(.*?\)(?P=d)"
               |(?:u8|u|U|L)?"(?:\\.|[^"\\])*" | (?:u8|u|U|L)?'(?:\\.|[^'\\])+')
      |(?P<number>\.?\d(?:'?[\w.])*)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<other><<=|>>=|<=>|\.\.\.|::|->|\+\+|--|&&|\|\||==|!=|<=|>=|[-+*/%&|^]=|<<|>>|.)""",
    re.X | re.S | re.M,
)
CLOSES = {"(": ")", "[": "]", "{": "}"}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
COMPARES = {"&&", "||", "==", "!=", "<=", ">=", "!"}
CLASSES = {"class", "struct", "union"}
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "mutable", "&", "&&"}
# A statement without these costs time, shows something to a tool, or orders memory, which is what
# the models are for.
KEPT = {"BRAID_EXPECT", "relax", "pause_between_looks", "prefetch", "atomic_thread_fence"}
NO_EFFECT = {"static_assert", "static_cast", "using", "throw"}


@dataclass(frozen=True)
class mutant:
    file: str
    line: int
    kind: str  # negated, dropped or moved
    start: int
    end: int
    old: str
    new: str
    text: str  # of that line

    def apply(self, text):
        assert text[self.start : self.end] == self.old
        return text[: self.start] + self.new + text[self.end :]

    def __str__(self):
        def short(text):
            text = " ".join(text.split())
            return text if len(text) <= 70 else text[:67] + "..."

        what = short(self.old)
        if self.kind == "moved":
            what += f" -> {self.new} in {short(self.text)}"
        return f"{self.file}:{self.line}: {self.kind}: {what}"


class unreadable(Exception):
    pass


class source:
    """One file; `mutants` are in the order of the text."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.tokens, self.kinds, self.at = [], [], []
        for found in TOKEN.finditer(text):
            kind = found.lastgroup if found.lastgroup != "d" else "text"
            if kind not in ("skip", "directive"):
                self.tokens.append(found.group() if kind != "text" else '""')
                self.kinds.append(kind)
                self.at.append(found.span())
        self.match = self.pair_brackets()
        self.found = []
        self.declarations(0, len(self.tokens))
        self.mutants = sorted(set(self.found), key=lambda m: (m.start, m.end, m.kind, m.new))

    def pair_brackets(self):
        match, open_ones = {}, []
        for i, token in enumerate(self.tokens):
            if token in CLOSES:
                open_ones.append(i)
            elif token in CLOSES.values():
                if not open_ones or CLOSES[self.tokens[open_ones[-1]]] != token:
                    raise unreadable(f"{self.name}: brackets do not match")
                match[open_ones[-1]] = i
                match[i] = open_ones.pop()
        if open_ones:
            raise unreadable(f"{self.name}: brackets do not match")
        return match

    def add(self, kind, first, last, new):
        """Replaces the tokens from `first` to before `last`."""
        start, end = self.at[first][0], self.at[last - 1][1]
        old = self.text[start:end]
        line = self.text.count("\n", 0, start) + 1
        text = self.text.splitlines()[line - 1]
        self.found.append(mutant(self.name, line, kind, start, end, old, new, text))

    # ---- which braces hold what ----------------------------------------------------------------

    def declarations(self, i, end):
        """A file, a namespace or a class."""
        head = i  # where this declaration begins
        while i < end:
            token = self.tokens[i]
            if token == ";":
                self.constant(head, i)
                head = i + 1
            elif token in ("(", "["):
                i = self.match[i]
            elif token == "{":
                close = self.match[i]
                kind = self.brace(head, i)
                if kind == "declarations":
                    self.declarations(i + 1, close)
                elif kind == "body":
                    self.body(i + 1, close)
                if kind != "initializer":
                    head = close + 1
                i = close
            i += 1

    def outside(self, i, end):
        """The tokens that are in no bracket of these."""
        while i < end:
            yield i, self.tokens[i]
            i = self.match[i] + 1 if self.tokens[i] in CLOSES else i + 1

    def brace(self, head, at):
        tokens = [t for _, t in self.outside(head, at)]
        before = self.tokens[at - 1] if at > 0 else ""
        if "namespace" in tokens or tokens[:1] == ["extern"] and '""' in tokens:
            return "declarations"
        if "enum" in tokens or "concept" in tokens:
            return "initializer"
        if "(" not in tokens:
            return "declarations" if CLASSES & set(tokens) and "=" not in tokens else "initializer"
        if "=" in tokens and "operator" not in tokens:
            return "initializer"
        after = tokens[len(tokens) - 1 - tokens[::-1].index("(") :]
        if before == ")" or before in AFTER_PARAMETERS or "->" in after:
            return "body"
        # After the initializers of a constructor, or one of them.
        return "body" if before == "}" else "initializer"

    def constant(self, head, end):
        tokens = self.tokens[head:end]
        if "constexpr" in tokens and "=" in tokens and "(" not in tokens[: tokens.index("=")]:
            self.literals(head + tokens.index("="), end)

    # ---- statements ----------------------------------------------------------------------------

    def body(self, i, end):
        self.literals(i, end)
        self.statements(i, end)

    def statements(self, i, end):
        guarded = False  # the statement at i hangs on a condition without braces
        while i < end:
            token = self.tokens[i]
            was_guarded, guarded = guarded, False
            if token == "{":
                self.statements(i + 1, self.match[i])
                i = self.match[i] + 1
            elif token in ("if", "while", "for", "switch", "catch"):
                plain = self.tokens[i + 1] == "("
                i += 1 if plain else 2  # if constexpr
                self.header(token if plain else "", i)
                i = self.match[i] + 1
                guarded = token in ("if", "while", "for")
            elif token in ("else", "do", "try"):
                guarded = token == "else"
                i += 1
            elif token in ("case", "default", "public", "private", "protected"):
                while self.tokens[i] != ":":
                    i += 1
                i += 1
            else:
                i = self.statement(i, end, was_guarded)

    def statement(self, first, end, guarded):
        """Up to its semicolon; returns what comes after it."""
        last = first
        local_class = self.tokens[first] in CLASSES
        for last, token in self.outside(first, end):
            if token == "{" and local_class:
                self.declarations(last + 1, self.match[last])
                local_class = False
            elif token in CLOSES:
                self.inside(last)
            elif token == ";":
                break
        else:
            return end
        if first == last:
            return last + 1
        self.ternaries(first, last)
        word = self.tokens[first]
        if word == "return":
            self.answer(first + 1, last)
            if guarded:
                self.add("dropped", first, last, "")
        elif word in ("break", "continue") or self.is_effect(first, last):
            self.add("dropped", first, last, "")
        return last + 1

    def inside(self, at):
        """Lambdas and ternaries within a bracket."""
        close = self.match[at]
        if self.tokens[at] == "{" and self.is_lambda(at):
            self.statements(at + 1, close)
            return
        if self.tokens[at - 1] in ("BRAID_EXPECT", "BRAID_ASSERT"):
            self.expected(at + 1, close, 1 if self.tokens[at - 1] == "BRAID_EXPECT" else 0)
        self.ternaries(at + 1, close)
        for i, token in self.outside(at + 1, close):
            if token in CLOSES:
                self.inside(i)

    def is_lambda(self, at):
        i = at - 1
        while self.tokens[i] in AFTER_PARAMETERS:
            i -= 1
        if self.tokens[i] == "]" or self.tokens[i] == ")":
            return True
        while i > 0 and (self.kinds[i] == "name" or self.tokens[i] in ("::", "<", ">", "*", "&")):
            i -= 1
        return self.tokens[i] == "->" and self.tokens[i - 1] == ")"

    def is_effect(self, first, last):
        """An assignment, an increment or a call; not a declaration."""
        tokens = self.tokens[first:last]
        if tokens[0] in NO_EFFECT or KEPT & set(t for _, t in self.outside(first, last)):
            return False
        i = first
        while i < last and self.tokens[i] in ("*", "++", "--"):
            i += 1
        if i < last and self.tokens[i] == "(":
            i = self.match[i] + 1
        elif i < last and self.kinds[i] == "name" or self.tokens[i] == "::":
            i += 1
        else:
            return False
        while i < last:
            token = self.tokens[i]
            if token in ("::", ".", "->"):
                i += 2
            elif token in ("[", "("):
                i = self.match[i] + 1
            else:
                break
        return i == last and "(" in tokens or i < last and self.tokens[i] in (
            ASSIGNS | {"++", "--", "?"}
        ) or tokens[0] in ("++", "--")  # fmt: skip

    # ---- conditions ----------------------------------------------------------------------------

    def header(self, word, at):
        first, last = at + 1, self.match[at]
        semicolons = [i for i, t in self.outside(first, last) if t == ";"]
        for i, token in self.outside(first, last):
            if token in CLOSES:
                self.inside(i)
        if word == "for":
            if len(semicolons) == 2:
                self.condition(semicolons[0] + 1, semicolons[1])
        elif word in ("if", "while"):
            self.ternaries(first, last)
            self.condition(semicolons[-1] + 1 if semicolons else first, last)

    def condition(self, first, last):
        """One operand of it is negated, or all of it if it has but one."""
        tops = list(self.outside(first, last))
        declares = any(t == "=" for _, t in tops)
        if first == last or declares or self.tokens[first:last] in (["true"], ["false"]):
            return
        cuts = [first - 1, *(i for i, t in tops if t in ("&&", "||")), last]
        if any(t == "?" for _, t in tops):
            cuts = [first - 1, last]
        for before, after in zip(cuts, cuts[1:]):
            start, end = self.at[before + 1][0], self.at[after - 1][1]
            self.add("negated", before + 1, after, f"!({self.text[start:end]})")

    def answer(self, first, last):
        """What a function returns, if it is a condition."""
        tops = [t for _, t in self.outside(first, last)]
        if COMPARES & set(tops) and "?" not in tops:
            self.condition(first, last)

    def expected(self, first, last, which):
        commas = [i for i, t in self.outside(first, last) if t == ","]
        cuts = [first - 1, *commas, last]
        if len(cuts) > which + 1:
            self.condition(cuts[which] + 1, cuts[which + 1])

    def ternaries(self, first, last):
        stops = ASSIGNS | {",", ";", "?", ":", "return"}
        begin = first
        for i, token in self.outside(first, last):
            if token == "?":
                self.condition(begin, i)
            if token in stops:
                begin = i + 1

    # ---- constants -----------------------------------------------------------------------------

    def literals(self, first, last):
        i = first
        while i < last:
            token = self.tokens[i]
            if token in ("static_assert", "alignas"):
                i = self.match[i + 1]
            elif token == "[" and self.is_bound(i):
                i = self.match[i]
            elif token in ("true", "false") and self.tokens[i - 1] != "while":
                forever = self.tokens[i - 2 : i] == ["while", "("]
                if not forever:
                    self.add("moved", i, i + 1, "false" if token == "true" else "true")
            elif self.kinds[i] == "number":
                for new in moved(token):
                    self.add("moved", i, i + 1, new)
            i += 1

    def is_bound(self, at):
        """Of an array that is declared: `char text[200]`."""
        kinds, tokens = self.kinds[at - 2 : at], self.tokens[at - 2 : at]
        return kinds == ["name", "name"] and tokens[0] not in ("return", "case", "else", "throw")


def moved(literal):
    """Small numbers by one; large ones, which are limits and times, by a factor of two."""
    found = re.fullmatch(r"(0[xXbB][\da-fA-F']+|[\d']+)([uUlLzZ]*)", literal)
    if not found or re.fullmatch(r"0\d+", found[1]):
        return []
    value = int(found[1].replace("'", ""), 0)
    values = (value - 1, value + 1) if value < 1000 else (value // 2, value * 2)
    return [f"{v}{found[2]}" for v in values if v >= 0]
