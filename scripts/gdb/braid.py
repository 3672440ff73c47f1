"""Braid's state, read from a stopped process or a core file.

    (gdb) source scripts/gdb/braid.py
    (gdb) braid tasks      every task that is not complete: state, name, parent, what it waits for
    (gdb) braid waits      who sleeps under which wait
    (gdb) braid why [TASK] what each open task, or that one, does or waits for, from task to task;
                           TASK is a part of its name, or its number as "#7.1"
    (gdb) braid seats      every thread that takes part, its stack of tasks, its ready tasks
    (gdb) braid outside    what processors have been given and not ended, what files are being read

The library needs debug information (-g). Nothing is called in the process, only read.
"""

import re

import gdb

NO_INDEX = 0xFFFFFFFF
NO_EDGE = 0x7FFFFFFE
LIST_CLOSED = 0x7FFFFFFF
WAITED_BIT = 0x80000000
NO_SEAT = 0xFFFF
SETTLED_OUTSIDE = 1 << 31  # completion_open: in the word that counts open work elsewhere
FLAGS = {
    1 << 0: "posted", 1 << 2: "empty", 1 << 5: "background", 1 << 6: "cancel", 1 << 7: "failed",
    1 << 8: "after any", 1 << 10: "shared", 1 << 11: "own kind",
}
LEVELS = ["low", "normal", "high"]
NAMESPACE = "braid::v0::detail::"
EMPTY = 1 << 2  # flag_empty
DEFERRED, AWAITED = 1 << 29, 1 << 28  # completion_deferred, completion_awaited; both: inside


def number(value):
    """The integer in `value`, a plain one or a std::atomic."""
    fundamental = value.type.strip_typedefs()
    if fundamental.code != gdb.TYPE_CODE_STRUCT:
        return int(value)
    for field in ("_M_i", "_M_base"):
        for f in fundamental.fields():
            if f.name == field:
                return number(value[field])
            if f.is_base_class and has(f.type, field):
                return number(value.cast(f.type)[field])
    raise gdb.GdbError(f"cannot read {fundamental}")


def has(kind, name):
    return any(f.name == name or (f.is_base_class and has(f.type, name))
               for f in kind.strip_typedefs().fields())


def pointer(value):
    """The pointer in a std::atomic<T*>."""
    return value["_M_b"]["_M_p"]


def text(value):
    return value.string(errors="replace") if int(value) != 0 else ""


class Pool:
    """An index_pool: segment k holds 256 << k objects."""

    def __init__(self, value):
        self.segments = value["segment_"]
        self.size = number(value["end_"])

    def __getitem__(self, index):
        shifted = index + 256
        k = shifted.bit_length() - 9
        return pointer(self.segments[k])[shifted - (256 << k)]


