"""Writes pairs of layouts as C++: their types in namespaces `before` and `after`, and functions
that write values and pointers with the old types and look at them with the new ones."""

# What a constructor of the module puts into a new field.
ADDED = {"int": "7", "double": "7", "char": "7",
         "std::string": '"a text that is too long to lie within"'}

NEW_CODE = 1000  # what virtual functions of the new code add


def line(structs, at):
    """The struct and all that it derives from, on either side."""
    own = structs[at]
    return {at}.union(*(line(structs, base)
                        for base in own.get("bases", []) + own.get("new_bases", [])))


def bases_of(one, side):
    return one.get("bases" if side == "old" else "new_bases", [])


def is_polymorphic(structs, at, side):
    one = structs[at]
    return one.get(f"virtual_{side}", False) or any(is_polymorphic(structs, base, side)
                                                    for base in bases_of(one, side))


def holds_tables(structs, at):
    return is_polymorphic(structs, at, "new") or any(
        holds_tables(structs, inner) for inner in bases_of(structs[at], "new")
        + [field["of"] for field in structs[at]["fields"] if field["kind"] in ("nested", "row")])


def is_made(structs, at):
    """Whether new objects are made by a constructor: what has virtual functions must be, and what
    begins to have an object with them."""
    one = structs[at]
    return (one.get("made", False) or is_polymorphic(structs, at, "new")
            or any(holds_tables(structs, base) for base in bases_of(one, "new")
                   if base not in bases_of(one, "old")))


def name_of(field, side):
    """Its path: a wrapped field is in a struct on the new side."""
    if side == "old":
        return field["name"]
    return ("wrapped." if field.get("wrapped", False) else "") + field.get("new_name", field["name"])


def declare(field, side, made=False):
    kind, name = field["kind"], name_of(field, side).removeprefix("wrapped.")
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
    # What a constructor leaves in fields that are filled next is freed.
    first = {"text": f" = {ADDED['std::string']}", "list": " = {1, 2, 3}"}.get(kind, "")
    return {"bool": "bool", "enum": "kind", "pointer": f"{of}*", "part": "int*",
            "element": f"{of}*", "upcast": f"s{field.get('base')}*", "text": "std::string",
            "nested": of,
            "list": f"std::vector<{field.get('new' if new else 'old')}>",
            "structs": f"std::vector<{of}>", "maybe": f"std::optional<{of}>",
            "owned": f"std::unique_ptr<{of}>"}[kind] + f" {name}{first if made else ''};"


