"""What `braid export` writes, read by others: protoc with a schema of our own, and Python's JSON.
Everything is counted against the capture, which is read here once more, independently."""
import base64
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

if not shutil.which("protoc"):
    print("protoc is not installed")
    sys.exit(77)

BRAID, MAKE_CAPTURES = sys.argv[1:3]
SAMPLE = sys.argv[3] if len(sys.argv) > 3 else None  # of timers
SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
SCHEMA = pathlib.Path(__file__).parent / "export" / "trace.proto"

KINDS = {1: "spawned", 2: "edge", 4: "started", 5: "ended", 7: "cancelled", 8: "wait_begin",
         9: "wait_end", 10: "stolen", 11: "searching", 12: "parked", 13: "unparked",
         14: "event_set", 15: "event_taken", 16: "acquired", 17: "released", 18: "forked",
         19: "joined", 20: "job_started", 21: "job_ended", 32: "frame_begin", 33: "frame_end",
         34: "scope_begin", 35: "scope_end", 36: "counter", 37: "switched_out",
         38: "switched_in", 39: "switches", 40: "deferred", 41: "settled",
         # Each piece of a task that was suspended is a slice.
         42: "ended", 43: "started"}
# Which kind of slice begins and ends with them.
BEGINS = {"started": "ended", "wait_begin": "wait_end", "job_started": "job_ended",
          "scope_begin": "scope_end", "parked": "unparked"}
INSTANTS = ("cancelled", "event_set", "event_taken", "acquired", "released", "forked", "joined",
            "deferred", "settled")


def check(condition, message):
    if not condition:
        sys.exit(message)


def braid(*arguments, **options):
    return subprocess.run([BRAID, *map(str, arguments)], capture_output=True, text=True,
                          timeout=HANG_LIMIT_S, check=False, **options)


def read_capture(path):
    """Lanes of (kind, time, task, other, aux), and how many lanes lost records."""
    data = path.read_bytes()
    at, lanes, dropped = 32, [], Counter()
    while at < len(data):
        tag, size = data[at:at + 4], struct.unpack_from("<I", data, at + 4)[0]
        body = data[at + 8:at + 8 + size]
        if tag == b"LANE":
            lanes.append([])
        if tag == b"EVTS":
            lane, count, lost = struct.unpack_from("<IIQ", body)
            dropped[lane] += lost
            for i in range(count):
                time, task, other, aux, _, kind, _ = struct.unpack_from("<QQQIHBB", body, 16 + 32 * i)
                lanes[lane].append((KINDS.get(kind, "other"), time, task, other, aux))
        at += 8 + size
    return lanes, sum(1 for lost in dropped.values() if lost)


def expectation(path):
    """What must be in an export of it: slices of tasks by begin, slices, instants, counters,
    frames, arrows and times off a core."""
    lanes, lost_lanes = read_capture(path)
    want = {"tasks": Counter(), "slices": 0, "instants": lost_lanes, "counters": 0, "frames": 0,
            "off": 0}
    first, last, edges, told, frames = {}, {}, set(), [], set()
    for number, lane in enumerate(lanes):
        stack, away = [], False
        for kind, time, task, other, aux in lane:
            key = {"started": task, "ended": task, "wait_begin": task, "wait_end": task,
                   "job_started": other, "job_ended": other, "scope_begin": aux,
                   "scope_end": aux}.get(kind, 0)
            new = kind in BEGINS or kind == "searching"
            if kind in BEGINS:
                stack.append((BEGINS[kind], key))
            elif kind in BEGINS.values():
                # Those on top of the one that ends have lost their ends.
                new = (kind, key) not in stack
                while not new and stack.pop() != (kind, key):
                    pass
            want["slices"] += new
            if new and kind in ("started", "ended"):
                want["tasks"][task] += 1
                first[task] = min(first.get(task, time), time)
            if kind == "ended":
                last[task] = max(last.get(task, time), time)
            want["instants"] += kind in INSTANTS
            told += [(kind, task)] if kind in ("spawned", "stolen") else []
            want["counters"] += kind == "counter"
            want["counters"] += 2 * (kind == "switches")
            edges |= {(other, task)} if kind == "edge" else set()
            frames |= {(other, aux)} if kind.startswith("frame") else set()
            want["off"] += kind == "switched_out" or (kind == "switched_in" and not away)
            away = away if kind not in ("switched_out", "switched_in") else kind == "switched_out"
    want["instants"] += sum(1 for _, task in told if task not in first)
    want["frames"] = len(frames)
    want["arrows"] = sum(1 for a, b in edges
                         if a != b and a in last and b in first and last[a] <= first[b])
    return want


