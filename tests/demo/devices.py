"""Whatever processor skins the crowd and bins the lights, the hash is that of the cores; a bit that a processor gets
wrong changes it, so that the picture is made of what it wrote."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

from arena_runs import HANG_LIMIT_S, check, has_vulkan, run, scratch_folder, small_run

# CMake says whether this was built with Vulkan; then nothing of it is left out.
with_vulkan = "--vulkan" in sys.argv
check(has_vulkan() == with_vulkan, f"built with Vulkan: {with_vulkan}; the arena has it: {has_vulkan()}")
if not with_vulkan:
    print("Built without Vulkan, which is left out: scripts/setup.sh vulkan")
tool = next((a for a in sys.argv[2:] if a != "--vulkan"), None)

reference, _ = small_run()
fake = "fake:seed=7,loss=0.2,oom=0.1,hang=0.05"
dying = "fake:seed=7,loss=1"


def until_none_hangs(kind, run_once):
    """What run_once() has come to. Its first part is the summary of a run. On a busy machine a processor may take longer
    than the two seconds after which it counts as lost; then there is another run. Where each is lost, the checks of
    losses fail."""
    for _ in range(5):
        found = run_once()
        if kind in (fake, dying) or found[0]["device"]["losses"] == 0:
            break
    return found


kinds = ["cpu", "local_store", "local_store:strict", fake, dying] + (["vulkan"] if with_vulkan else [])
for kind in kinds:
    for more in ([], ["--workers", "0"], ["--pipeline", "2"]):
        summary, _ = until_none_hangs(kind, lambda: small_run("--device", kind, *more))
        seen = summary["device"]
        frames = summary["frames"]
        check(summary["hash_parallel"] == reference["hash_serial"], f"{kind} {more}: another hash")
        check(summary["waiting"]["outside"] == 0, f"{kind} {more}: a submission is still open")
        # What was lost with imported memory failed, and was submitted again.
        check(seen["completed"] + seen["on_cores"] == 2 * frames, f"{kind} {more}: {seen}")
        check(seen["submissions"] == 2 * frames + seen["failed"], f"{kind} {more}: {seen}")
        check(seen["failed"] == seen["again"] and seen["rerun"] == 0, f"{kind} {more}: {seen}")
        # A local store has no other memory than its own; all others find the arrays where they lie.
        moved = seen["bytes_in"] + seen["bytes_out"]
        check(seen["bytes_copied"] == (moved if kind.startswith("local_store") else 0),
              f"{kind} {more}: {seen}")
        if kind == fake:
            # By the seed the first submission is lost. How many of the others are depends on what is in flight with
            # one that is lost. Each loss takes one with it or more.
            check(0 < seen["losses"] <= seen["failed"], f"{kind} {more}: {seen}")
        elif kind == dying:
            # All that it gets is lost, so it dies with the third loss and the cores do the rest. At the next frame it
            # is tried again. Frames that overlap may share a life of it, which the first and the last one do not.
            check(seen["completed"] == 0 and seen["dead"], f"{kind} {more}: {seen}")
            lives = 2 if "--pipeline" in more else frames
            check(3 * lives <= seen["losses"] <= seen["failed"], f"{kind} {more}: {seen}")
        else:
            check(seen["losses"] == 0 and seen["failed"] == 0, f"{kind} {more}: {seen}")
            check(seen["on_cores"] == 0, f"{kind} {more} ran on the cores: {seen}")
        check(0 < seen["latency_p50_us"] <= seen["latency_p99_us"], f"{kind} {more}: {seen}")

# ---- what the tools say of a capture -----------------------------------------------------------

def braid(*arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, timeout=HANG_LIMIT_S,
                          check=False)
    check(done.returncode == 0, f"braid {arguments}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def path_of(report):
    """The names in the table that ends with the critical path, of which it shows 40."""
    lines = report.splitlines()
    head = next(i for i, line in enumerate(lines) if line.endswith("  critical path"))
    steps = lines[head + 1:lines.index("", head)]
    return [re.search(r"'(.*)'|more$|outside of tasks$", step).group(1) for step in steps]


def median_ms(capture, *question):
    """Of the frames on two cores, as `what-if` has it."""
    return float(re.search(r"^ +2 +0 +([\d.]+) ", braid("what-if", capture, "--cores", "2", *question),
                           re.MULTILINE).group(1))


def runs_in_perfetto(trace, lanes):
    """Slices on the rows of these lanes that are a kernel's, as protoc decodes them."""
    schema = pathlib.Path(__file__).parents[1] / "tools/export/trace.proto"
    done = subprocess.run(["protoc", f"--proto_path={schema.parent}", "--decode=Trace", schema.name],
                          stdin=trace.open("rb"), capture_output=True, timeout=HANG_LIMIT_S, check=False)
    check(done.returncode == 0, f"protoc: {done.stderr.decode(errors='replace')[:400]}")
    text = done.stdout.decode()
    rows = re.findall(r'  track_descriptor \{\n    uuid: (\d+)\n    name: "(.*)"', text)
    rows = {number for number, name in rows if name in lanes}
    check(len(rows) >= len(lanes), f"rows {rows} for the lanes {lanes}")
    names = dict(re.findall(r'    event_names \{\n      iid: (\d+)\n      name: "(.*)"', text))
    begun = [event for event in re.findall(r"  track_event \{\n(.*?)\n  \}", text, re.DOTALL)
             if "type: TYPE_SLICE_BEGIN" in event
             and re.search(r"track_uuid: (\d+)", event).group(1) in rows]
    return sum(names[re.search(r"name_iid: (\d+)\n    track_uuid", event).group(1)]
               in ("skin", "light binning") for event in begun)


