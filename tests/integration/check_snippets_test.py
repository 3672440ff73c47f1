"""Plants documentation pages and reads what check_snippets.py says about them. The library is a
stand-in of one header, so that this tests the script and nothing else."""

import unittest

from planted_tree import planted_tree

HEADER = "#pragma once\nnamespace braid { struct scheduler { void wait(int) {} }; }\n"
PROGRAM = "#include <braid/braid.hpp>\nint main() { braid::scheduler s; return %s; }\n"


def block(text, mark=""):
    return f"Some prose.\n\n```cpp{mark}\n{text}```\n"


class check_snippets(planted_tree):
    script = "scripts/check_snippets.py"

    def setUp(self):
        super().setUp()
        self.write("include/braid/braid.hpp", HEADER)

    def expect(self, code, *words):
        result = self.run_script()
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stdout)

    def test_programs_and_snippets_that_work_are_counted(self):
        self.write("README.md", block(PROGRAM % 0) + block("scheduler.wait(1);\n", " snippet"))
        self.write("docs/manual/deep/page.md", block("#include <map>\nstd::map<int, int> m;\n", " snippet"))
        self.write("docs/other.md", "```text\nno code\n```\n```python\nprint()\n```\n")
        self.expect(0, "3 documentation snippets")

    def test_a_snippet_that_does_not_compile_is_named_by_page_and_line(self):
        self.write("docs/page.md", block("scheduler.nap();\n", " snippet"))
        self.expect(1, "docs/page.md:4: does not compile", "nap")

    def test_the_compiler_names_the_line_of_the_page(self):
        self.write("docs/page.md", block("int a = 0;\nscheduler.nap(a);\n", " snippet"))
        self.expect(1, "docs/page.md:5:11")

    def test_a_program_that_fails_is_named(self):
        self.write("README.md", block(PROGRAM % 3))
        self.expect(1, "README.md:4: ended with 3")

    def test_a_block_that_is_neither_is_refused(self):
        self.write("docs/page.md", block("scheduler.wait(1);\n"))
        self.expect(1, "docs/page.md:4: neither")


if __name__ == "__main__":
    unittest.main()