# --- Perfetto

def decode(path):
    """The packets, as dictionaries of lists, from the words of protoc."""
    done = subprocess.run(["protoc", f"--proto_path={SCHEMA.parent}", "--decode=Trace", SCHEMA.name],
                          stdin=path.open("rb"), capture_output=True, timeout=HANG_LIMIT_S, check=False)
    check(done.returncode == 0, f"{path}: protoc: {done.stderr.decode(errors='replace')[:400]}")
    whole = {}
    open_messages = [whole]
    for line in done.stdout.decode().splitlines():
        words = line.strip()
        if words == "}":
            open_messages.pop()
            continue
        name = re.match(r"\w+", words).group(0)
        check(not name.isdigit(), f"{path}: the schema does not know field {name}")
        if words.endswith("{"):
            inner = {}
            open_messages[-1].setdefault(name, []).append(inner)
            open_messages.append(inner)
        else:
            open_messages[-1].setdefault(name, []).append(words.split(": ", 1)[1])
    return whole.get("packet", [])


def one(message, name, otherwise=None):
    found = message.get(name, [otherwise])
    check(len(found) == 1, f"{name} is there {len(found)} times")
    return found[0]


class perfetto_trace:
    """Follows the packets as Perfetto does."""

    def __init__(self, path):
        self.path = path
        self.tracks, self.names, self.details, self.sources = {}, {}, {}, {}
        self.counters = set()
        self.open = defaultdict(list)
        self.begun, self.flows = [], defaultdict(list)
        self.kinds, self.states = Counter(), defaultdict(list)
        self.instants = []
        last = 0
        for packet in decode(path):
            check(one(packet, "trusted_packet_sequence_id") == "1", "no sequence")
            self.learn(packet)
            time = int(one(packet, "timestamp", last))
            check(time >= last, f"{path}: times fall from {last} to {time}")
            last = time
            for event in packet.get("track_event", []):
                self.event(time, event)
            for state in packet.get("generic_kernel_task_state_event", []):
                self.states[one(state, "tid")].append(
                    (time, one(state, "state"), one(state, "cpu")))
        left = {track: slices for track, slices in self.open.items() if slices}
        check(not left, f"{path}: left open: {left}")
        # Names that were broken may look the same.
        if path.stem != "odd_names":
            check(len(self.names) == len(set(self.names.values())), f"{path}: a name is said twice")

    def learn(self, packet):
        for interned in packet.get("interned_data", []):
            for field, known in (("event_names", self.names), ("source_locations", self.sources),
                                 ("debug_annotation_names", self.details)):
                for entry in interned.get(field, []):
                    number = one(entry, "iid")
                    check(number not in known, f"{field} {number} is said twice")
                    known[number] = one(entry, "name") if field != "source_locations" else entry
        for track in packet.get("track_descriptor", []):
            number = one(track, "uuid")
            check(number not in self.tracks, f"row {number} is described twice")
            check(bool(self.tracks) or "process" in track, "the first row is that of the process")
            if "process" not in track:
                check(one(track, "parent_uuid") in self.tracks, "a row without its process")
            self.tracks[number] = one(track, "name")
            self.counters |= {number} if "counter" in track else set()

    def event(self, time, event):
        track, kind = one(event, "track_uuid"), one(event, "type")
        check(track in self.tracks, f"{self.path}: an event of row {track}, which is not there")
        check((kind == "TYPE_COUNTER") == (track in self.counters),
              f"{self.path}: {kind} on row {track}")
        self.kinds[kind] += 1
        notes = {}
        for note in event.get("debug_annotations", []):
            value = note.get("uint_value") or note.get("string_value")
            notes[self.details[one(note, "name_iid")]] = value[0]
        if kind == "TYPE_SLICE_BEGIN":
            name = self.names[one(event, "name_iid")]
            self.begun.append((track, name, time, notes, event))
            self.open[track].append(len(self.begun) - 1)
        if kind == "TYPE_SLICE_END":
            check(self.open[track], f"{self.path}: an end without a begin on {track} at {time}")
            ended = self.open[track].pop()
        if kind == "TYPE_INSTANT":
            self.instants.append((self.names[one(event, "name_iid")], time, notes))
        if "source_location_iid" in event:
            check(one(event, "source_location_iid") in self.sources, "a place that is not there")
        for number in event.get("flow_ids", []):
            check(kind == "TYPE_SLICE_END", "an arrow leaves at an end")
            self.flows[number].append(("leaves", time, self.begun[ended]))
        for number in event.get("terminating_flow_ids", []):
            check(kind == "TYPE_SLICE_BEGIN", "an arrow arrives at a begin")
            self.flows[number].append(("arrives", time, self.begun[-1]))


