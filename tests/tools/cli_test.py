"""The program braid on captures with something planted: its words, its JSON, its exit codes."""
import atexit
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

BRAID, WRITE_SCENES = sys.argv[1:3]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="braid-cli-"))
atexit.register(shutil.rmtree, FOLDER)


def run(*arguments):
    return subprocess.run([BRAID, *map(str, arguments)], capture_output=True, text=True,
                          timeout=HANG_LIMIT_S, check=False)


def check(condition, message):
    if not condition:
        sys.exit(message)


def output(*arguments):
    done = run(*arguments)
    check(done.returncode == 0, f"{arguments}: exit {done.returncode}\n{done.stderr}")
    check(done.stderr == "", f"{arguments}: says {done.stderr}")
    return done.stdout


def expect_refusal(word, *arguments):
    done = run(*arguments)
    lines = done.stderr.strip().splitlines()
    check(done.returncode == 2, f"{arguments}: exit {done.returncode}, not 2\n{done.stderr}")
    check(len(lines) == 1 and lines[0].endswith("."), f"{arguments}: not one sentence: {lines}")
    check(word in lines[0], f"{arguments}: '{word}' is not in: {lines[0]}")
    check(done.stdout == "", f"{arguments}: printed {done.stdout}")


def scene(name):
    return FOLDER / f"{name}.braid"


def report_as_text():
    text = output("report", scene("affinity"))
    check(text.startswith("Frame 37 took 24.1 ms, 8.4 ms more than it needed: 'skin' (skin.cpp:12)"
                          " waited 8.4 ms for its thread"), f"no diagnosis first: {text}")
    for word in ("p50", "worst", "critical path", "'draw' (draw.cpp:7)", "parked", "count"):
        check(word in text, f"no '{word}' in {text}")
    check(output("report", scene("affinity"), "--worst") == text, "--worst is another frame")
    check(output("report", scene("affinity"), "--frame", 37) == text, "--frame is another frame")
    healthy = output("report", scene("healthy"))
    check(healthy.startswith("Frame 37 took 7.0 ms, and no change would shorten it"), healthy)


def report_as_json():
    report = json.loads(output("report", scene("affinity"), "--json"))
    check(sorted(report) == ["frames", "types", "version", "what_if"], f"{sorted(report)}")
    check(report["version"] == 1, "another version")
    (frame,) = report["frames"]
    check((frame["number"], frame["begin"], frame["end"]) == (37, 0, 24_100_000), f"{frame}")
    found = frame["diagnosis"]
    check(found["cause"] == "affinity" and found["task"] == "skin" and found["line"] == 12
          and found["file"] == "game/skin.cpp" and found["type"] == 1
          and 8_300_000 < found["save_ns"] < 8_500_000, f"{found}")
    check(output("report", scene("affinity")).startswith(found["sentence"]), "other words")
    check(frame["sentence"] == found["sentence"], f"two sentences: {frame}")
    check(found["causes"] == [{"cause": "affinity", "task": "skin"}], f"{found['causes']}")
    steps = frame["critical_path"]
    check([s["task"] for s in steps] == ["0", "2", "3", "0"], f"{steps}")
    check(steps[1]["waits"] == {"dependency": 0, "external": 0, "queue": 0, "affinity": 8_400_000,
                                "preempted": 0}, f"{steps[1]}")
    whole = sum(s["end"] - s["begin"] + sum(s["waits"].values()) for s in steps)
    check(whole == frame["end"], f"the path has {whole} ns")
    check(dict(frame["slack"])["2"] == 0, f"{frame['slack']}")
    skin = next(t for t in report["types"] if t["name"] == "skin")
    check(skin == {"type": 1, "name": "skin", "count": 1, "total_ns": 11_595_000,
                   "p50_ns": 11_595_000, "p95_ns": 11_595_000, "max_ns": 11_595_000}, f"{skin}")
    cores = report["what_if"]["cores"]
    check([c["cores"] for c in cores] == [1, 2, 4, 8, 16], f"{cores}")
    check(all(c["p50_ns"] <= c["p95_ns"] for c in cores), f"{cores}")
    faster = report["what_if"]["faster"]
    check({f["type"] for f in faster} == {1, 2, 3} and all(f["times"] == 2 for f in faster),
          f"{faster}")
    one = json.loads(output("report", scene("affinity"), "--json", "--frame", "37"))
    check(one["frames"] == report["frames"], "one frame is another")
    healthy = json.loads(output("report", scene("healthy"), "--json"))
    check(healthy["frames"][0]["diagnosis"] is None, "a healthy frame has a diagnosis")
    first = output("report", scene("healthy")).splitlines()[0]
    check(healthy["frames"][0]["sentence"] == first, f"the page would say other words: {healthy}")


