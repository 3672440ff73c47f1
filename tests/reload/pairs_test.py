"""Plans for pairs of layouts: each file of a folder is compiled twice, without and with AFTER, and
`braid reload plan` says what its comments expect.

    // expect: TEXT    stands in a line of the output (spaces count as one)
    // refused: TEXT   the same, and the exit code is 1; without any it is 0
    // never: TEXT     stands nowhere in the output
    // type: NAME      which type; `state` when nothing is said, "-": those that arenas hold
    // flags: FLAGS    for both; before: and after: for one of them. Then only with these
    // unreadable: TEXT  the exit code is 2, and that stands in the sentence

    pairs_test.py BRAID PAIRS INCLUDE FOLDER COMPILER...   builds in FOLDER

Without flags of its own a pair is built with one row of a table of flags, so that each row meets several
pairs; and by one of the compilers in turn, or by each of them if BRAID_STRESS_SCALE is set."""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from compiler_folder import compiler_folder, launched
from hang_limit import HANG_LIMIT_S

BRAID, FOLDER, INCLUDE = (os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(),
                          os.path.abspath(sys.argv[3]))
SCRATCH, COMPILERS = sys.argv[4], sys.argv[5:]
ALL = "BRAID_STRESS_SCALE" in os.environ
ONLY = os.environ.get("BRAID_PAIR", "")  # one file by its name
ROWS = ("-O0", "-O1", "-O2", "-O3", "-O2 -flto", "-O1 -gdwarf-4", "-O0 -gz", "-O1 -gsplit-dwarf",
        "-O0 -fdebug-types-section", "-O2 -gdwarf-5", "-O1 -gdwarf-4 -fdebug-types-section",
        "-O2 -ffunction-sections -fdata-sections")
COMMON = ["-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", "-I", INCLUDE]


def is_clang(compiler):
    return "clang" in pathlib.Path(compiler).name


def notes(text):
    found = {}
    for key, value in re.findall(r"^// (\w+): (.*)$", text, re.M):
        found.setdefault(key, []).append(" ".join(value.split()))
    return found


def build(compiler, source, flags, defines, output):
    own = ["-fstandalone-debug"] if is_clang(compiler) else ["-femit-class-debug-always",
                                                             "-fno-gnu-unique"]
    # Split parts lie beside their object, so there is one; LTO has its code there only.
    objects = [str(output.with_suffix(".o"))]
    link = ["-fuse-ld=lld"] if is_clang(compiler) and "-flto" in flags else []
    for command in ([*launched(compiler), *COMMON, "-g", *own, *flags, *defines, "-c", str(source), "-o",
                     objects[0]],
                    [compiler, *COMMON, "-g", *flags, *link, "-Wl,--build-id=sha1",
                     "-Wl,-Bsymbolic", *objects, "-o", str(output)]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S,
                              check=False, cwd=output.parent)
        if done.returncode != 0:
            return f"{shlex.join(command)}\n{done.stderr}"
    return ""


def judge(found, done):
    said = done.stdout + done.stderr
    lines = [" ".join(line.split()) for line in said.splitlines()]
    code = 2 if "unreadable" in found else 1 if "refused" in found else 0
    wrong = [] if done.returncode == code else [f"exit code {done.returncode}, not {code}"]
    for key in ("expect", "refused", "unreadable"):
        wrong += [f"no line has '{text}'" for text in found.get(key, ())
                  if not any(text in line for line in lines)]
    wrong += [f"a line has '{text}'" for text in found.get("never", ())
              if any(text in line for line in lines)]
    return "\n".join([*wrong, said]) if wrong else ""


def run(source, compiler, row, scratch):
    found = notes(source.read_text())
    flags = shlex.split(" ".join(found.get("flags", [row])))
    folder = scratch / f"{source.stem}-{pathlib.Path(compiler).name}"
    folder.mkdir()
    files = [folder / "before.so", folder / "after.so"]
    for file, key, defines in ((files[0], "before", []), (files[1], "after", ["-DAFTER"])):
        own = flags + shlex.split(" ".join(found.get(key, [])))
        failed = build(compiler, source, own, defines, file)
        if failed:
            return f"{source.name}: it cannot be compiled: {failed}"
        for lost in found.get("remove", []):
            for path in folder.glob(lost):
                path.unlink()
    done = subprocess.run([BRAID, "reload", "plan", *map(str, files),
                           *(name for name in found.get("type", ["state"]) if name != "-")],
                          capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False)
    wrong = judge(found, done)
    return f"{source.name}, {compiler} {shlex.join(flags)}:\n{wrong}" if wrong else ""


def main():
    sources = [path for path in sorted(FOLDER.glob("*.cpp")) if ONLY in path.name]
    if not sources:
        sys.exit(f"no pairs in {FOLDER}")
    scratch = compiler_folder(SCRATCH)
    jobs = []
    for at, source in enumerate(sources):
        wanted = notes(source.read_text()).get("compiler", [""])[0]
        fit = [(shift, compiler) for shift, compiler in enumerate(COMPILERS)
               if is_clang(compiler) == (wanted == "clang") or not wanted]
        for shift, compiler in fit if ALL else fit[at % len(fit):][:1]:
            jobs.append((source, compiler, ROWS[(at + 5 * shift) % len(ROWS)]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: run(*job, scratch), jobs)
        failed = [result for result in results if result]
    for one in failed:
        print(one)
    if failed:
        sys.exit(f"{len(failed)} of {len(jobs)} pairs went wrong")
    print(f"{len(jobs)} plans of {len(sources)} pairs")


main()