def check_perfetto(path, want):
    trace = perfetto_trace(path)
    of = defaultdict(list)
    for slice_ in trace.begun:
        row = int(slice_[0]) >> 32
        of[{2: "slices", 3: "off", 4: "frames"}[row]].append(slice_)
    compare(path, "slices", len(of["slices"]), want["slices"])
    compare(path, "frames", len(of["frames"]), want["frames"])
    # Tasks are what knows when they were spawned, or says at least their number and no more.
    tasks = Counter()
    for _, name, _, notes, _ in of["slices"]:
        other = name.startswith(('"wait', '"second part')) or '"join"' in notes
        if '"task"' in notes and not other:
            tasks[int(notes['"task"'])] += 1
    compare(path, "tasks", tasks, want["tasks"])
    compare(path, "instants", trace.kinds["TYPE_INSTANT"], want["instants"])
    compare(path, "counters", trace.kinds["TYPE_COUNTER"], want["counters"])
    if not trace.states:
        compare(path, "times off a core", len(of["off"]), want["off"])
    compare(path, "arrows", len(trace.flows), want["arrows"])
    for number, ends in trace.flows.items():
        check([way for way, _, _ in ends] == ["leaves", "arrives"], f"{path}: arrow {number}: {ends}")
    for thread, states in trace.states.items():
        for before, after in zip(states, states[1:]):
            check(before[1] != after[1] or after[1] != "TASK_STATE_RUNNING",
                  f"{path}: thread {thread} runs twice in a row")
        check(all(core is not None for _, _, core in states), f"{path}: a state without a core")
    return trace


def compare(path, what, found, wanted):
    check(found == wanted, f"{path}: {what}: {str(found)[:300]} instead of {str(wanted)[:300]}")


# --- Chrome

def check_chrome(path, want):
    document = json.loads(path.read_text(encoding="utf-8"))
    rows, open_, last = {}, defaultdict(list), 0
    count, tasks, arrows = Counter(), Counter(), defaultdict(list)
    for event in document["traceEvents"]:
        phase, row = event["ph"], event["tid"]
        if phase == "M":
            if event["name"] == "thread_name":
                rows[row] = event["args"]["name"]
            continue
        check(row in rows, f"{path}: row {row} has no name")
        check(event["ts"] >= last, f"{path}: times fall from {last} to {event['ts']}")
        last = event["ts"]
        if phase == "B":
            notes = event.get("args", {})
            open_[row].append(event)
            kind = "slices"
            if rows[row].startswith("frames"):
                kind = "frames"
            if rows[row].endswith(", off its core"):
                kind = "off"
            count[kind] += 1
            other = event["name"].startswith(("wait", "second part")) or "join" in notes
            if kind == "slices" and "task" in notes and not other:
                tasks[int(notes["task"])] += 1
        elif phase == "E":
            check(open_[row], f"{path}: an end without a begin at {last}")
            open_[row].pop()
        elif phase in "sf":
            check(open_[row], f"{path}: an arrow that is bound to nothing")
            arrows[event["id"]].append(phase)
        else:
            check(phase in "iC", f"{path}: what is {phase}?")
            values = event.get("args", {}).values()
            check(phase == "i" or all(isinstance(v, (int, float)) for v in values),
                  f"{path}: a counter counts {values}")
            not_said = phase == "i" and event["name"].endswith("is not a finite number")
            count["counters" if phase == "C" or not_said else "instants"] += (
                2 if "voluntary" in event.get("args", {}) else 1)
    check(not any(open_.values()), f"{path}: left open")
    for what in ("slices", "frames", "off", "instants", "counters"):
        compare(path, what, count[what], want[what])
    compare(path, "tasks", tasks, want["tasks"])
    compare(path, "arrows", len(arrows), want["arrows"])
    check(all(ends == ["s", "f"] for ends in arrows.values()), f"{path}: arrows do not pair up")
    return document