class Runtime:
    def __init__(self, value):
        self.value = value
        self.name = text(value["options"]["name"])
        self.slots = Pool(value["slots"]["slots_"])
        self.edges = Pool(value["edges"]["edges_"])

    def seats(self):
        for i in range(number(self.value["seat_count_"])):
            yield pointer(self.value["seats_"][i]).dereference()["whole"].referenced_value()

    def seat(self, index):
        for w in self.seats():
            if int(w["index"]) == index:
                return w
        return None

    def seat_name(self, index):
        w = self.seat(index)
        return w["report"]["name"].string() if w is not None else ""

    def title(self, task):
        """`'name' #slot.generation` of an id."""
        if task == 0:
            return "a thread outside tasks"
        index, generation = task & NO_INDEX, task >> 32
        if index >= self.slots.size:
            return f"unknown #{index}.{generation}"
        slot = self.slots[index]
        if number(slot["open"]) >> 32 != generation:
            return f"#{index}.{generation} (over)"
        return f"'{text(slot['name'])}' #{index}.{generation}"

    def parent_of(self, task):
        parent = number(self.slots[task & NO_INDEX]["parent"])
        if parent == NO_INDEX:
            return 0
        return number(self.slots[parent]["open"]) >> 32 << 32 | parent

    def open_tasks(self):
        for index in range(self.slots.size):
            slot = self.slots[index]
            head = number(slot["successors"])
            if head >> 32 != 0 and (head & LIST_CLOSED) != LIST_CLOSED:
                yield index, slot

    def predecessors(self, slot):
        e = number(slot["predecessors"])
        while e < NO_EDGE and e < self.edges.size:
            edge = self.edges[e]
            yield number(edge["from"])
            e = number(edge["next_predecessor"])

    def records(self):
        """Every wait, of threads and of tasks."""
        for b in range(64):
            record = self.value["lot_"]["buckets_"][b]["first"]
            while int(record) != 0:
                yield record.dereference()
                record = record["next"]

    def is_open(self, task):
        slot = self.slots[task & NO_INDEX]
        head = number(slot["successors"])
        return head >> 32 == task >> 32 and (head & LIST_CLOSED) != LIST_CLOSED

    def running(self):
        """task id -> (seat, awaited id) of every task on a stack."""
        found = {}
        for w in self.seats():
            for f in range(min(number(w["shown"]), 64)):
                frame = w["frames"][f]
                found[number(frame["task_"])] = (w, number(frame["awaited_"]))
        return found


def runtimes():
    """Every scheduler that some thread takes part in."""
    found = {}
    selected = gdb.selected_thread()
    frame = gdb.selected_frame()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            for value in of_thread_locals() + of_frames():
                found.setdefault(int(value.address), value)
    finally:
        if selected is not None:
            selected.switch()
            frame.select()
    if not found:
        raise gdb.GdbError("no thread takes part in a scheduler, or the library has no debug "
                           "information: build it with -g")
    return [Runtime(value) for _, value in sorted(found.items())]


def of_thread_locals():
    """From the seats that the thread has; needs libthread_db, which gdb may lack."""
    try:
        bindings = gdb.parse_and_eval(f"'{NAMESPACE}this_thread_state'")["bindings"]
        low, high = bindings.type.range()
        seats = [bindings[i]["seat"] for i in range(low, high + 1)]
        return [w["rt"].referenced_value() for w in seats if int(w) != 0]
    except (gdb.error, gdb.MemoryError):
        return []


def of_frames():
    """From the functions on the thread's stack."""
    found = []
    frame = gdb.newest_frame()
    while frame is not None:
        name = frame.name() or ""
        if re.match(re.escape(NAMESPACE) + r"(runtime|\w+_room)::~?\w+(<\w+>)?(\(.*)?$", name):
            try:
                this = frame.read_var("this").cast(gdb.lookup_type(NAMESPACE + "runtime").pointer())
                found.append(this.dereference())
            except (gdb.error, ValueError):
                pass
        frame = frame.older()
    return found


def state_of(runtime, index, slot, running):
    """(word, details) of an open task."""
    task = number(slot["open"]) >> 32 << 32 | index
    if number(slot["open"]) & SETTLED_OUTSIDE:
        return "deferred", "until somebody outside completes it"
    if task in running:
        w, awaited = running[task]
        name = w["report"]["name"].string()
        if awaited != 0:
            return "waits", f"on {name} for {runtime.title(awaited)}"
        return "runs", f"on {name}"
    if number(slot["runner"]) != NO_SEAT:
        return "has run", f"on {runtime.seat_name(number(slot['runner']))}; children are open"
    if number(slot["waits_for"]) != 0:
        names = ", ".join(runtime.title(p) for p in runtime.predecessors(slot))
        return "blocked", f"after {names}" if names else "being built"
    return "ready", ""


class Braid(gdb.Command):
    """Braid's tasks, waits and seats; `help braid` lists the commands."""

    def __init__(self):
        super().__init__("braid", gdb.COMMAND_DATA, prefix=True)


