"""Plans for pairs of layouts: each file of a folder is compiled twice, without and with AFTER, and
`braid reload plan` says what its comments expect. So does a program that loads the pair as a module, lets
it make its state, and reloads it.

    // expect: TEXT    stands in a line of the output (spaces count as one)
    // refused: TEXT   the same, and the exit code is 1; without any it is 0
    // never: TEXT     stands nowhere in the output
    // type: NAME      which type; `state` when nothing is said, "-": those that arenas hold
    // flags: FLAGS    for both; before: and after: for one of them. Then only with these
    // unreadable: TEXT  the exit code is 2, and that stands in the sentence
    // in program: TEXT  that stands in what the program says, instead of what the plan says
    // in program: -   there is no program: its state cannot be made. Nor is there one for what is
                       unreadable or has another type

    pairs_test.py BRAID PROGRAM MODULE PAIRS INCLUDE FOLDER COMPILER...   builds in FOLDER

PROGRAM is reload_pair, and MODULE the source around a pair that it loads.

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

BRAID, PROGRAM = map(os.path.abspath, sys.argv[1:3])
MODULE, FOLDER, INCLUDE = (pathlib.Path(path).resolve() for path in sys.argv[3:6])
SCRATCH, COMPILERS = sys.argv[6], sys.argv[7:]
ALL = "BRAID_STRESS_SCALE" in os.environ
ONLY = os.environ.get("BRAID_PAIR", "")  # one file by its name
ROWS = ("-O0", "-O1", "-O2", "-O3", "-O2 -flto", "-O1 -gdwarf-4", "-O0 -gz", "-O1 -gsplit-dwarf",
        "-O0 -fdebug-types-section", "-O2 -gdwarf-5", "-O1 -gdwarf-4 -fdebug-types-section",
        "-O2 -ffunction-sections -fdata-sections")
COMMON = ["-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", "-I", str(INCLUDE)]


# What the plan says of the whole, and the program of the same.
IN_PROGRAM = {"The state can go over.": "was reloaded: ",
              "No type of the state changes: it stays where it is.": "was reloaded: ",
              "stays where it is": "was reloaded: "}


def is_clang(compiler):
    return "clang" in pathlib.Path(compiler).name


def notes(text):
    found = {}
    for key, value in re.findall(r"^// (\w+|in program): (.*)$", text, re.M):
        found.setdefault(key, []).append(" ".join(value.split()))
    return found


def has_program(found):
    return (found.get("in program") != ["-"] and found.get("type", ["state"]) == ["state"]
            and "unreadable" not in found)


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


def judge(found, done, in_program):
    said = done.stdout + done.stderr
    lines = [" ".join(line.split()) for line in said.splitlines()]
    code = 2 if "unreadable" in found else 1 if "refused" in found else 0
    wrong = [] if done.returncode == code else [f"exit code {done.returncode}, not {code}"]
    keys = ("expect", "refused", "unreadable")
    if in_program and "in program" in found:
        keys = ("in program",)
    for text in (text for key in keys for text in found.get(key, ())):
        text = IN_PROGRAM.get(text, text) if in_program else text
        if not any(text in line for line in lines):
            wrong.append(f"no line has '{text}'")
    wrong += [f"a line has '{text}'" for text in found.get("never", ())
              if any(text in line for line in lines)]
    return "\n".join([*wrong, said]) if wrong else ""


def run(source, compiler, row, scratch):
    found = notes(source.read_text())
    flags = shlex.split(" ".join(found.get("flags", [row])))
    folder = scratch / f"{source.stem}-{pathlib.Path(compiler).name}"
    folder.mkdir()
    files = [folder / "before.so", folder / "after.so"]
    compiled, pair = (MODULE, [f'-DPAIR="{source}"']) if has_program(found) else (source, [])
    for file, key, defines in ((files[0], "before", []), (files[1], "after", ["-DAFTER"])):
        own = flags + shlex.split(" ".join(found.get(key, [])))
        failed = build(compiler, compiled, own, pair + defines, file)
        if failed:
            return f"{source.name}: it cannot be compiled: {failed}"
        for lost in found.get("remove", []):
            for path in folder.glob(lost):
                path.unlink()
    commands = [[BRAID, "reload", "plan", *map(str, files),
                 *(name for name in found.get("type", ["state"]) if name != "-")]]
    if has_program(found):
        commands.append([PROGRAM, *map(str, files), str(folder)])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S,
                              check=False)
        wrong = judge(found, done, command[0] == PROGRAM)
        if wrong:
            return f"{source.name}, {compiler} {shlex.join(flags)}:\n{shlex.join(command)}\n{wrong}"
    return ""


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
        if not fit:
            print(f"{source.name} is left out: it is for {wanted}, which is not on this machine")
            continue
        for shift, compiler in fit if ALL else fit[at % len(fit):][:1]:
            jobs.append((source, compiler, ROWS[(at + 5 * shift) % len(ROWS)]))
    if not jobs:
        sys.exit(f"no pair in {FOLDER} is for the compilers that were given")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: run(*job, scratch), jobs)
        failed = [result for result in results if result]
    for one in failed:
        print(one)
    if failed:
        sys.exit(f"{len(failed)} of {len(jobs)} pairs went wrong")
    print(f"{len(jobs)} plans of {len(sources)} pairs")


main()
