"""A model that is missing, broken or kills its importer: one sentence, exit code 2."""
import os
import pathlib
import shutil
import sys
import tempfile

from arena_runs import check, run

MODELS = pathlib.Path(sys.argv[2])
FILES = ("X/Testwuson.X", "X/BCN_Epileptic.X", "BVH/01_01.bvh", "BVH/Boxing_Toes.bvh")


def expect_refusal(what, word, *arguments):
    done = run("--frames", "1", "--characters", "1", *arguments)
    lines = done.stderr.strip().splitlines()
    check(done.returncode == 2, f"{what}: exit {done.returncode}, not 2\n{done.stderr}")
    check(len(lines) == 1 and lines[0].endswith("."), f"{what}: not one sentence: {lines}")
    check(word in lines[0], f"{what}: '{word}' is not in: {lines[0]}")


def spoil(file, content):
    """A folder of models in which `file` holds `content` (None: is missing)."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="arena-models-"))
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(MODELS / name, folder / name)
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    return folder


expect_refusal("no folder", "/nonexistent", "--models", "/nonexistent")
for file in FILES:
    whole = (MODELS / file).read_bytes()
    for what, content in (("missing", None), ("empty", b""), ("garbage", os.urandom(4096)),
                          ("truncated", whole[: len(whole) // 3])):
        folder = spoil(file, content)
        expect_refusal(f"{file} {what}", pathlib.Path(file).name, "--models", str(folder))
        shutil.rmtree(folder)

for fault, word in (("crash", "crashed"), ("hang", "too long"), ("silent", "too long"),
                    ("memory", "memory"), ("garbage", "broken"), ("cut", "broken")):
    # Two seconds only for what never ends: on a busy machine the others may take longer.
    seconds = "2" if word == "too long" else "300"
    expect_refusal(f"importer with fault {fault}", word, "--import-fault", fault,
                   "--import-seconds", seconds)