class Tasks(gdb.Command):
    """braid tasks: every task that is not complete, with its parent and what it waits for."""

    def __init__(self):
        super().__init__("braid tasks", gdb.COMMAND_DATA)

    def invoke(self, _argument, _from_tty):
        for runtime in runtimes():
            running = runtime.running()
            tasks = list(runtime.open_tasks())
            print(f"scheduler '{runtime.name}': {len(tasks)} open tasks")
            for index, slot in tasks:
                task = number(slot["open"]) >> 32 << 32 | index
                word, details = state_of(runtime, index, slot, running)
                flags = number(slot["flags"])
                level = number(slot["level"])
                words = [LEVELS[level] if not flags & 1 << 9 else f"category {level}"]
                words += [name for bit, name in FLAGS.items() if flags & bit]
                parent = number(slot["parent"])
                line = f"  {runtime.title(task):<32} {word:<8} {details} [{', '.join(words)}]"
                if parent != NO_INDEX:
                    owner = number(runtime.slots[parent]["open"]) >> 32 << 32 | parent
                    line += f" child of {runtime.title(owner)}"
                print(line)


def derived(record, kind):
    """The record as what it is: a basic_<kind>_wait_record."""
    name = record.type.unqualified().strip_typedefs().name
    return record.cast(gdb.lookup_type(name.replace("basic_wait_record", f"basic_{kind}_wait_record")))


def object_at(address, kind):
    return gdb.Value(address).cast(gdb.lookup_type(kind).pointer()).dereference()


def awaited_by(runtime, record):
    """(task id or 0, words) of what a wait is for."""
    key = int(record["key"])
    if (key >> 32) < 0xFFFF0000:
        return key, f"task {runtime.title(key)}"
    # Keys of addresses are their complement, with the kind in the last bits; see address_key().
    kind, address = ~key & 3, ~key & 0xFFFFFFFFFFFFFFFC
    if kind == 1:
        scope = object_at(address, NAMESPACE + "scope_state")
        name = text(scope["name"])
        return 0, f"the scope '{name}'" if name else f"scope {address:#x}"
    if kind == 2:
        return 0, "a part of its join that another thread runs"
    if kind == 3:
        if bool(record["named"]):
            named = derived(record, "named")
            return 0, f"{text(named['what'])} '{text(named['name'])}'"
        # One bit of the address may be lost in the kind.
        known = {int(runtime.value["frozen_"]["frozen_"].address) & ~3: "resume()",
                 int(runtime.value["phase_"].address) & ~3: "the end of all tasks (shut_down)"}
        return 0, known.get(address, f"object {address:#x}")
    event = object_at(address, NAMESPACE.removesuffix("detail::") + "event")
    name = text(event["state_"]["name"])
    what = f"the event '{name}'" if name else f"an event at {address:#x}"
    symbol = gdb.execute(f"info symbol {address:#x}", to_string=True)
    if not symbol.startswith("No symbol"):
        what += f" ({symbol.split(' in section')[0].strip()})"
    return 0, what


class Waits(gdb.Command):
    """braid waits: which thread waits for what, with the task that is buried under the wait."""

    def __init__(self):
        super().__init__("braid waits", gdb.COMMAND_DATA)

    def invoke(self, _argument, _from_tty):
        for runtime in runtimes():
            print(f"scheduler '{runtime.name}'")
            for record in runtime.records():
                self.show(runtime, record)

    @staticmethod
    def show(runtime, record):
        name, waiter = "a thread without a seat", 0
        if bool(record["is_task"]):
            whole = derived(record, "task")
            name, waiter = "suspended", runtime.parent_of(int(whole["completion"]))
        elif int(record["seat"]) != NO_SEAT:
            w = runtime.seat(int(record["seat"]))
            name = w["report"]["name"].string()
            top = number(w["shown"])
            waiter = number(w["frames"][top - 1]["task_"]) if 0 < top <= 64 else 0
        _, what = awaited_by(runtime, record)
        print(f"  {name}: {runtime.title(waiter)} waits for {what}")


