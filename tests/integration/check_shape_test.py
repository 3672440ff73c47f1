"""Plants one fault at a time and reads what check_shape.py says about it."""

import sys
import unittest

from planted_tree import ROOT, planted_tree

sys.path.insert(0, str(ROOT / "scripts"))

import check_shape as check_shape_script  # noqa: E402


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

    def class_of(self, count, more="", path="src/core/run/a.hpp"):
        functions = "".join(f"    void f{i}() const {{ g({i}); }}\n" for i in range(count))
        self.write(
            path,
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

    def test_public_headers_of_the_core_count_and_those_of_others_do_not(self):
        self.class_of(26, path="include/braid/core/a.hpp")
        self.expect_problem("include/braid/core/a.hpp:2", "room has 26 public functions")
        (self.root / "include/braid/core/a.hpp").unlink()
        self.class_of(26, path="include/braid/graph/a.hpp")
        self.assertEqual(self.run_script().returncode, 0)

    def test_a_struct_is_public_from_its_beginning(self):
        functions = "".join(f"    int f{i}();\n" for i in range(26))
        self.write("src/core/a.hpp", "struct alignas(64) slot {\n" + functions + "};\n")
        self.expect_problem("src/core/a.hpp:1", "slot has 26 public functions")
        self.write("src/core/a.hpp", "class slot {\n" + functions + "};\n")
        self.assertEqual(self.run_script().returncode, 0)

    def test_the_scheduler_has_as_many_as_it_has(self):
        for more, code in ((0, 0), (1, 1)):
            count = check_shape_script.MORE_FUNCTIONS["scheduler"] + more
            functions = "".join(f"    int f{i}();\n" for i in range(count))
            self.write("include/braid/core/a.hpp", "class scheduler {\npublic:\n" + functions + "};\n")
            self.assertEqual(self.run_script().returncode, code)
        header = (ROOT / "include/braid/core/scheduler.hpp").read_text(encoding="utf-8")
        now = {name: count for name, _, count in check_shape_script.public_functions(header)}
        self.assertEqual(now["scheduler"], check_shape_script.MORE_FUNCTIONS["scheduler"])

    def test_a_friend_class_of_the_core_is_named_unless_it_is_listed(self):
        text = "class a {\n    friend class b;\n    friend bool operator==(a, a) = default;\n};\n"
        for path in ("src/core/a.hpp", "include/braid/core/a.hpp"):
            self.write(path, text)
            self.expect_problem(path + ":2", "b is a friend")
            (self.root / path).unlink()
        self.write("src/core/outside/outside_source.hpp", text.replace("class b", "class outside_room"))
        self.write("src/graph/a.hpp", text)
        self.assertEqual(self.run_script().returncode, 0)

    def test_each_friend_that_is_listed_is_one(self):
        for path, names in check_shape_script.FRIENDS.items():
            found = check_shape_script.FRIEND.findall((ROOT / path).read_text(encoding="utf-8"))
            self.assertEqual(set(found), names, path)

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
