"""Random pairs of layouts: values and pointers of each field are written with the old types, go
over, and are looked at with the new ones.

    random_pairs.py RUNNER INCLUDE FOLDER SEED COUNT COMPILER...   builds in FOLDER

A pair that goes wrong is made smaller as long as it still does, and written to the folder that
BRAID_KEEP_PAIRS names (for example `kept` beside this file, whose pairs run each time)."""
import concurrent.futures
import copy
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys

from pair_source import ADDED, holds_tables, is_made, is_polymorphic, line, program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from compiler_folder import compiler_folder, launched
from hang_limit import HANG_LIMIT_S

HERE = pathlib.Path(__file__).resolve().parent
RUNNER, INCLUDE, SCRATCH = (os.path.abspath(path) for path in sys.argv[1:4])
SEED, COUNT, COMPILERS = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:]
BATCH = 20
MOST_TRIES = 40  # while a pair is made smaller

WHOLE = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
         "unsigned long"]
FLOATING = ["float", "double"]


def random_bases(rng, structs, at):
    """Bases before and after; no two of them have an ancestor in common."""
    bases = []
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        fits = [b for b in range(at)
                if not any(line(structs, b) & line(structs, other) for other in bases)]
        bases += [rng.choice(fits)] if fits else []
    sides = [list(bases), list(bases)]
    if bases and rng.random() < 0.3:
        rng.choice(sides).remove(rng.choice(bases))
    rng.shuffle(sides[1])
    return sides


def random_field(rng, at, structs):
    """What a field is: both types, and where it stands on which side."""
    earlier = list(range(at))
    upcasts = [(of, base) for of, one in enumerate(structs) for base in one["bases"]
               if base in one["new_bases"]]
    kind = rng.choice(["whole"] * 4 + ["floating", "bool", "enum", "array", "bits", "pointer",
                                       "pointer", "part", "text", "list"]
                      + (["nested", "row", "structs", "maybe", "owned", "element"] if earlier
                         else [])
                      + (["upcast", "upcast"] if upcasts else []))
    field = {"kind": kind}
    if kind in ("whole", "array", "list"):
        field["old"] = rng.choice(WHOLE)
        field["new"] = field["old"] if kind == "list" or rng.random() < 0.5 else rng.choice(WHOLE)
    if kind == "floating":
        field["old"], field["new"] = rng.choice(FLOATING), rng.choice(FLOATING)
    if kind == "array":
        field["old_count"], field["new_count"] = rng.randint(1, 5), rng.randint(1, 5)
    if kind == "bits":
        field["old"], field["new"] = rng.randint(7, 12), rng.randint(7, 12)
    if kind in ("nested", "row", "structs", "maybe", "owned"):
        field["of"] = rng.choice(earlier)
    if kind in ("pointer", "element"):
        field["of"] = rng.randrange(len(structs)) if kind == "pointer" else rng.choice(earlier)
    if kind == "row":
        field["old_count"] = field["new_count"] = rng.randint(1, 3)
    if kind == "upcast":
        field["of"], field["base"] = rng.choice(upcasts)
    # The plan refuses it: only the table of such an object knows what it is.
    if kind == "owned" and is_polymorphic(structs, field["of"], "old"):
        field["kind"] = "maybe"
    return field


def leave_as_it_is(one):
    """What does not change goes over in other ways. What it is made of may change all the same."""
    one.update({"anchor_moves": False, "dropped": [], "added": ""})
    for field in one["fields"]:
        field.pop("new_name", None)
        for key in ("", "_count"):
            if "old" + key in field:
                field["new" + key] = field["old" + key]


def random_case(rng):
    structs = []
    for at in range(rng.randint(2, 5)):
        bases, new_bases = random_bases(rng, structs, at)
        old_table, new_table = rng.choice([(False, False)] * 5 + [(True, True)] * 2
                                          + [(True, False), (False, True)])
        structs.append({"bases": bases, "new_bases": new_bases, "virtual_old": old_table,
                        "virtual_new": new_table, "made": rng.random() < 0.25})
    for at, one in enumerate(structs):
        fields = [random_field(rng, at, structs) for _ in range(rng.randint(1, 7))]
        for number, field in enumerate(fields):
            field["name"] = f"f{number}"
            if rng.random() < 0.2:
                field["new_name"] = f"g{number}"
        order = [field["name"] for field in fields]
        change = rng.choice(["none", "drop", "add", "both"])
        one.update({"fields": fields, "order": order, "anchor_moves": rng.random() < 0.5,
                    "dropped": [rng.choice(order)] if change in ("drop", "both") else [],
                    "added": rng.choice(list(ADDED)) if change in ("add", "both") else "",
                    "added_at": rng.randint(0, len(fields)), "objects": rng.randint(1, 5)})
        if rng.random() < 0.3:
            leave_as_it_is(one)
        elif rng.random() < 0.8:
            rng.shuffle(order)
    return {"structs": structs}


def wrap_some(rng, case):
    """Moves fields of some structs into a struct, which the plan is told."""
    structs = case["structs"]
    for at, one in enumerate(structs):
        if rng.random() < 0.6:
            continue
        for field in one["fields"]:
            # What has virtual functions is made by the constructor of what it is in.
            made = field["kind"] not in ("nested", "row") or is_made(structs, at) or \
                not holds_tables(structs, field["of"])
            if made and rng.random() < 0.6:
                field["wrapped"] = True