class Why(gdb.Command):
    """braid why [TASK]: what each open task, or those of that name or number, do or wait for, and
    what that waits for in turn; scheduler::explain() says the same in a process that runs."""

    def __init__(self):
        super().__init__("braid why", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        found = False
        for runtime in runtimes():
            print(f"scheduler '{runtime.name}'")
            self.waits = list(runtime.records())
            for index, slot in list(runtime.open_tasks()):
                task = number(slot["open"]) >> 32 << 32 | index
                title = runtime.title(task)
                is_part = number(slot["open"]) & (DEFERRED | AWAITED)
                if argument.strip() not in title or (is_part and not argument):
                    continue
                found = True
                print(f"  {title} {self.chain(runtime, task)}")
        if argument and not found:
            raise gdb.GdbError(f"no open task has '{argument.strip()}' in its name or number")

    def chain(self, runtime, task):
        words, seen = "", []
        while len(seen) < 8:
            seen.append(task)
            does, task = self.step(runtime, task)
            words += does
            if not task or not runtime.is_open(task):
                break
            if task in seen:
                return words + ": they wait for each other"
            words += ", which "
        return words

    def wait_of(self, seat, depth):
        for record in self.waits:
            if not bool(record["is_task"]) and int(record["seat"]) == seat \
                    and int(record["depth"]) == depth:
                return record
        return None

    def step(self, runtime, task):
        """(words, the task that it waits for or 0)"""
        slot = runtime.slots[task & NO_INDEX]
        word = number(slot["open"])
        if word & SETTLED_OUTSIDE and word & (DEFERRED | AWAITED):
            return self.of_completion(runtime, task, word), 0
        for w in runtime.seats():
            shown = min(number(w["shown"]), 64)
            for depth in range(shown, 0, -1):
                if number(w["frames"][depth - 1]["task_"]) == task:
                    return self.of_body(runtime, w, depth, shown)
        if number(slot["waits_for"]) != 0:
            before = [p for p in runtime.predecessors(slot) if runtime.is_open(p)]
            if not before:
                return "is being built: finish() was not called yet", 0
            others = f"{len(before) - 1} others and " if len(before) > 1 else ""
            return f"comes after {others}{runtime.title(before[0])}", before[0]
        for index, child in runtime.open_tasks():
            if number(child["parent"]) == task & NO_INDEX:
                first = number(child["open"]) >> 32 << 32 | index
                return f"has run, and is complete when its child {runtime.title(first)} is", first
        if number(slot["runner"]) != NO_SEAT or number(slot["flags"]) & EMPTY:
            return "has run, and is complete after finish()", 0
        return "is ready, or waits in line for a resource", 0

    def of_completion(self, runtime, task, word):
        for record in self.waits:
            if bool(record["is_task"]) and int(derived(record, "task")["completion"]) == task:
                return "comes with " + awaited_by(runtime, record)[1]
        if word & DEFERRED and word & AWAITED:
            return f"is a channel or the like, at which {runtime.title(runtime.parent_of(task))} waits"
        return "is a completion that nobody has settled yet"

    def of_body(self, runtime, w, depth, shown):
        name = w["report"]["name"].string()
        record = self.wait_of(int(w["index"]), depth)
        if record is not None:
            task, what = awaited_by(runtime, record)
            limited = " for a limited time" if bool(record["limited"]) else ""
            return f"waits{limited} for {what.removeprefix('task ')}", task
        if depth < shown:
            above = number(w["frames"][depth]["task_"])
            return f"lies on the stack of {name} below {runtime.title(above)}", above
        return f"runs on {name}", 0


class Seats(gdb.Command):
    """braid seats: every thread that takes part, its tasks from the outermost to the innermost."""

    def __init__(self):
        super().__init__("braid seats", gdb.COMMAND_DATA)

    def invoke(self, _argument, _from_tty):
        for runtime in runtimes():
            print(f"scheduler '{runtime.name}'")
            for w in runtime.seats():
                kind = str(w["kind"]).rsplit("::", 1)[-1]
                state = "rests" if number(w["at_rest"]) else "awake"
                said = w["report"]
                print(f"  seat {int(w['index']):<3} {said['name'].string():<16} {kind:<10} {state}"
                      f"  ready {self.ready(w)}  inbox {number(w['box']['size_'])}"
                      f"  executed {number(said['counters']['executed'])}")
                for f in range(min(number(w["shown"]), 64)):
                    frame = w["frames"][f]
                    awaited = number(frame["awaited_"])
                    waits = f" waits for {runtime.title(awaited)}" if awaited else ""
                    print(f"      {runtime.title(number(frame['task_']))}{waits}")

    @staticmethod
    def ready(w):
        count = 0
        for level in range(3):
            queue = w["ready"][level]
            mask = int(queue["mask_"])
            for i in range(number(queue["top_"]), number(queue["bottom_"])):
                count += number(queue["cells_"][i & mask]) != 0
        return count


def list_of(first, link):
    """The objects of a list that is linked by the member `link`."""
    while int(first) != 0:
        yield first.dereference()
        first = first[link]


def items(array):
    """The elements of an accounted_array."""
    for i in range(int(array["size_"])):
        yield array["data_"][i]


def word_of(enumerator):
    return str(enumerator).rsplit("::", 1)[-1]


class Outside(gdb.Command):
    """braid outside: submissions to processors that have not ended, and reads of files, with the
    task that is complete when they are."""

    def __init__(self):
        super().__init__("braid outside", gdb.COMMAND_DATA)

    def invoke(self, _argument, _from_tty):
        for runtime in runtimes():
            print(f"scheduler '{runtime.name}'")
            sources = runtime.value["sources_"]
            for kind in range(sources.type.range()[1] + 1):
                for source in list_of(sources[kind], "next_"):
                    whole = source.address.cast(source.dynamic_type.pointer()).dereference()
                    if has(whole.type, "records_"):
                        self.show_processor(runtime, whole)
                    elif has(whole.type, "flights_"):
                        self.show_reader(runtime, whole)

    @staticmethod
    def show_processor(runtime, processor):
        lines = []
        for record in items(processor["records_"]):
            stage = word_of(record["at"])
            if stage == "over" or stage == "unused":
                continue
            number = int(record["number"])
            state = stage.replace("_", " ")
            if stage == "held":
                before = [f"'{text(p['name'])}'" for p in Outside.predecessors(record)]
                state += f" after {', '.join(before)}" if before else " after another processor's"
            if stage == "in_flight" and not record["native"]:
                state += " on the cores"
            if word_of(record["how"]) != "open":
                state += f", {word_of(record['how']).replace('_', ' ')}"
            task = runtime.title(int(record["task"]["value"]))
            lines.append((number, f"    '{text(record['name'])}' of task {task}: {state}"))
        print(f"  processor '{text(processor['name_'])}': {len(lines)} open submissions")
        for _, line in sorted(lines):
            print(line)

    @staticmethod
    def predecessors(record):
        for i in range(int(record["predecessor_count"])):
            if int(record["predecessors"][i]) != 0:
                yield record["predecessors"][i].dereference()

    @staticmethod
    def show_reader(runtime, reader):
        reads = [(r.dereference(), "queued") for r in items(reader["queue_"]["all_"])]
        for i in range(int(reader["flight_count_"])):
            flight = reader["flights_"][i]
            reads += [(r, "in flight") for r in list_of(flight["first"], "next")]
        print(f"  files '{text(reader['name_'])}': {len(reads)} open reads")
        for read, state in sorted(reads, key=lambda r: int(r[0]["number"])):
            path = text(read["of"]["path_"]["_M_dataplus"]["_M_p"])
            task = runtime.title(int(read["task"]["value"]))
            print(f"    '{text(read['options']['name'])}' of task {task}: {state}, "
                  f"{int(read['bytes'])} bytes at {int(read['offset'])} of {path}")


Braid()
Tasks()
Waits()
Why()
Seats()
Outside()