# --- The command

def refused(sentence, *arguments, **options):
    done = braid("export", *arguments, **options)
    check(done.returncode == 2, f"{arguments}: exit {done.returncode}: {done.stderr}")
    check(re.fullmatch(f"braid: {sentence}\n", done.stderr), f"{arguments}: '{done.stderr}'")


def check_refusals(folder):
    capture, out = folder / "many.braid", folder / "out"
    before = capture.read_bytes()
    refused(r"what is to be written\? Say --perfetto OUT or --chrome OUT( or --html OUT)?\.", capture)
    refused(r"'.*' cannot be written: it is the capture itself\.", capture, "--chrome", capture)
    link = folder / "link.braid"
    link.symlink_to(capture)
    refused(r"'.*' cannot be written: it is the capture itself\.", capture, "--perfetto", link)
    refused(r"'.*' cannot be written: it is asked for twice\.", capture, "--perfetto", out,
            "--chrome", folder / "." / "x" / ".." / "out")
    check(capture.read_bytes() == before, "the capture was written over")
    refused("cannot write '.*': No such file or directory.", capture, "--chrome",
            folder / "none" / "out")
    refused("cannot read '.*': No such file or directory.", folder / "none", "--chrome", out)
    refused(".*this is not a capture.", SCHEMA, "--chrome", out)
    check(not out.exists(), "a file is left of what was refused")
    refused("cannot write '/dev/full': No space left on device.", capture, "--chrome", "/dev/full")
    check(os.path.exists("/dev/full"), "/dev/full is gone")

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    # Python ignores the signal that comes with the limit, and so does what it starts.
    refused("cannot write '.*': File too large.", capture, "--perfetto", out,
            preexec_fn=small_files, restore_signals=False)
    check(not out.exists(), "half a file is left where no more could be written")


def check_names(trace, document):
    """Of the capture odd_names: what was whole is the same, what was broken is still a name."""
    names = {event["name"] for event in document["traceEvents"] if event["ph"] == "B"}
    for name in ('a "quote"', "two\nlines", "back\\slash", "späße", "</script><b>\t", "task",
                 "\ufffd( broken", "cut \ufffd"):
        check(name in names, f"no slice has the name {name!r}: {names}")
    # protoc writes bytes that are no ASCII as octal numbers.
    raw = [name[1:-1].encode().decode("unicode_escape").encode("latin-1")
           for name in trace.names.values()]
    decoded = {text.decode("utf-8") for text in raw}
    check(names <= decoded, f"lost: {names - decoded}")


def check_page(capture, page):
    """The viewer with the capture in it: its records are those of the file, whatever their names."""
    if "--html" not in braid("export", "--help").stdout:
        return
    done = braid("export", capture, "--html", page)
    check(done.returncode == 0, f"{capture}: exit {done.returncode}: {done.stderr}")
    text = page.read_text()
    inside = re.search(r'<script type="application/octet-stream;base64" id="braid-capture">'
                       r'([A-Za-z0-9+/]*=*)</script>\n'
                       r'<script type="application/json" id="braid-analysis">([^<]*)</script>', text)
    check(inside, f"{page}: no capture, or no analysis in it")
    copy = page.with_suffix(".copy.braid")
    copy.write_bytes(base64.b64decode(inside[1], validate=True))
    check(expectation(copy) == expectation(capture), f"{page}: another capture")
    check(json.loads(inside[2])["version"] == 1, "the analysis")


