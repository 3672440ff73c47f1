"""Plants one violation at a time in a small tree and reads what check_parts.py says about it."""

import unittest

from planted_tree import planted_tree

PAGE = """# Architecture
```parts
report   reporter
tasks    task_table   report
threads  roster       report tasks
```
"""

CLEAN = {
    "src/core/report/reporter.hpp": '#include "braid/core/observer.hpp"\nstruct report_part {};\n',
    "src/core/tasks/table.hpp": (
        '#include "core/report/reporter.hpp"\n'
        "// The runtime has one, and each whole_seat a piece of it.\n"
        'inline const char* text = "a runtime, a run_room";\n'
        "struct tasks_part { report_part report; };\n"
    ),
    "src/core/threads/roster.cpp": '#include "core/tasks/table.hpp"\nint of(tasks_part&);\n',
    "src/core/run/run.cpp": '#include "core/tasks/table.hpp"\nclass runtime; struct run_seat;\n',
}


class check_parts(planted_tree):
    script = "scripts/check_parts.py"

    def setUp(self):
        super().setUp()
        self.write("docs/architecture.md", PAGE)
        for path, text in CLEAN.items():
            self.write(path, text)

    def check(self):
        result = self.run_script()
        return result.returncode, result.stdout + result.stderr

    def expect_problem(self, *words):
        code, output = self.check()
        self.assertEqual(code, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        for word in words:
            self.assertIn(word, output)

    def test_a_clean_tree_passes_and_the_parts_are_named(self):
        code, output = self.check()
        self.assertEqual(code, 0, output)
        self.assertIn("report, tasks, threads", output)

    def test_a_part_may_not_include_one_that_its_row_does_not_name(self):
        self.write("src/core/report/reporter.cpp", '\n#include "core/tasks/table.hpp"\n')
        self.expect_problem("src/core/report/reporter.cpp:2", "core/tasks/table.hpp")

    def test_a_part_may_not_include_what_lies_in_no_part(self):
        self.write("src/core/tasks/table.cpp", '#include "core/runtime.hpp"\n')
        self.expect_problem("src/core/tasks/table.cpp:1", "core/runtime.hpp")

    def test_a_part_may_not_include_verbs(self):
        self.write("src/core/threads/more.hpp", '#include "core/run/run.hpp"\n')
        self.expect_problem("src/core/threads/more.hpp:1", "core/run/run.hpp")

    def test_a_part_may_not_name_the_whole(self):
        for name in ("runtime", "whole_seat", "run_room", "task_seat"):
            self.write("src/core/tasks/more.cpp", f"// {name}\nstruct {name};\n")
            self.expect_problem("src/core/tasks/more.cpp:2", f"'{name}'")

    def test_a_pointer_upward_is_named_by_the_page_for_its_file_alone(self):
        self.write("docs/architecture.md", PAGE + "```upward\nsrc/core/tasks/kind.hpp  runtime\n```\n")
        self.write("src/core/tasks/kind.hpp", "class runtime;\nint (*invoke)(runtime& rt);\n")
        code, output = self.check()
        self.assertEqual(code, 0, output)
        self.write("src/core/tasks/more.hpp", "class runtime;\n")
        self.expect_problem("src/core/tasks/more.hpp:1", "'runtime'")

    def test_a_pointer_upward_that_is_gone_is_a_row_that_is_out_of_date(self):
        self.write("docs/architecture.md", PAGE + "```upward\nsrc/core/tasks/table.hpp  runtime\n```\n")
        self.expect_problem("src/core/tasks/table.hpp", "'runtime', which is not there")

    def test_the_tag_of_memory_is_not_the_whole(self):
        self.write("src/core/tasks/more.cpp", "auto tag = memory_tag::runtime;\n")
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_a_part_may_not_use_the_piece_of_a_seat_that_is_anothers(self):
        self.write("src/core/report/reporter.cpp", "int of(tasks_part&);\n")
        self.expect_problem("src/core/report/reporter.cpp:1", "'tasks_part'")

    def test_a_part_without_files_is_a_row_that_is_out_of_date(self):
        self.write("docs/architecture.md", PAGE.replace("threads  roster", "timers  service\nthreads  roster"))
        self.expect_problem("src/core/timers", "no files")

    def test_a_row_that_uses_what_is_no_part_is_refused(self):
        self.write("docs/architecture.md", PAGE.replace("report tasks", "report slots"))
        code, output = self.check()
        self.assertEqual(code, 2, output)
        self.assertIn("'slots', which is no part", output)

    def test_a_page_without_the_block_or_with_half_a_row_is_refused(self):
        self.write("docs/architecture.md", "# Architecture\n")
        self.assertEqual(self.check()[0], 2)
        self.write("docs/architecture.md", PAGE.replace("report   reporter", "report"))
        code, output = self.check()
        self.assertEqual(code, 2, output)
        self.assertIn("'report'", output)


if __name__ == "__main__":
    unittest.main()
