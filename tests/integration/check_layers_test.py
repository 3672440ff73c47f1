"""Plants one violation at a time in a small tree and reads what check_layers.py says about it."""

import unittest

from planted_tree import planted_tree

PAGE = """# Architecture
```layers
frame  profile/{chrome,stream}
graph  async  profile
core   (task, scheduler)
base
```
```doors
core   src/core/extension.hpp
```
```foreign
hwloc.h   src/base
vulkan/   src/async
```
"""

CLEAN = {
    "include/braid/braid.hpp": '#include "braid/core/task.hpp"\n',
    "include/braid/base/assert.hpp": "#include <cstdint>\n#include <stdint.h>\n",
    "include/braid/core/task.hpp": '#include "braid/base/assert.hpp"\n',
    "include/braid/graph/graph.hpp": "#include <braid/core/task.hpp>\n",
    "include/braid/async/event.hpp": "#include <braid/core/task.hpp>\n",
    "include/braid/profile/recorder.hpp": "#include <braid/core/task.hpp>\n",
    "include/braid/profile/chrome/json.hpp": "#include <braid/profile/recorder.hpp>\n",
    "include/braid/frame/frame.hpp": "#include <braid/graph/graph.hpp>\n",
    "src/base/platform/linux/thread.cpp": "#include <pthread.h>\n#include <sys/mman.h>\n",
    "src/base/topology.cpp": "#include <hwloc.h>\n",
    "src/core/task.cpp": '#include "task_pool.hpp"\n#include "braid/core/task.hpp"\n',
    "src/core/extension.hpp": '#include "core/task_pool.hpp"\n',
    "src/graph/graph.cpp": '#include "core/extension.hpp"\n#include "braid/core/task.hpp"\n',
    "src/core/task_pool.hpp": "// #include <unistd.h>\n/*\n#include <frame/frame.hpp>\n*/\n",
}


