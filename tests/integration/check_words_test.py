"""Plants one word at a time and reads what check_words.py says about it."""

import contextlib
import io
import re
import sys
import unittest
from types import SimpleNamespace

from planted_tree import ROOT, planted_tree

sys.path.insert(0, str(ROOT / "scripts"))

import check_words  # noqa: E402

SOURCE = "src/graph/a.cpp"
PAGE = "docs/design/graph.md"


class words(planted_tree):
    script = "scripts/check_words.py"

    def run_script(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_words.main(["--root", str(self.root), *arguments])
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr="")

    def test_the_program_says_it_and_ends_with_1(self):
        self.write(SOURCE, "// It was told.\n")
        result = super().run_script()
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stdout.splitlines(),
                         [f"{SOURCE}:1: 'told': write notify, report, observe.",
                          "1 problems in 1 files."])

    def expect_problem(self, where, said, advice):
        result = self.run_script()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        first, *rest = result.stdout.splitlines()
        self.assertEqual(len(rest), 1, result.stdout)
        self.assertTrue(first.startswith(where + ": "), first)
        self.assertIn(f"'{said}'", first)
        self.assertIn(advice, first)

    def expect_clean(self, path, text):
        self.write(path, text)
        result = self.run_script()
        self.assertEqual(result.returncode, 0, text + "\n" + result.stdout + result.stderr)

    def test_each_word_is_found_in_a_comment(self):
        for text, said, advice in (
            ("The permissions of a task are walked.", "permissions", "successor"),
            ("A full ring spills into a list.", "spills", "overflow list"),
            ("Runs the kept task.", "the kept task", "run next"),
            ("The waiter hands over its seat.", "hands over", "release the permit"),
            ("A waiter lends its seat to a reserve.", "lends its seat", "release the permit"),
            ("The seat was taken back.", "seat was taken back", "acquire the permit"),
            ("What it waits for is boosted.", "boosted", "inherit the priority"),
            ("The thread waits for its turn.", "its turn", "gate"),
            ("The handler was told.", "told", "report"),
            ("A thread tells the waiter.", "tells", "notify"),
            ("An idle thread looks on for a while.", "looks on", "spin"),
            ("Whoever finds it runs it.", "Whoever", "noun"),
            ("The failure goes to who waits.", "to who", "noun"),
            ("The task is over.", "is over", "state's name"),
            ("The wait ends once it is there.", "is there", "state's name"),
            ("A thread runs what lies at hand.", "lies at hand", "state's name"),
        ):
            for comment in ("// {}", "/// {}", "/* {} */", "int a;  // {}"):
                with self.subTest(text=text, comment=comment):
                    self.write(SOURCE, "int b;\n\n" + comment.format(text) + "\n")
                    self.expect_problem(SOURCE + ":3", said, advice)

    def test_a_value_that_stands_for_a_sentence_is_refused_in_public_headers(self):
        path = "include/braid/graph/a.hpp"
        for text, said in (("False: full.", "False:"), ("Any thread. Null: none.", "Null:"),
                           ("Waits; 0: looks once.", "0:"), ("Never sleeps. True also: done.", "True also:"),
                           ("Then it is cancelled.", "Then"), ("Does what run() does.", "Does"),
                           ("One that comes again is armed.", "One that")):
            with self.subTest(text=text):
                self.write(path, f"int b;\n\n/// {text}\nint a;\n")
                self.expect_problem(path + ":3", said, "a sentence")
        for text in ("Returns false if it is full.", "True while it is armed.", "Ratio 1:2 or 0.",
                     "Thenceforth it rests."):
            self.expect_clean(path, f"/// {text}\nint a;\n")
        self.write(path, "int a;\n")
        self.expect_clean("src/graph/a.hpp", "/// False: full.\nint a;\n")  # not public

    def test_each_word_is_found_in_a_name(self):
        for name, advice in (
            ("permissions", "successor"), ("permission_list", "successor"),
            ("spilled_", "overflow list"), ("unspill", "overflow list"),
            ("run_kept", "run next"), ("handed_over", "release the permit"),
            ("boost", "inherit the priority"), ("pass_turn", "gate"), ("basic_turns", "gate"),
            ("lent_", "release the permit"), ("told_", "report"), ("tell_ready", "report"),
            ("WhoeverComesNext", "noun"),
        ):
            with self.subTest(name=name):
                self.write("tests/frame/a.cpp", f"int a;\nint {name} = 0;\n")
                # With all names, for some are still allowed as they stand elsewhere.
                result = self.run_script("--all-names")
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertTrue(result.stdout.startswith(f"tests/frame/a.cpp:2: '{name}': "))
                self.assertIn(advice, result.stdout)

    def test_a_task_that_runs_next_is_not_kept_in_the_core(self):
        self.write("src/core/a.cpp", "void keep();\n")
        result = self.run_script("src/core")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("src/core/a.cpp:1: 'keep': write run next", result.stdout)

    def test_a_branch_is_no_job(self):
        for path in ("include/braid/fork_join/a.hpp", "include/braid/core/fork_stack.hpp"):
            with self.subTest(path=path):
                self.write(path, "// A thief claims the oldest job.\n")
                self.expect_problem(path + ":1", "job", "branch")
                (self.root / path).unlink()
        self.expect_clean("src/job_list/a.cpp", "// A thread takes the oldest job.\n")

    def test_messages_are_prose(self):
        self.write(SOURCE, 'log("the task is over; whatever");\n')
        self.expect_problem(SOURCE + ":1", "is over", "state's name")
        self.write(SOURCE, 'log(R"(one\ntwo\nthe task is over)");\n')
        self.expect_problem(SOURCE + ":3", "is over", "state's name")

    def test_a_phrase_is_found_across_lines(self):
        self.write(SOURCE, "int a;\n// It ends when the task is\n// over.\n")
        self.expect_problem(SOURCE + ":2", "is over", "state's name")
        self.write(SOURCE, "")
        self.write(PAGE, "# Page\n\nIt ends when the task is\nover.\n")
        self.expect_problem(PAGE + ":3", "is over", "state's name")

    def test_a_comment_is_a_sentence_of_its_own(self):
        for begin in ("Of", "As", "…", "..."):
            for mark in ("//", "///"):
                with self.subTest(begin=begin, mark=mark):
                    self.write(SOURCE, f"int a;\n    {mark} {begin} this node.\nint b;\n")
                    self.expect_problem(SOURCE + ":2", begin, "sentence")
        for begin in ("The same", "It", "Its", "Those", "The same two"):
            with self.subTest(begin=begin):
                self.write(SOURCE, f"int a;\n/// {begin} for a node.\nint b;\n")
                self.expect_problem(SOURCE + ":2", begin.removesuffix(" two"), "sentence")
        self.write(SOURCE, "// Why.\n/// Of this node.\nint b;\n")
        self.expect_problem(SOURCE + ":2", "Of", "sentence")

    def test_pages_are_read_with_their_code_and_figures(self):
        for text, line, said in (
            ("Text: the task is over.\n", 1, "is over"),
            ("Text: `pass_turn()` is called.\n", 1, "pass_turn"),
            ("```cpp\nint a;  // the task is over\n```\n", 2, "is over"),
            ("```\nready ──► told_again\n```\n", 2, "told_again"),
            ("| a | b |\n|---|---|\n| c | it was told |\n", 3, "told"),
        ):
            with self.subTest(text=text):
                self.write(PAGE, text)
                self.expect_problem(f"{PAGE}:{line}", said, "write")

    def test_english_passes(self):
        for text in (
            "Keep the order. What it keeps is kept from frame to frame.",
            "It turns out that A and B run in turn; one turn of a wheel turns it.",
            "Their types tell exceptions apart. Two tasks are told apart by their ids.",
            "The overtaken task moves over; overflow, overhead and over there.",
            "Is there any? As there is one, there is another.",
            "The owner takes the branch back. A body borrows what was lent to it.",
            "Boost is a library: boost/beast.hpp, boost::asio.",
            "The looks of it: it looks on both sides and looks on it.",
            "A history of one thread; a permit; the overflow list.",
        ):
            with self.subTest(text=text):
                self.expect_clean(SOURCE, f"// {text}\n/// Why: {text}\nint a;\n")
                self.expect_clean(PAGE, text + "\n")
        self.expect_clean(SOURCE, "int return_value, turned, keeper, jobs, kept, keep;\n")
        self.expect_clean(SOURCE, '#include "core/permissions.hpp"\n')

    def test_only_what_is_listed_is_read(self):
        self.expect_clean("src/profile/a.cpp", "// It was told.\n")
        self.write("src/profile/a.cpp", "// It was told.\n")
        self.assertEqual(self.run_script("src/profile").returncode, 1)