def what_if():
    text = output("what-if", scene("fine"), "--cores", "1,2,4")
    rows = [line.split() for line in text.splitlines()[1:4]]
    check([r[0] for r in rows] == ["1", "2", "4"], text)
    times = [float(r[2]) for r in rows]
    check(times[0] > 1.9 * times[1] > 3.6 * times[2], f"{times}")
    check("ignores caches, memory bandwidth" in text and "measured" in text, text)
    plain = float(output("what-if", scene("straggler"), "--cores", "3").split()[10])
    faster = float(output("what-if", scene("straggler"), "--cores", "3", "--faster",
                          "skin=2").split()[10])
    check(4 < plain - faster < 5, f"{plain} and {faster}: the straggler alone takes 4 ms less")
    slow = float(output("what-if", scene("straggler"), "--cores", "3", "--slow-cores", "3",
                        "--slow-factor", "2").split()[10])
    check(abs(slow / plain - 2) < 0.02, f"{plain} and {slow}: not twice")


def others():
    text = output("diff", scene("healthy"), scene("straggler"))
    check(text.startswith("A frame takes 9.0 ms at the median instead of 7.0 ms: 'skin'"), text)
    check(output("diff", scene("healthy"), scene("healthy")).startswith("No regression"), "diff")
    text = output("stats", scene("healthy"))
    for word in ("1 frames", "'skin' (skin.cpp:12)", "parked", "lane 3"):
        check(word in text, f"no '{word}' in {text}")
    check("give or take" not in text, f"threads have one clock: {text}")
    text = output("stats", scene("device"))
    check("runs of a processor, times give or take 5012 ns\n" in text, f"no error of a clock: {text}")


def suspended():
    """A task that was suspended three times is one task, of four pieces, with what it waited for."""
    name = scene("suspended")
    for command in ("stats", "report"):
        (row,) = [line.split() for line in output(command, name).splitlines()
                  if line.endswith("'skin' (skin.cpp:12)") and line.split()[0] == "1"]
        check(row[1] == "0.784", f"{command}: not the time of all its pieces: {row}")
    text = output("report", name)
    check(text.startswith("Frame 37 took 5.5 ms, 3.8 ms more than it needed: it waited 3.8 ms for "
                          "'nap' (nap.cpp:8), which somebody outside ends"), text)
    (frame,) = json.loads(output("report", name, "--json"))["frames"]
    external = [s["waits"]["external"] for s in frame["critical_path"] if s["task"] == "1"]
    check(external == [0, 1_990_000, 0, 1_790_000], f"{external}")
    output("export", name, "--chrome", FOLDER / "suspended.json")
    events = json.loads((FOLDER / "suspended.json").read_text())["traceEvents"]
    pieces = [(e["ts"], e["tid"]) for e in events if e["ph"] == "B" and e["name"] == "skin"]
    check([at for at, _ in pieces] == [10, 2110, 3110, 5010], f"{pieces}")
    check(len({row for _, row in pieces}) == 3, f"{pieces}")


def refusals():
    name = scene("affinity")
    expect_refusal("frame 3 ", "report", name, "--frame", 3)
    expect_refusal("frame", "report", name, "--frame", "first")
    expect_refusal("--worst", "report", name, "--frame", 37, "--worst")
    expect_refusal("FILE", "report")
    expect_refusal("no whole frame", "report", scene("frameless"))
    expect_refusal("no whole frame", "report", "--json", scene("frameless"))
    expect_refusal("no whole frame", "diff", name, scene("frameless"))
    expect_refusal("no whole frame", "what-if", scene("frameless"))
    expect_refusal("'skn'", "what-if", name, "--faster", "skn=2")
    for wrong in ("skin", "skin=", "skin=0", "skin=fast", "skin=2x", "skin=nan"):
        expect_refusal("skin=2", "what-if", name, "--faster", wrong)
    expect_refusal("1 to 1024", "what-if", name, "--cores", 0)
    expect_refusal("1 to 1024", "what-if", name, "--cores", "4,2000")
    expect_refusal("cores", "what-if", name, "--cores", "two")
    expect_refusal("above 0", "what-if", name, "--slow-cores", 1, "--slow-factor", 0)
    for words in (["bogus"], ["bogus", name], ["bogus", "--help"], ["Report", name], [""]):
        expect_refusal(f"no command '{words[0]}'", *words)
        for command in ("report", "stats", "diff", "what-if", "export"):
            expect_refusal(command, *words)
    expect_refusal("no command was said; there are export", *[])
    for option in ("--bogus", "-x", "--frame", "-"):
        expect_refusal(f"'{option}' is no option", option, "report", name)
    for command in (["report"], ["what-if"], ["stats"], ["diff", name]):
        expect_refusal("missing", *command, FOLDER / "missing")
        expect_refusal("garbage", *command, FOLDER / "garbage")


done = subprocess.run([WRITE_SCENES, FOLDER], check=False, timeout=HANG_LIMIT_S)
check(done.returncode == 0, "no captures to look at")
(FOLDER / "garbage").write_bytes(b"BRAIDCAP" + b"?" * 100)
for part in (report_as_text, report_as_json, what_if, others, suspended, refusals):
    part()
