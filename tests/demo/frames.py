"""However Braid runs the frames, they are the same: frames in flight, stages on one thread, measured
priorities, a job list in place of three stages. With BRAID_STRESS_SCALE each stage, without it each third, runs
on one thread."""
import os

from arena_runs import check, run, small_run

reference = None


def same(*arguments):
    global reference
    summary, folder = small_run("--workers", "1", *arguments)
    check(summary["hash_equal"], f"{arguments} differs from serial")
    reference = reference or summary["hash_parallel"]
    check(summary["hash_parallel"] == reference,
          f"{arguments}: {summary['hash_parallel']}, not {reference}")
    return summary, folder


for depth in ("0", "1", "2", "3"):
    summary, folder = same("--pipeline", depth)
    check(summary["pipeline"] == int(depth), "the depth is not reported")
    check(0 < summary["pipeline_ms"] <= summary["latency_ms"] + 1e-9,
          "a frame ends later than its latency says")
    check(summary["graph"]["tasks"] > 20 and summary["graph"]["edges"] > 20, "no graph is reported")
    check("skinning" in summary["stage_ms"], "no stage is reported")
    for phase in ("simulate", "draw"):
        check("<svg" in (folder / f"{phase}.svg").read_text(), "the graph is no picture")
    same("--pipeline", depth, "--shadow-jobs", "--priorities", "dynamic")

stages = ["simulate", "draw", *summary["stage_ms"]]
for i, stage in list(enumerate(stages))[:: 1 if "BRAID_STRESS_SCALE" in os.environ else 3]:
    same("--serial-stage", stage, "--pipeline", str(i % 3), *(["--shadow-jobs"] if i % 2 else []))

summary, _ = small_run("--workers", "128")
check(summary["workers"] == 128 and summary["hash_parallel"] == reference,
      "128 workers are others, or make another frame")

for wrong in (("--workers", "129"), ("--workers", "256"), ("--pipeline", "4"), ("--serial-stage", "sknning"), ("--priorities", "best")):
    done = run(*wrong)
    check(done.returncode == 2, f"{wrong}: exit {done.returncode}")
    check(done.stderr.startswith("arena: ") and done.stderr.count("\n") == 1,
          f"{wrong} is not refused in one sentence: {done.stderr}")
