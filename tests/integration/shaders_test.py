"""Every shader of the repository, as the build compiles it, is valid for the Vulkan that it is compiled for; and
every one is compiled."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("bench", "demo", "samples", "tests")
FUNCTION = (ROOT / "cmake" / "braid_vulkan_functions.cmake").read_text()
FLAGS = re.search(r"\$\{BRAID_GLSLC\} (--target-env=(\S+) -O) ", FUNCTION)


def shaders():
    return sorted(s for folder in FOLDERS for s in (ROOT / folder).rglob("*.comp"))


def compiled(source, *flags):
    """Its words, in order of bytes of a file."""
    with tempfile.NamedTemporaryFile(suffix=".spv") as made:
        subprocess.run(["glslc", *flags, "-o", made.name, str(source)], check=True, timeout=HANG_LIMIT_S)
        return Path(made.name).read_bytes()


def what_is_wrong(words):
    with tempfile.NamedTemporaryFile(suffix=".spv") as file:
        file.write(words)
        file.flush()
        done = subprocess.run(["spirv-val", "--target-env", FLAGS[2], file.name],
                              capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False)
        return done.stdout + done.stderr if done.returncode != 0 else ""


class all_shaders(unittest.TestCase):
    def test_are_valid(self):
        self.assertGreaterEqual(len(shaders()), 10)
        for shader in shaders():
            with self.subTest(shader=str(shader.relative_to(ROOT))):
                self.assertEqual(what_is_wrong(compiled(shader, *FLAGS[1].split())), "")

    def test_are_compiled_by_the_build(self):
        named = set()
        for lists in (s for folder in FOLDERS for s in (ROOT / folder).rglob("CMakeLists.txt")):
            for call in re.findall(r"braid_spirv\(\S+\s+([^)]*)\)", lists.read_text()):
                named.update((lists.parent / name).resolve() for name in call.split())
        self.assertEqual(named, set(shaders()))

    def test_would_be_refused_for_another_vulkan_and_with_a_word_missing(self):
        first = shaders()[0]
        self.assertNotEqual(what_is_wrong(compiled(first, "--target-env=vulkan1.3", "-O")), "")
        self.assertNotEqual(what_is_wrong(compiled(first, *FLAGS[1].split())[:-4]), "")


if __name__ == "__main__":
    unittest.main()
