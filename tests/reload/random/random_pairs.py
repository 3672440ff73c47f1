"""Random pairs of layouts: values and pointers of each field are written with the old types, go
over, and are looked at with the new ones.

    random_pairs.py RUNNER INCLUDE SEED COUNT COMPILER...

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
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUNNER, INCLUDE, SEED, COUNT = (os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]),
                                int(sys.argv[3]), int(sys.argv[4]))
COMPILERS = sys.argv[5:]
BATCH = 20
DEADLINE = 300  # seconds for one compiler or one run
MOST_TRIES = 40  # while a pair is made smaller

WHOLE = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long",
         "unsigned long"]
FLOATING = ["float", "double"]


def random_field(rng, at, structs):
    """What a field is: both types, and where it stands on which side."""
    earlier = list(range(at))
    kind = rng.choice(["whole"] * 4 + ["floating", "bool", "enum", "array", "bits", "pointer",
                                       "pointer", "part", "text", "list"]
                      + (["nested", "row", "structs", "maybe", "owned", "element"] if earlier
                         else []))
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
        field["of"] = rng.randrange(structs) if kind == "pointer" else rng.choice(earlier)
    if kind == "row":
        field["old_count"] = field["new_count"] = rng.randint(1, 3)
    return field


def random_case(rng):
    structs = []
    count = rng.randint(2, 4)
    for at in range(count):
        fields = [random_field(rng, at, count) for _ in range(rng.randint(1, 7))]
        for number, field in enumerate(fields):
            field["name"] = f"f{number}"
        order = [field["name"] for field in fields]
        if rng.random() < 0.8:
            rng.shuffle(order)
        # Either is dropped or added, so that nothing is asked.
        change = rng.choice(["none", "drop", "add"])
        structs.append({"fields": fields, "order": order,
                        "dropped": [rng.choice(order)] if change == "drop" else [],
                        "added": rng.choice(["int", "double", "char", "std::string"])
                        if change == "add" else "",
                        "objects": rng.randint(1, 5)})
    return {"structs": structs}


# ---- C++ ------------------------------------------------------------------------------------------

def declare(field, side):
    kind, name = field["kind"], field["name"]
    of = f"s{field.get('of')}"
    new = side == "new"
    if kind in ("whole", "floating"):
        return f"{field[side]} {name};"
    if kind == "array":
        return f"{field[side]} {name}[{field[side + '_count']}];"
    if kind == "row":
        return f"{of} {name}[{field[side + '_count']}];"
    if kind == "bits":
        return f"unsigned {name} : {field[side]};"
    return {"bool": "bool", "enum": "kind", "pointer": f"s{field.get('of')}*", "part": "int*",
            "element": f"{of}*", "text": "std::string", "nested": of,
            "list": f"std::vector<{field.get('new' if new else 'old')}>",
            "structs": f"std::vector<{of}>", "maybe": f"std::optional<{of}>",
            "owned": f"std::unique_ptr<{of}>"}[kind] + f" {name};"


def structure(case, at, side):
    one = case["structs"][at]
    fields = {field["name"]: field for field in one["fields"]}
    order = list(fields) if side == "old" else [name for name in one["order"]
                                                if name not in one["dropped"]]
    lines = [f"    {declare(fields[name], side)}" for name in order]
    if side == "new" and one["added"]:
        lines.insert(len(lines) // 2, f"    {one['added']} added;")
    # What pointers to a part lead to.
    lines.insert(0 if side == "old" else len(lines), "    int anchor;")
    return f"struct s{at} {{\n" + "\n".join(lines) + "\n};\n"


def types(case, side):
    values = "zero, one, two" if side == "old" else "two, added, zero, one"
    text = f"enum class kind {{ {values} }};\n"
    text += "".join(f"struct s{at};\n" for at in range(len(case["structs"])))
    text += "".join(structure(case, at, side) for at in range(len(case["structs"])))
    spans = "".join(f"    std::span<s{at}> all{at};\n" for at in range(len(case["structs"])))
    return text + f"struct root {{\n{spans}}};\n"


def values(field, index, side):
    """Lines that write (side old) or check (new) what the field holds."""
    kind, name = field["kind"], f"o.{field['name']}"
    key = f"mixed(key, {index}u)"
    number = f"number({key})"
    new = side == "new"

    def same(left, right):
        return f"    if (!({left} == {right})) return where(\"{field['name']}\", key);\n"

    def inner(target, with_key):
        if new:
            return (f"    if (std::string bad = check({target}, r, {with_key}); !bad.empty()) "
                    f"return \"{field['name']} > \" + bad;\n")
        return f"    fill({target}, {with_key});\n"

    if kind in ("whole", "floating"):
        typed = f"static_cast<decltype({name})>({number})"
        return same(name, typed) if new else f"    {name} = {typed};\n"
    if kind == "bool":
        return same(name, f"({number} % 2 != 0)") if new else f"    {name} = {number} % 2 != 0;\n"
    if kind == "bits":
        return same(name, number) if new else f"    {name} = {number} & 127u;\n"
    if kind == "enum":
        pick = f"std::array{{kind::zero, kind::one, kind::two}}[{number} % 3]"
        return same(name, pick) if new else f"    {name} = {pick};\n"
    if kind == "text":
        return same(name, f"text({key})") if new else f"    {name} = text({key});\n"
    if kind == "array":
        count = min(field["old_count"], field["new_count"])
        loop = f"    for (unsigned i = 0; i < {count}; ++i) {{\n"
        typed = f"static_cast<{field[side]}>(number({key} + i))"
        body = same(f"{name}[i]", typed) if new else f"    {name}[i] = {typed};\n"
        return loop + "    " + body + "    }\n"
    if kind == "list":
        typed = f"static_cast<{field[side]}>(number({key} + i))"
        if new:
            return (same(f"{name}.size()", f"{number} % 5")
                    + f"    for (unsigned i = 0; i < {name}.size(); ++i) {{\n    "
                    + same(f"{name}[i]", typed) + "    }\n")
        return (f"    for (unsigned i = 0; i < {number} % 5; ++i) {name}.push_back({typed});\n")
    if kind == "nested":
        return inner(name, key)
    if kind == "row":
        return (f"    for (unsigned i = 0; i < {field['old_count']}; ++i) {{\n    "
                + inner(f"{name}[i]", f"{key} + i") + "    }\n")
    if kind == "structs":
        size = (same(f"{name}.size()", f"{number} % 4") if new
                else f"    {name}.resize({number} % 4);\n")
        return (size + f"    for (unsigned i = 0; i < {name}.size(); ++i) {{\n    "
                + inner(f"{name}[i]", f"{key} + i") + "    }\n")
    if kind in ("maybe", "owned"):
        some = f"{number} % 2 != 0"
        if new:
            return (same(f"static_cast<bool>({name})", f"({some})")
                    + f"    if ({name}) {{\n    " + inner(f"*{name}", key) + "    }\n")
        make = (f"{name}.emplace()" if kind == "maybe"
                else f"{name} = std::make_unique<s{field['of']}>()")
        return f"    if ({some}) {{\n    {make};\n    " + inner(f"*{name}", key) + "    }\n"
    return ""


def pointers(field, index, side, case):
    """Lines that point (side old) or check where the field points."""
    kind, name = field["kind"], f"o.{field['name']}"
    key = f"mixed(key, {index}u)"
    new = side == "new"
    if kind in ("pointer", "part"):
        of = field.get("of", 0)
        target = f"&r.all{of}[number({key}) % r.all{of}.size()]"
        if kind == "part":
            target = f"&r.all0[number({key}) % r.all0.size()].anchor"
        if new:
            return f"    if ({name} != {target}) return where(\"{field['name']}\", key);\n"
        return f"    {name} = {target};\n"
    if kind == "element":
        # Into a list that an object owns, if there is one of that type.
        for at, one in enumerate(case["structs"]):
            for other in one["fields"]:
                usable = other["name"] not in one["dropped"]
                if other["kind"] == "structs" and other["of"] == field["of"] and usable:
                    owner = f"r.all{at}[0].{other['name']}"
                    target = f"({owner}.empty() ? nullptr : &{owner}.back())"
                    if new:
                        return (f"    if ({name} != {target}) "
                                f"return where(\"{field['name']}\", key);\n")
                    return f"    {name} = {target};\n"
        return f"    {name} = nullptr;\n" if not new else ""
    if new:
        return ""
    if kind == "nested":
        return f"    point({name}, r, {key});\n"
    if kind == "row":
        return (f"    for (unsigned i = 0; i < {field['old_count']}; ++i) "
                f"point({name}[i], r, {key} + i);\n")
    if kind == "structs":
        return (f"    for (unsigned i = 0; i < {name}.size(); ++i) "
                f"point({name}[i], r, {key} + i);\n")
    if kind in ("maybe", "owned"):
        return f"    if ({name}) point(*{name}, r, {key});\n"
    return ""


def functions(case):
    text = ""
    for at, one in enumerate(case["structs"]):
        old = "".join(values(field, i, "old") for i, field in enumerate(one["fields"]))
        point = "".join(pointers(field, i, "old", case) for i, field in enumerate(one["fields"]))
        new = "".join(values(field, i, "new") + pointers(field, i, "new", case)
                      for i, field in enumerate(one["fields"])
                      if field["name"] not in one["dropped"])
        if one["added"]:
            new += "    if (!(o.added == decltype(o.added){})) return where(\"added\", key);\n"
        text += (f"[[maybe_unused]] void fill(before::s{at}& o, unsigned key) {{\n"
                 "    using enum before::kind;\n    using before::kind;\n    using namespace before;\n"
                 f"    o.anchor = static_cast<int>(number(key));\n{old}}}\n"
                 f"[[maybe_unused]] void point(before::s{at}& o, before::root& r, unsigned key) {{\n"
                 f"    (void)o, (void)r, (void)key;\n{point}}}\n"
                 f"[[maybe_unused]] std::string check(const after::s{at}& o, const after::root& r, "
                 "unsigned key) {\n    using after::kind;\n    (void)r;\n"
                 "    if (o.anchor != static_cast<int>(number(key))) return where(\"anchor\", key);\n"
                 f"{new}    return \"\";\n}}\n")
    text += "void fill_root(braid::reload::arena& state) {\n"
    text += "    before::root& r = state.root<before::root>(\"root\");\n"
    for step in ("fill(r.all{0}[i], i * 77 + {0})", "point(r.all{0}[i], r, i * 77 + {0})"):
        for at, one in enumerate(case["structs"]):
            if step.startswith("fill"):
                text += f"    r.all{at} = state.make_array<before::s{at}>({one['objects']});\n"
            text += (f"    for (unsigned i = 0; i < r.all{at}.size(); ++i) "
                     + step.format(at) + ";\n")
    text += "}\nstd::string check_root(braid::reload::arena& state) {\n"
    text += "    const after::root& r = state.root<after::root>(\"root\");\n    std::string bad;\n"
    # The arena destroys by code that has seen the new types.
    text += "".join(f"    state.make<after::s{at}>();\n" for at in range(len(case["structs"])))
    for at, one in enumerate(case["structs"]):
        text += (f"    if (r.all{at}.size() != {one['objects']}) return \"all{at}\";\n"
                 f"    for (unsigned i = 0; i < r.all{at}.size() && bad.empty(); ++i) {{\n"
                 f"        bad = check(r.all{at}[i], r, i * 77 + {at});\n"
                 f"        if (!bad.empty()) bad = \"s{at} > \" + bad;\n    }}\n")
    return text + "    return bad;\n}\n"


def program(cases):
    text = '#include "case.hpp"\nusing namespace random_pairs;\nnamespace {\n'
    text += ("std::string where(const char* field, unsigned key) {\n"
             "    return std::string(field) + \" of \" + std::to_string(key);\n}\n}\n")
    for at, case in enumerate(cases):
        text += f"namespace pair{at} {{\nnamespace before {{\n{types(case, 'old')}}}\n"
        text += f"namespace after {{\n{types(case, 'new')}}}\n{functions(case)}}}\n"
    text += "static const pair_case all_cases[] = {\n"
    text += "".join(f"    {{\"pair{at}\", pair{at}::fill_root, pair{at}::check_root}},\n"
                    for at in range(len(cases)))
    return (text + "};\nextern \"C\" __attribute__((visibility(\"default\"))) "
            "std::span<const pair_case> random_pair_cases() { return all_cases; }\n")


# ---- running --------------------------------------------------------------------------------------

def run(cases, compiler, folder):
    """Lines about what went wrong: (index, text)."""
    folder.mkdir(parents=True)
    source, binary = folder / "pairs.cpp", folder / "pairs.so"
    source.write_text(program(cases))
    clang = "clang" in pathlib.Path(compiler).name
    own = ["-fstandalone-debug", "-Wno-return-type-c-linkage"] if clang else \
        ["-femit-class-debug-always", "-fno-gnu-unique"]
    built = subprocess.run([compiler, "-std=c++20", "-g", "-O0", "-shared", "-fPIC",
                            "-fvisibility=hidden", "-w", *own, "-I", INCLUDE, "-I", str(HERE),
                            "-Wl,-Bsymbolic", str(source), "-o", str(binary)],
                           capture_output=True, text=True, timeout=DEADLINE, check=False)
    if built.returncode != 0:
        sys.exit(f"{compiler} refuses what this script has written:\n{built.stderr[:3000]}")
    done = subprocess.run([RUNNER, str(binary)], capture_output=True, text=True, timeout=DEADLINE,
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
        for key, nothing in (("dropped", []), ("added", ""), ("objects", 1)):
            if one[key] != nothing:
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
    kept = sorted((HERE / "kept").glob("*.json"))
    cases += [json.loads(path.read_text()) for path in kept]
    batches = [cases[at:at + BATCH] for at in range(0, len(cases), BATCH)]
    failed = []
    with tempfile.TemporaryDirectory(prefix="braid-random-") as name:
        scratch = pathlib.Path(name)
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