def capture_of(kind):
    """The summary of a run, and the capture of it."""
    folder = scratch_folder()
    file = folder / "device.braid"
    # More characters than elsewhere, so that a kernel takes longer than the task that submits it; no more
    # than one part of most stages has, so that the way of a frame fits the table.
    done = run("--frames", "8", "--characters", "250", "--width", "640", "--height", "360",
               "--out", str(folder), "--device", kind, "--capture", str(file))
    check(done.returncode == 0, f"{kind}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads((folder / "summary.json").read_text()), file


def paths_of_frames(summary, file):
    return [path_of(braid("report", file, *which))
            for which in (["--worst"], *(["--frame", str(n)] for n in range(1, summary["frames"] + 1)))]


def check_capture(kind):
    # Drawing waits for skinning, so the way of a frame leads through the kernel, unless the task that submits it was off
    # its core until the kernel had ended, other work that drawing waits for came later, or the table ends before. Where
    # a busy machine has done that to all frames there is another run.
    for _ in range(5):
        summary, file = until_none_hangs(kind, lambda: capture_of(kind))
        paths = paths_of_frames(summary, file)
        if any("skin" in path for path in paths):
            break
    else:
        check(False, f"{kind}: {paths}")

    submissions = summary["device"]["submissions"]
    found = re.findall(r"^  (.*?) +\d+ records, .*?, (\d+) runs of a processor(?:, times give or take (\d+) ns)?$",
                       braid("stats", file), re.MULTILINE)
    lanes = {name: runs for name, runs, _ in found}
    # Only a graphics processor has a clock of its own, which is known so well and not better.
    check(all((error != "") == (kind == "vulkan") for _, _, error in found), f"{kind}: {found}")
    check(sum(int(runs) for _, runs, _ in found) == submissions, f"{kind}: {found}, {summary['device']}")

    # A kernel that takes a million times as long takes minutes, beside which all else of a frame is nothing.
    usual, faster = median_ms(file), median_ms(file, "--faster", "skin=100")
    slow, slower = median_ms(file, "--faster", "skin=1e-5"), median_ms(file, "--faster", "skin=1e-6")
    check(max(usual, faster) < slow and 5 * slow < slower < 15 * slow,
          f"{kind}: skin=100: {faster} ms; {usual} ms; skin=1e-5: {slow} ms; skin=1e-6: {slower} ms")

    trace = file.with_suffix(".pftrace")
    braid("export", file, "--perfetto", trace)
    check(trace.stat().st_size > 0, f"{kind}: an empty trace")
    if shutil.which("protoc"):
        found = runs_in_perfetto(trace, set(lanes))
        check(found == submissions, f"{kind}: {found} runs in the trace, {submissions} submissions")


if tool:
    for kind in ["local_store", "vulkan" if with_vulkan else "fake"]:
        check_capture(kind)

# ---- what goes wrong ---------------------------------------------------------------------------

done = run("--frames", "8", "--characters", "60", "--width", "640", "--height", "360",
           "--out", str(scratch_folder()), "--device", "fake:corrupt=1")
check(done.returncode == 1 and "disagree, first in frame" in done.stderr,
      f"a wrong bit is not seen: {done.returncode}, {done.stderr}")

done = run("--frames", "4", "--characters", "60", "--out", str(scratch_folder()), "--device",
           "local_store:strict,overrun")
check(done.returncode != 0 and re.search(r"braid: kernel '.*' reads byte \d+ of its input", done.stderr),
      f"a byte too many is not seen: {done.returncode}, {done.stderr}")

for wrong, sentence in (
        (["--device", "gpu"], "there is no 'gpu'; there are cpu"),
        (["--device", "cpu:fast"], "there is no 'cpu:fast'"),
        (["--device", "fake:loss=2"], "'loss' is a number from 0 to 1, not '2'"),
        (["--device", "fake:speed=2"], "there is no 'speed=2'; fake has seed=N"),
        (["--device", "fake:seed=-1"], "there is no 'seed=-1'"),
        (["--device", "cpu", "--backend", "serial"], "only Braid has devices"),
        (["--device", "cpu", "--shadow-jobs"], "leave it or --device out")):
    done = run(*wrong)
    check(done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1,
          f"{wrong}: {done.returncode}, {done.stderr}")
