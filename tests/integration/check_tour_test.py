"""Plants one mistake at a time in a small tour and reads what check_tour.py says about it."""

import unittest

from planted_tree import planted_tree

PAGE = """# Architecture
```tour task
open        src/open.cpp
room::take  src/room.hpp     in its class
room::give  src/room.cpp
// another thread
main_loop   src/loop.cpp
```
"""
FILES = {
    "src/open.cpp": "int open(room& r) {\n    return r.take();\n}\n",
    "src/room.hpp": "class room {\n    int take() { give(); return 1; }\n    void give();\n};\n",
    "src/room.cpp": "void room::give() {}\n",
    "src/loop.cpp": "static void main_loop() {}\n",
}


class check_tour(planted_tree):
    script = "scripts/check_tour.py"

    def setUp(self):
        super().setUp()
        self.write("docs/architecture.md", PAGE)
        for path, text in FILES.items():
            self.write(path, text)

    def expect_problem(self, *words):
        result = self.run_script()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stdout)

    def test_a_tour_that_is_so_passes_and_is_counted(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("task: 4 functions, 4 files, turned to 4 times.", result.stdout)

    def test_a_file_that_is_gone_is_named(self):
        (self.root / "src/loop.cpp").unlink()
        self.expect_problem("docs/architecture.md:7: src/loop.cpp does not exist.")

    def test_a_function_that_has_moved_is_named(self):
        self.write("src/room.cpp", "// void room::give\n")
        self.expect_problem("docs/architecture.md:5: room::give is not defined in src/room.cpp.")

    def test_a_call_is_no_definition(self):
        self.write("src/loop.cpp", "static void other() {\n    main_loop();\n    return main_loop();\n}\n")
        self.expect_problem("main_loop is not defined in src/loop.cpp.")

    def test_a_step_that_nothing_before_it_mentions_is_named(self):
        self.write("src/open.cpp", "int open(room&) {\n    return 0;\n}\n")
        self.expect_problem("docs/architecture.md:4: no step before room::take in 'task' mentions take.")

    def test_a_step_that_only_another_function_of_the_file_mentions_is_named(self):
        self.write("src/open.cpp", "int open(room&) {\\n    return 0;\\n}\\nint other(room& r) {\\n    return r.take();\\n}\\n")
        self.expect_problem("no step before room::take in 'task' mentions take.")

    def test_a_line_without_a_file_is_named(self):
        self.write("docs/architecture.md", PAGE.replace("src/loop.cpp", ""))
        self.expect_problem("'main_loop' is no step")

    def test_a_page_without_tours_is_an_error_of_its_own(self):
        self.write("docs/architecture.md", "# Architecture\n")
        result = self.run_script()
        self.assertEqual(result.returncode, 2)
        self.assertIn("no block ```tour", result.stderr)


if __name__ == "__main__":
    unittest.main()