# ---- running --------------------------------------------------------------------------------------

def run(cases, compiler, folder):
    """Lines about what went wrong: (index, text)."""
    folder.mkdir(parents=True)
    source, binary = folder / "pairs.cpp", folder / "pairs.so"
    source.write_text(program(cases))
    clang = "clang" in pathlib.Path(compiler).name
    own = ["-fstandalone-debug", "-Wno-return-type-c-linkage"] if clang else \
        ["-femit-class-debug-always", "-fno-gnu-unique"]
    object_file = str(folder / "pairs.o")
    for command in ([*launched(compiler), "-std=c++20", "-g", "-O0", "-fPIC", "-fvisibility=hidden", "-w", *own,
                     "-I", INCLUDE, "-I", str(HERE), "-c", str(source), "-o", object_file],
                    [compiler, "-g", "-shared", "-Wl,-Bsymbolic", "-Wl,--build-id=sha1", object_file,
                     "-o", str(binary)]):
        built = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT_S, check=False)
        if built.returncode != 0:
            sys.exit(f"{compiler} refuses what this script has written:\n{built.stderr[:3000]}")
    done = subprocess.run([RUNNER, str(binary)], capture_output=True, text=True, timeout=HANG_LIMIT_S,
                          check=False)
    wrong = []
    for line in done.stdout.splitlines():
        name, _, what = line.partition(": ")
        wrong.append((int(name.removeprefix("pair")), what))
    if done.returncode not in (0, 1) or (done.returncode == 1 and not wrong):
        wrong.append((None, f"the run ended with {done.returncode}: {done.stderr[-500:]}"))
    return wrong


def smaller(case):
    """The same without one struct's use of a field, or without a change."""
    for at, one in enumerate(case["structs"]):
        for field in one["fields"]:
            if len(one["fields"]) > 1:
                less = copy.deepcopy(case)
                own = less["structs"][at]
                own["fields"] = [f for f in own["fields"] if f["name"] != field["name"]]
                own["order"].remove(field["name"])
                own["dropped"] = [name for name in own["dropped"] if name != field["name"]]
                yield less
            for key in ("new_name", "wrapped"):
                if key in field:
                    less = copy.deepcopy(case)
                    del less["structs"][at]["fields"][one["fields"].index(field)][key]
                    yield less
        for base in {*one.get("bases", []), *one.get("new_bases", [])}:
            if not any(field["kind"] == "upcast" and (field["of"], field["base"]) == (at, base)
                       for other in case["structs"] for field in other["fields"]):
                less = copy.deepcopy(case)
                for key in ("bases", "new_bases"):
                    less["structs"][at][key] = [b for b in one[key] if b != base]
                yield less
        for key, nothing in (("dropped", []), ("added", ""), ("objects", 1), ("made", False),
                             ("virtual_new", False), ("virtual_old", False)):
            if one.get(key, nothing) != nothing:
                less = copy.deepcopy(case)
                less["structs"][at][key] = nothing
                yield less


def shrink(case, compiler, scratch):
    tries = 0
    again = True
    while again:
        again = False
        for less in smaller(case):
            tries += 1
            if tries > MOST_TRIES:
                return case
            if run([less], compiler, scratch / f"shrink{tries}"):
                case, again = less, True
                break
    return case


def main():
    rng = random.Random(SEED)
    cases = [random_case(rng) for _ in range(COUNT)]
    for case in cases:
        wrap_some(rng, case)
    kept = sorted((HERE / "kept").glob("*.json"))
    cases += [json.loads(path.read_text()) for path in kept]
    batches = [cases[at:at + BATCH] for at in range(0, len(cases), BATCH)]
    failed = []
    scratch = compiler_folder(SCRATCH)
    jobs = [(batch, compiler, scratch / f"{number}-{pathlib.Path(compiler).name}")
            for number, batch in enumerate(batches) for compiler in COMPILERS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: run(*job), jobs))
    for (batch, compiler, folder), wrong in zip(jobs, results):
        for index, what in wrong:
            # A run that crashed does not say at which pair.
            guilty = [batch[index]] if index is not None else \
                [case for at, case in enumerate(batch)
                 if run([case], compiler, folder / f"alone{at}")][:1]
            for case in guilty:
                small = shrink(case, compiler, folder / f"small{index}")
                failed.append(f"{compiler}: {what}\n{json.dumps(small)}")
                keep(small)
            if not guilty:
                failed.append(f"{compiler}: {what}")
    for one in failed:
        print(one)
    if failed:
        sys.exit(f"seed {SEED}: {len(failed)} of {len(cases)} pairs went wrong")
    print(f"seed {SEED}: {len(cases)} pairs with {len(COMPILERS)} compilers")


def keep(case):
    folder = os.environ.get("BRAID_KEEP_PAIRS", "")
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        text = json.dumps(case, indent=1)
        # Not hash(), which is another one in each run.
        name = hashlib.sha256(text.encode()).hexdigest()[:8] + ".json"
        (pathlib.Path(folder) / name).write_text(text + "\n")


main()
