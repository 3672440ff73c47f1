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

    def test_a_source_of_the_core_ends_earlier(self):
        self.write("src/core/run/a.cpp", "int a;\n" * 401)
        self.expect_problem("src/core/run/a.cpp:401", "at most 400")

    def class_of(self, count, more=""):
        functions = "".join(f"    void f{i}() const {{ g({i}); }}\n" for i in range(count))
        self.write(
            "src/core/run/a.hpp",
            "enum class kind { one };\n"
            "class room : public base<int> {\npublic:\n    room();\n    ~room();\n"
            f"    using base::h;\n    struct inner {{ int a() {{ return 1; }} }};\n{functions}{more}"
            "private:\n    void own();\n    int a = f(1), b{0};\n};\n",
        )

    def test_twenty_five_public_functions_pass(self):
        self.class_of(25)
        self.assertEqual(self.run_script().returncode, 0)

    def test_one_public_function_more_is_named(self):
        self.class_of(25, "    template <class T>\n    T last(T t) const;\n")
        self.expect_problem("src/core/run/a.hpp:2", "room has 26 public functions")

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
