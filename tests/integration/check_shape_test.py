"""Plants one fault at a time and reads what check_shape.py says about it."""

import unittest

from planted_tree import planted_tree


class check_shape(planted_tree):
    script = "scripts/check_shape.py"

    def expect_problem(self, where, word):
        result = self.run_script()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        first, *rest = result.stdout.splitlines()
        self.assertEqual(len(rest), 1, result.stdout)
        self.assertTrue(first.startswith(where + ": "), first)
        self.assertIn(word, first)

    def test_lengths_up_to_the_limits_pass(self):
        self.write("include/braid/a.hpp", "int a;\n" * 400)
        self.write("src/a.cpp", "int a;\n" * 800 + "x" * 0)
        self.write("src/b.cpp", "x" * 100 + "\n")
        self.write("src/c.cpp", 'asm volatile("pause");\n')
        self.assertEqual(self.run_script().returncode, 0)

    def test_a_long_header_is_named(self):
        self.write("include/braid/a.hpp", "int a;\n" * 401)
        self.expect_problem("include/braid/a.hpp:401", "at most 400")

    def test_a_long_source_is_named(self):
        self.write("demo/a.cpp", "int a;\n" * 801)
        self.expect_problem("demo/a.cpp:801", "at most 800")

    def test_a_wide_line_is_named(self):
        self.write("src/a.cpp", "\n" + "x" * 101 + "\n")
        self.expect_problem("src/a.cpp:2", "101 columns")

    def test_volatile_is_refused(self):
        self.write("src/a.cpp", "volatile int a;\n")
        self.expect_problem("src/a.cpp:1", "atomic")

    def test_silenced_tools_are_refused(self):
        for text in (
            "int a;  // NO" + "LINT",
            '#pragma GCC diagnostic ignored "-Wshadow"',
            '__attribute__((no_sanitize("thread"))) void f();',
        ):
            with self.subTest(text=text):
                self.write("tests/a.cpp", text + "\n")
                self.expect_problem("tests/a.cpp:1", "mend")


if __name__ == "__main__":
    unittest.main()