def structure(case, at, side):
    one = case["structs"][at]
    fields = {field["name"]: field for field in one["fields"]}
    order = list(fields) if side == "old" else [name for name in one["order"]
                                                if name not in one["dropped"]]
    made = side == "new" and is_made(case["structs"], at)
    inside = [name for name in order if side == "new" and fields[name].get("wrapped", False)]
    lines = [f"    {declare(fields[name], side, made)}" for name in order if name not in inside]
    wrap = "".join(f"    {declare(fields[name], side, made)}\n" for name in inside)
    if inside:
        wrap = f"struct w{at} {{\n{wrap}}};\n"
        lines.insert(order.index(inside[0]) % (len(lines) + 1), f"    w{at} wrapped;")
    if side == "new" and one["added"]:
        first = f" = {ADDED[one['added']]}" if made else ""
        lines.insert(one.get("added_at", len(lines) // 2), f"    {one['added']} added{first};")
    # What pointers to a part lead to.
    moves = side == "new" and one.get("anchor_moves", True)
    lines.insert(len(lines) if moves else 0, "    int anchor;")
    if one.get(f"virtual_{side}", False):
        code = at if side == "old" else NEW_CODE + at
        lines.insert(0, f"    virtual int code() const {{ return {code}; }}")
    bases = ", ".join(f"s{base}" for base in bases_of(one, side))
    return (f"{wrap}struct s{at} {': ' + bases if bases else ''} {{\n" + "\n".join(lines) + "\n};\n")


def types(case, side):
    values = "zero, one, two" if side == "old" else "two, added, zero, one"
    text = f"enum class kind {{ {values} }};\n"
    text += "".join(f"struct s{at};\n" for at in range(len(case["structs"])))
    text += "".join(structure(case, at, side) for at in range(len(case["structs"])))
    spans = "".join(f"    std::span<s{at}> all{at};\n" for at in range(len(case["structs"])))
    return text + f"struct root {{\n{spans}}};\n"


def values(field, index, side):
    """Lines that write (side old) or check (new) what the field holds."""
    kind, name = field["kind"], f"o.{name_of(field, side)}"
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
    kind, name = field["kind"], f"o.{name_of(field, side)}"
    key = f"mixed(key, {index}u)"
    new = side == "new"
    if kind in ("pointer", "part", "upcast"):
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
                    owner = f"r.all{at}[0].{name_of(other, side)}"
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


def base_key(base):
    return f"mixed(key, {1000 + base}u)"


def old_bases(one, call):
    """Lines that do with each base what the call does with the object."""
    return "".join(f"    {call.format(f'static_cast<before::s{base}&>(o)', base_key(base))};\n"
                   for base in bases_of(one, "old"))


def new_bases(one):
    text = ""
    for base in bases_of(one, "new"):
        key = base_key(base)
        if base in bases_of(one, "old"):
            text += (f"    if (std::string bad = check(static_cast<const after::s{base}&>(o), r, "
                     f"{key}, as); !bad.empty()) return \"s{base} > \" + bad;\n")
        else:
            text += (f"    if (static_cast<const after::s{base}&>(o).anchor != 0) "
                     f"return where(\"new base s{base}\", key);\n")
    return text


def check_lines(case, at):
    structs = case["structs"]
    one = structs[at]
    text = new_bases(one)
    if one.get("virtual_new", False):
        text = (f"    if (as < 0) as = {at};\n{text}"
                f"    if (o.code() != {NEW_CODE} + as) return where(\"its code\", key);\n")
    text += "".join(values(field, i, "new") + pointers(field, i, "new", case)
                    for i, field in enumerate(one["fields"])
                    if field["name"] not in one["dropped"])
    if one["added"]:
        first = ADDED[one["added"]] if is_made(structs, at) else ""
        text += (f"    if (!(o.added == decltype(o.added){{{first}}})) "
                 "return where(\"added\", key);\n")
    return text


def notes(case):
    """What the module says about its types."""
    text = ""
    for at, one in enumerate(case["structs"]):
        if is_made(case["structs"], at):
            text += f"BRAID_RELOAD_TYPE(after::s{at})\n"
        for field in one["fields"]:
            if field["name"] in one["dropped"]:
                text += f"BRAID_RELOAD_DROPPED(after::s{at}, {field['name']})\n"
            elif name_of(field, "new") != field["name"]:
                text += (f"BRAID_RELOAD_RENAMED(after::s{at}, {field['name']}, "
                         f"{name_of(field, 'new')})\n")
    return text


def functions(case):
    text = ""
    for at, one in enumerate(case["structs"]):
        old = "".join(values(field, i, "old") for i, field in enumerate(one["fields"]))
        point = "".join(pointers(field, i, "old", case) for i, field in enumerate(one["fields"]))
        text += (f"[[maybe_unused]] void fill(before::s{at}& o, unsigned key) {{\n"
                 "    using enum before::kind;\n    using before::kind;\n    using namespace before;\n"
                 f"{old_bases(one, 'fill({}, {})')}"
                 f"    o.anchor = static_cast<int>(number(key));\n{old}}}\n"
                 f"[[maybe_unused]] void point(before::s{at}& o, before::root& r, unsigned key) {{\n"
                 "    (void)o, (void)r, (void)key;\n"
                 f"{old_bases(one, 'point({}, r, {})')}{point}}}\n"
                 f"[[maybe_unused]] std::string check(const after::s{at}& o, const after::root& r, "
                 "unsigned key, int as = -1) {\n    using after::kind;\n    (void)r, (void)as;\n"
                 "    if (o.anchor != static_cast<int>(number(key))) return where(\"anchor\", key);\n"
                 f"{check_lines(case, at)}    return \"\";\n}}\n")
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
        text += f"namespace after {{\n{types(case, 'new')}}}\n{notes(case)}{functions(case)}}}\n"
    text += "static const pair_case all_cases[] = {\n"
    text += "".join(f"    {{\"pair{at}\", pair{at}::fill_root, pair{at}::check_root}},\n"
                    for at in range(len(cases)))
    return (text + "};\nextern \"C\" __attribute__((visibility(\"default\"))) "
            "std::span<const pair_case> random_pair_cases() { return all_cases; }\n")