class table(unittest.TestCase):
    def test_what_is_checked_exists(self):
        for path in (path for group in check_words.GROUPS for path in group):
            self.assertTrue((ROOT / path).exists(), path)

    def test_no_page_of_design_and_no_tests_of_the_core_are_left_out(self):
        listed = {path for group in check_words.GROUPS for path in group}
        for page in (ROOT / "docs/design").glob("*.md"):
            self.assertIn(str(page.relative_to(ROOT)), listed)
        for folder in (ROOT / "tests").iterdir():
            if (ROOT / "src" / folder.name).is_dir() and folder.name not in ("base", "profile"):
                self.assertIn(f"tests/{folder.name}", listed)
        self.assertLessEqual({"tests/stress", "tests/model"}, listed)

    def test_each_name_that_passes_is_still_in_use(self):
        files = {path: file.read_text(encoding="utf-8")
                 for top in ("include", "src", "tests", "docs", "samples")
                 for file in (ROOT / top).rglob("*") if file.suffix in check_words.SUFFIXES
                 for path in [str(file.relative_to(ROOT))]}
        for below, names in check_words.PENDING.items():
            for name in names.split():
                with self.subTest(name=name):
                    self.assertTrue(any(re.search(rf"\b{name}\b", text)
                                        for path, text in files.items() if path.startswith(below)),
                                    "delete it from PENDING")

    def test_each_rule_stands_in_the_table_for_people(self):
        page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        rows = page[page.index("## Words"):].split("\n## ")[0]
        for name, *_ in (*check_words.RULES, check_words.BRANCH):
            with self.subTest(name=name):
                self.assertRegex(rows, rf"\| [^|]*\b{name}\b[^|]* \|")


if __name__ == "__main__":
    unittest.main()