def check_sample(folder):
    """A program whose main thread waits for timers: each wait ends, and the report names the one
    that was waited for."""
    capture, out = folder / "sample.capture", folder / "sample.pftrace"
    text = next(SAMPLES.glob("*_timers_and_messages.cpp")).read_text().splitlines()
    first = next(i for i, words in enumerate(text, 1) if "braid::timer sensor(" in words)
    last = next(i for i, words in enumerate(text, 1) if i > first and words.endswith(");"))
    # Without a core for ten ticks the first one counts for all of them, and nobody waits for a timer: that run
    # shows nothing.
    for _ in range(20):
        subprocess.run([SAMPLE], check=True, timeout=HANG_LIMIT_S, stdout=subprocess.DEVNULL,
                       env=os.environ | {"BRAID_CAPTURE": str(capture)})
        done = braid("report", capture)
        named = re.match(r"There are no frames\. The longest wait was one of 'main' outside of tasks, .*"
                         r"for 'sensor' \(\d+_timers_and_messages\.cpp:(\d+)\), which somebody outside",
                         done.stdout)
        if named:
            break
    # Compilers differ in which line of a declaration is the place of a braced option.
    check(named and first <= int(named[1]) <= last,
          f"the report does not name the timer: {done.stdout}{done.stderr}")
    done = braid("export", capture, "--perfetto", out)
    check(done.returncode == 0, f"{capture}: exit {done.returncode}: {done.stderr}")
    trace = check_perfetto(out, expectation(capture))
    began, ended = {}, {}
    for name, time, notes in trace.instants:
        for known, words in ((began, "waits for "), (ended, "settled: ")):
            if not name[1:-1].startswith(words):
                continue
            check(notes['"task"'] not in known, f"{name} of {notes} is said twice")
            known[notes['"task"']] = (name[1:-1].removeprefix(words), time)
    check(Counter(of for of, _ in began.values())["too late"] == 1, f"{began}")
    check(Counter(of for of, _ in began.values())["sensor"] >= 2, f"{began}")
    check(began.keys() == ended.keys(), f"deferred and not settled: {began.keys() ^ ended.keys()}")
    for task, (of, time) in began.items():
        check(ended[task][0] == of and ended[task][1] >= time, f"{began[task]}, {ended[task]}")


with tempfile.TemporaryDirectory(prefix="braid-export-") as place:
    here = pathlib.Path(place)
    subprocess.run([MAKE_CAPTURES, here], check=True, timeout=HANG_LIMIT_S)
    captures = sorted(here.glob("*.braid"))
    check(len(captures) == 11, f"{len(captures)} captures")
    traces, documents = {}, {}
    for path in captures:
        perfetto, chrome = path.with_suffix(".pftrace"), path.with_suffix(".json")
        done = braid("export", path, "--perfetto", perfetto, "--chrome", chrome)
        check(done.returncode == 0, f"{path}: exit {done.returncode}: {done.stderr}")
        wanted = expectation(path)
        check_page(path, path.with_suffix(".html"))
        traces[path.stem] = check_perfetto(perfetto, wanted)
        documents[path.stem] = check_chrome(chrome, wanted)
    check(len(traces["many"].flows) > 5000, "no arrows to look at")
    states = [state for _, state, _ in traces["switched"].states["4711"]]
    check(states == ["TASK_STATE_RUNNING", "TASK_STATE_RUNNABLE", "TASK_STATE_RUNNING",
                     "TASK_STATE_INTERRUPTIBLE_SLEEP"], f"states: {states}")
    check(traces["switched"].states["4712"][1][1] == "TASK_STATE_INTERRUPTIBLE_SLEEP", "sleeps")
    check(not traces["switched_somewhere"].states, "states of threads on no known core")
    check_names(traces["odd_names"], documents["odd_names"])
    check_refusals(here)
    if SAMPLE:
        check_sample(here)
    print(f"{len(captures)} captures, both formats, nothing lost")