class check_layers(planted_tree):
    script = "scripts/check_layers.py"

    def setUp(self):
        super().setUp()
        self.write("docs/architecture.md", PAGE)
        for path, text in CLEAN.items():
            self.write(path, text)

    def expect_problem(self, where, *words):
        result = self.run_script()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 2, result.stdout)
        self.assertTrue(lines[0].startswith(where + ": "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])

    def test_a_clean_tree_passes(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"{len(CLEAN)} files", result.stdout)

    def test_an_include_that_climbs_is_named_with_file_and_line(self):
        self.write("src/core/climb.cpp", "#include <vector>\n\n#include <braid/graph/graph.hpp>\n")
        self.expect_problem("src/core/climb.cpp:3", "core includes graph", "above")

    def test_an_include_that_climbs_over_a_relative_path_is_found(self):
        self.write("src/base/climb.cpp", '#include "../core/task_pool.hpp"\n')
        self.expect_problem("src/base/climb.cpp:1", "base includes core")

    def test_modules_of_one_row_do_not_include_each_other(self):
        self.write("src/graph/side.cpp", "#include <braid/async/event.hpp>\n")
        self.expect_problem("src/graph/side.cpp:1", "graph and async", "one row")

    def test_a_sub_module_is_above_its_parent(self):
        self.write("src/profile/up.cpp", "#include <braid/profile/chrome/json.hpp>\n")
        self.expect_problem("src/profile/up.cpp:1", "profile includes profile/chrome")

    def test_a_private_header_of_a_module_with_a_door_is_refused(self):
        for includer in ("graph", "async", "profile", "frame"):
            for header in ("core/task_pool.hpp", "../core/task_pool.hpp"):
                with self.subTest(includer=includer, header=header):
                    where = f"src/{includer}/past.cpp"
                    self.write(where, f'\n#include "{header}"\n')
                    self.expect_problem(
                        where + ":2", "task_pool.hpp' is private to core", "src/core/extension.hpp"
                    )
                    self.write(where, "")

    def test_a_private_header_of_a_module_without_a_door_is_free(self):
        self.write("src/base/parker.hpp", "")
        self.write("src/graph/parker.cpp", '#include "base/parker.hpp"\n')
        self.assertEqual(self.run_script().returncode, 0)

    def test_a_room_of_the_module_goes_past_its_door(self):
        self.write("docs/architecture.md", PAGE.replace("core   (", "core/room\ncore   ("))
        self.write("src/core/room/pool.cpp", '#include "core/task_pool.hpp"\n')
        self.assertEqual(self.run_script().returncode, 0, self.run_script().stdout)
        self.write("src/core/room/deep.hpp", "")
        self.write("src/graph/past.cpp", '#include "core/room/deep.hpp"\n')
        self.expect_problem("src/graph/past.cpp:1", "is private to core")

    def test_a_room_includes_no_higher_one_and_public_headers_none_at_all(self):
        self.write("docs/architecture.md", PAGE.replace("\nbase\n", "\ncore/high\ncore/low\nbase\n"))
        self.write("src/core/low/words.hpp", '#include "braid/core/task.hpp"\n')
        self.write("src/core/high/queue.hpp", '#include "core/low/words.hpp"\n')
        self.assertEqual(self.run_script().returncode, 0, self.run_script().stdout)
        self.write("src/core/low/climbs.hpp", '#include "core/high/queue.hpp"\n')
        self.expect_problem("src/core/low/climbs.hpp:1", "core/low includes core/high", "above")
        self.write("src/core/low/climbs.hpp", '#include "core/task_pool.hpp"\n')
        self.expect_problem("src/core/low/climbs.hpp:1", "core/low includes core,", "above")
        self.write("src/core/low/climbs.hpp", "")
        self.write("include/braid/core/deep.hpp", '#include "core/low/words.hpp"\n')
        self.expect_problem("include/braid/core/deep.hpp:1", "core (public) includes", "above")

    def test_a_line_that_names_no_door_is_an_error_of_its_own(self):
        self.write("docs/architecture.md", PAGE.replace("src/core/extension.hpp", ""))
        result = self.run_script()
        self.assertEqual(result.returncode, 2)
        self.assertIn("```doors", result.stderr)

    def test_a_posix_header_outside_the_platform_folder_is_refused(self):
        for header in ("unistd.h", "pthread.h", "sys/mman.h", "linux/futex.h", "windows.h", "poll.h"):
            with self.subTest(header=header):
                self.write("src/core/posix.cpp", f"#include <{header}>\n")
                self.expect_problem("src/core/posix.cpp:1", f"<{header}>", "base/platform")

    def test_a_foreign_header_stays_in_its_folder(self):
        self.write("src/core/topology.cpp", "#include <hwloc.h>\n")
        self.expect_problem("src/core/topology.cpp:1", "<hwloc.h>", "src/base only")

    def test_a_foreign_folder_of_headers_stays_in_its_folder(self):
        self.write("src/async/device.cpp", "#include <vulkan/vulkan.h>\n")
        self.assertEqual(self.run_script().returncode, 0)
        self.write("src/graph/device.cpp", "#include <vulkan/vulkan.h>\n")
        self.expect_problem("src/graph/device.cpp:1", "src/async only")

    def test_the_umbrella_header_is_for_users(self):
        self.write("src/core/all.cpp", "#include <braid/braid.hpp>\n")
        self.expect_problem("src/core/all.cpp:1", "includes all of Braid")

    def test_a_folder_without_a_row_is_refused(self):
        self.write("src/extra/thing.cpp", "")
        self.expect_problem("src/extra/thing.cpp:1", "no row")

    def test_an_include_of_a_missing_file_is_refused(self):
        self.write("src/core/lost.cpp", '#include "braid/core/lost.hpp"\n')
        self.expect_problem("src/core/lost.cpp:1", "no file")

    def test_an_include_after_an_open_comment_in_a_string_is_seen(self):
        self.write("src/core/text.cpp", 'auto a = "/*";\n#include <unistd.h>\nauto b = "*/";\n')
        self.expect_problem("src/core/text.cpp:2", "<unistd.h>")

    def test_a_page_without_layers_is_an_error_of_its_own(self):
        self.write("docs/architecture.md", "# Architecture\n")
        result = self.run_script()
        self.assertEqual(result.returncode, 2)
        self.assertIn("```layers", result.stderr)


if __name__ == "__main__":
    unittest.main()
