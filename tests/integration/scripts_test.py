"""What the scripts at top level say to wrong arguments and to strange machines."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **environment):
    return subprocess.run(
        [str(ROOT / command[0]), *command[1:]],
        capture_output=True,
        text=True,
        timeout=HANG_LIMIT_S,
        check=False,
        cwd="/",
        env={**os.environ, "BRAID_SKIP_SETUP": "", **environment},
    )


class scripts(unittest.TestCase):
    def expect_refusal(self, result, word):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(word, result.stderr)

    def test_wrong_arguments_get_one_sentence(self):
        self.expect_refusal(run("test.sh", "--quik"), "--quik")
        self.expect_refusal(run("test.sh", "--filter"), "regular expression")
        self.expect_refusal(run("scripts/setup.sh", "tests"), "no group 'tests'")
        self.expect_refusal(run("scripts/nightly.sh", "--scale", "0"), "whole number")
        self.expect_refusal(run("scripts/nightly.sh", "--part", "timming"), "no part 'timming'")
        self.expect_refusal(run("scripts/nightly.sh", "timing"), "unknown argument")
        self.expect_refusal(run("scripts/fuzz.sh", "soon"), "whole number")
        self.expect_refusal(run("scripts/check_format.sh", "--all"), "--all")
        self.expect_refusal(run("scripts/mutate.sh", "1", "none"), "whole number")
        self.expect_refusal(run(".ci/run", "asam"), "no step 'asam'")
        self.expect_refusal(run("scripts/land.sh", "now"), "no arguments")

    def test_a_compiler_that_is_too_old_is_named_with_the_least_version(self):
        def check(name, version):
            script = ["-P", str(ROOT / "cmake" / "braid_compiler.cmake")]
            compiler = [f"-DCMAKE_CXX_COMPILER_{k}={v}" for k, v in (("ID", name), ("VERSION", version))]
            return subprocess.run(
                ["cmake", *compiler, *script], capture_output=True, text=True, timeout=HANG_LIMIT_S,
                check=False
            )

        for name, old, least, called in (
            ("Clang", "15.0.6", "16.0.0", "clang++ 16 or newer"),
            ("Clang", "14.0.6", "19.1.7", "clang++ 16 or newer"),
            ("GNU", "10.4.0", "11.1.0", "g++ 11 or newer"),
        ):
            refused = check(name, old)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(called, " ".join(refused.stderr.split()))
            self.assertIn(old, refused.stderr)
            self.assertEqual(check(name, least).returncode, 0)
        self.assertEqual(check("AnotherOne", "1.0").returncode, 0)

    def test_a_machine_without_vulkan_fails_the_preset_of_the_tests_and_nobody_else(self):
        def configure(**options):
            script = ["-P", str(ROOT / "cmake" / "braid_vulkan.cmake")]
            nothing = {"CMAKE_FIND_ROOT_PATH": "/nowhere", "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY"}
            given = [f"-D{k}={v}" for k, v in {**nothing, "BRAID_BUILD_TESTS": "ON", **options}.items()]
            return subprocess.run(
                ["cmake", *given, *script], capture_output=True, text=True, timeout=HANG_LIMIT_S,
                check=False
            )

        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        chosen = {p["name"]: p.get("cacheVariables", {}).get("BRAID_WITH_VULKAN") for p in presets}
        self.assertEqual(chosen["ci"], "ON")
        self.assertEqual({n for n, value in chosen.items() if value == "ON"}, {"ci"})
        refused = configure(BRAID_WITH_VULKAN=chosen["ci"])
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("headers or volk were not found: run scripts/setup.sh vulkan",
                      " ".join(refused.stderr.split()))
        self.assertEqual(configure(BRAID_WITH_VULKAN="AUTO").returncode, 0)
        # Scripts that build it install what it needs.
        for script in ("test.sh", "scripts/nightly.sh"):
            self.assertRegex((ROOT / script).read_text(), r"scripts/setup\.sh [a-z ]*\bvulkan\b", script)

    def test_help_lists_what_there_is(self):
        result = run("test.sh", "--help")
        self.assertEqual(result.returncode, 0)
        for option in ("--quick", "--filter", "-- ARGUMENTS"):
            self.assertIn(option, result.stdout)

    def test_setup_is_silent_and_quick_when_all_is_there(self):
        result = run("scripts/setup.sh", "build", "test")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_every_package_has_a_known_group_and_a_reason(self):
        for line in (ROOT / "scripts/packages.txt").read_text().splitlines():
            if not line.startswith("#"):
                group, package, *why = line.split()
                self.assertIn(group, ("build", "test", "demo", "bench", "clang", "lint", "arm64", "windows",
                                  "viewer", "vulkan", "nightly"))
                self.assertRegex(package, r"^([a-z]+:)?[a-z0-9.+-]+$")
                self.assertTrue(why, package)

    def machine(self, *tools):
        """A PATH with the given tools only."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in {"env": None, "bash": None, "dirname": None, "grep": None, "awk": None,
                           "sort": None, "xargs": None, "comm": None, "echo": None,
                           **dict(tools)}.items():  # fmt: skip
            path = Path(folder.name) / name
            if text is None:
                path.symlink_to(subprocess.check_output(["which", name], text=True).strip())
            else:
                path.write_text(f"#!/bin/sh\n{text}\n")
                path.chmod(0o755)
        return folder.name

    def test_a_machine_without_apt_is_told_what_to_do(self):
        result = run("scripts/setup.sh", PATH=self.machine())
        self.expect_refusal(result, "no Debian-like machine")

    def test_a_user_without_sudo_is_told_the_command(self):
        tools = (("dpkg-query", "exit 1"), ("apt-get", "exit 1"), ("id", "echo 1000"))
        result = run("scripts/setup.sh", "bench", PATH=self.machine(*tools))
        self.expect_refusal(result, "apt-get install --no-install-recommends")
        self.assertIn("libbenchmark-dev", result.stderr)

    def test_setup_can_be_skipped(self):
        result = run("scripts/setup.sh", PATH=self.machine(), BRAID_SKIP_SETUP="1")
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
