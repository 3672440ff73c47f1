"""Plants one mistake at a time in a small tour and reads what check_tour.py says about it."""

import sys
import unittest

from planted_tree import ROOT, planted_tree

sys.path.insert(0, str(ROOT / "scripts"))

import check_tour as checker  # noqa: E402

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
        self.assertIn("task: 4 functions, 3 files, 0 returns, goes on elsewhere 1 times.",
                      result.stdout)

    def expect_clean(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def steps(self, *lines):
        self.write("docs/architecture.md", "```tour task\n" + "\n".join(lines) + "\n```\n")

    def test_a_file_that_is_gone_is_named(self):
        (self.root / "src/loop.cpp").unlink()
        self.expect_problem("docs/architecture.md:7: src/loop.cpp does not exist.")

    def test_a_function_that_has_moved_is_named(self):
        self.write("src/room.cpp", "// void room::give\n")
        self.expect_problem("docs/architecture.md:5: room::give is not defined in src/room.cpp.")

    def test_a_call_is_no_definition(self):
        self.write("src/loop.cpp", "static void other() {\n    main_loop();\n    return main_loop();\n}\n")
        self.expect_problem("main_loop is not defined in src/loop.cpp.")

    def test_a_step_that_nothing_before_it_calls_is_named(self):
        for body in (
            "return 0;",
            "return 0;  // r.take() comes later",
            "/* r.take() */ return 0;",
            'return say("take()");',
            "return r.take;",
            "return r.take_all() + r.retake();",
        ):
            with self.subTest(body=body):
                self.write("src/open.cpp", "int open(room& r) {\n    " + body + "\n}\n")
                self.expect_problem("docs/architecture.md:4: no function that is open before "
                                    "room::take in 'task' calls take.")

    def test_a_step_that_only_another_function_of_the_file_calls_is_named(self):
        self.write("src/open.cpp", "int open(room&) {\n    return 0;\n}\n"
                                   "int other(room& r) {\n    return r.take();\n}\n")
        self.expect_problem("no function that is open before room::take in 'task' calls take.")

    def test_a_step_that_only_a_function_calls_that_was_left_before_is_named(self):
        self.write("src/a.cpp", "void a() { b(); c(); }\nvoid b() { d(); }\n"
                                "void c() {}\nvoid d() {}\n")
        self.steps("a src/a.cpp", "b src/a.cpp", "d src/a.cpp", "c src/a.cpp")
        self.expect_clean()
        self.steps("a src/a.cpp", "b src/a.cpp", "c src/a.cpp", "d src/a.cpp")
        self.expect_problem("no function that is open before d in 'task' calls d.")

    def test_two_steps_that_have_changed_places_are_named(self):
        self.write("src/a.cpp", "void a() { b(); c(); }\nvoid b() {}\nvoid c() {}\n")
        self.steps("a src/a.cpp", "b src/a.cpp", "c src/a.cpp")
        self.expect_clean()
        self.steps("a src/a.cpp", "c src/a.cpp", "b src/a.cpp")
        self.expect_problem("docs/architecture.md:4: a calls b before what stands above it in 'task'.")

    def test_arguments_are_called_before_the_call_and_lambdas_in_it(self):
        self.write("src/a.cpp", "void a() { b(c()); }\nvoid b() {}\nint c() { return 1; }\n")
        for second, third in (("b", "c"), ("c", "b")):
            self.steps("a src/a.cpp", f"{second} src/a.cpp", f"{third} src/a.cpp")
            self.expect_clean()

    def test_a_call_by_another_name_is_found_where_a_step_says_which_function_it_is(self):
        self.write("src/a.cpp", "void a() { b(&c); }\nvoid b(void (*f)()) { f(); }\nvoid c() {}\n")
        self.steps("a src/a.cpp", "b src/a.cpp", "c src/a.cpp by f, a remark")
        self.expect_clean()
        self.steps("a src/a.cpp", "b src/a.cpp", "c src/a.cpp by g")
        self.expect_problem("no function that is open before c in 'task' calls g.")
        self.write("src/a.cpp", "void a() { b(&d); }\nvoid b(void (*f)()) { f(); }\nvoid c() {}\n")
        self.steps("a src/a.cpp", "b src/a.cpp", "c src/a.cpp by f")
        self.expect_problem("no step before c in 'task' says that f is c.")

    def test_the_story_goes_on_within_a_step_that_a_line_names(self):
        self.write("src/a.cpp", "void a() { b(); c(); }\nvoid b() {}\nvoid c() {}\nvoid d() {}\n")
        self.steps("a src/a.cpp", "c src/a.cpp", "// once more, in a()", "b src/a.cpp", "c src/a.cpp")
        self.expect_clean()
        self.steps("a src/a.cpp", "c src/a.cpp", "// once more, in a()", "d src/a.cpp")
        self.expect_problem("no function that is open before d in 'task' calls d.")

    def test_a_constructor_and_a_method_of_typescript_are_functions(self):
        self.write("src/a.hpp", "class room {\n    explicit room(int n) : n_(grow(n)) {}\n    int n_;\n};\n")
        self.write("src/a.cpp", "void a() { room own(1); }\nint grow(int n) { return n; }\n")
        self.steps("a src/a.cpp", "room::room src/a.hpp", "grow src/a.cpp")
        self.expect_clean()
        self.write("src/a.ts", "export class Page {\n    show(): void {\n        this.draw();\n    }\n"
                               "    private draw(): void {}\n}\n")
        self.steps("Page.show src/a.ts", "Page.draw src/a.ts")
        self.expect_clean()

    def test_a_header_and_its_source_are_one_file_and_those_for_the_model_checker_none(self):
        steps = ["a src/a.cpp", "b src/a.hpp", "c src/words.hpp", "d src/b.cpp", "e src/a.cpp"]
        self.assertEqual(checker.way_of(list(enumerate(steps))), (2, 3, 1))

    def test_a_tour_that_has_grown_is_named(self):
        files, returns = checker.CEILINGS["task"]
        steps = files + returns
        self.write("src/a.cpp", "void a() {" + "".join(f" f{n}();" for n in range(steps)) + " }\n")
        defined = "".join(f"void f{n}() {{}}\n" for n in range(steps))
        for n in range(files):
            self.write(f"src/f{n}.cpp", defined)
        # Each file once, then the first two in turns.
        there = [n if n < files - 1 else n % 2 for n in range(steps)]
        lines = [f"f{n} src/f{there[n]}.cpp" for n in range(files - 1 + returns)]
        self.steps("a src/a.cpp", *lines)
        self.expect_clean()
        n = files - 1 + returns
        self.steps("a src/a.cpp", *lines, f"f{n} src/f{n % 2}.cpp")
        self.expect_problem(f"'task' has {returns + 1} returns, at most {returns}: see CEILINGS.")
        self.steps("a src/a.cpp", *(f"f{n} src/f{n}.cpp" for n in range(files)))
        self.expect_problem(f"'task' has {files + 1} files, at most {files}: see CEILINGS.")

    def test_each_tour_of_the_page_has_a_ceiling(self):
        page = (ROOT / checker.PAGE).read_text(encoding="utf-8")
        self.assertEqual(sorted(checker.tours_of(page)), sorted(checker.CEILINGS))

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
