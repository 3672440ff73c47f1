"""Clips that come from a pack while the game runs: one hash, whoever reads them and whatever goes wrong with reads; bounded
memory; and one sentence where a page cannot be had."""
import json
import os
import pathlib
import subprocess
import sys

from arena_runs import HANG_LIMIT_S, check, run, scratch_folder, small_run

WITHOUT_URING = sys.argv[2]
tool = sys.argv[3] if len(sys.argv) > 3 else None
CROWD = ("--frames", "60", "--characters", "300")


def streamed(*arguments, within=()):
    """As small_run(), with the pack of the first run."""
    folder = scratch_folder()
    os.link(pack, folder / "arena.pack")
    done = run("--width", "320", "--height", "180", *CROWD, "--out", str(folder), *arguments,
               within=within)
    return done, folder


def summary_of(*arguments, within=()):
    done, folder = streamed(*arguments, within=within)
    check(done.returncode == 0, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    summary = json.loads((folder / "summary.json").read_text())
    check(summary["hash_equal"] and summary["hash_parallel"] == reference,
          f"{arguments}: another hash than without streaming")
    seen = summary["stream"]
    check(seen["failed"] == 0 and 0 < seen["loaded"] <= seen["reads"], f"{arguments}: {seen}")
    return seen, folder, done


plain, first = small_run(*CROWD, "--width", "320", "--height", "180", "--stream")
reference = plain["hash_serial"]
pack = first / "arena.pack"
check(pack.stat().st_size >= 128 << 20, "the pack is small")
check(small_run(*CROWD, "--width", "320", "--height", "180")[0]["hash_parallel"] == reference,
      "another hash without streaming")

written = pack.stat().st_mtime_ns
for arguments in (["--stream=threads"], ["--stream=uring", "--workers", "0"],
                  ["--stream", "--pipeline", "2", "--workers", "4"], ["--stream", "--fps", "60"],
                  ["--stream", "--device", "cpu"], ["--stream", "--device", "local_store"],
                  ["--stream=threads", "--stream-fault", "seed=7,eio=0.05,short=0.2,delay=5"],
                  ["--stream", "--stream-fault", "seed=7,eio=0.05,delay=5", "--pipeline", "1"]):
    seen, _, _ = summary_of(*arguments)
    faulty = "--stream-fault" in arguments
    check((seen["retried"] > 0) == faulty, f"{arguments}: {seen}")
    if arguments[0] != "--stream":
        check(seen["back_end"] == arguments[0].partition("=")[2], f"{arguments}: {seen}")
check(pack.stat().st_mtime_ns == written, "the pack was written again")

# Where io_uring is refused threads read, which one line says.
seen, _, done = summary_of("--stream", within=[WITHOUT_URING])
check(seen["back_end"] == "threads", str(seen))
check(done.stderr.count("reads with background threads, not with io_uring") == 1, done.stderr)

# Little memory: pages give way, and the picture is the same.
seen, _, done = summary_of("--stream", "--stream-resident", "2")
check(seen["evicted"] > 0 and seen["resident_bytes"] <= 2 << 20, str(seen))
check(f"{seen['evicted']} evicted" in done.stdout, done.stdout)

# Too little for one frame: the sum, and where to raise it.
done, _ = streamed("--stream", "--stream-resident", "1", "--characters", "1000", "--frames", "30")
check(done.returncode == 2, f"exit {done.returncode}\n{done.stderr}")
check("may keep 1048576 bytes, but the frames in flight need" in done.stderr, done.stderr)
check("raise resident_bytes" in done.stderr, done.stderr)

# A page that is damaged is named. One bit of each, since nobody knows which comes first.
folder = scratch_folder()
damaged = bytearray(pack.read_bytes())
step = 4096  # no page is smaller than that, but the stamp and the shortest clips
for at in range(64 + step, len(damaged) - (1 << 20), step):
    damaged[at] ^= 1
(folder / "arena.pack").write_bytes(damaged)
done = run("--width", "320", "--height", "180", *CROWD, "--out", str(folder), "--stream")
last = done.stderr.strip().splitlines()[-1]
check(done.returncode == 2, f"exit {done.returncode}\n{done.stderr}")
check(last.startswith("arena: page '") and str(folder / "arena.pack") in last, last)
check(last.endswith("its checksum is wrong"), last)

# What is no pack, or another one's, is written anew.
(folder / "arena.pack").write_bytes(b"something else")
done = run("--width", "320", "--height", "180", "--frames", "2", "--characters", "60", "--out",
           str(folder), "--stream")
check(done.returncode == 0 and "MiB of clips" in done.stdout, done.stderr)

for arguments, sentence in ((["--stream=tape"], "tape"),
                            (["--stream-fault", "seed=7"], "--stream-fault needs --stream"),
                            (["--stream", "--backend", "serial"], "only Braid streams"),
                            (["--stream", "--stream-fault", "luck=1"], "there is no 'luck'"),
                            (["--stream", "--stream-fault", "eio=2"], "eio is 0 to 1"),
                            (["--stream", "--stream-fault", "eio=many"], "'many' is no number"),
                            (["--stream", "--stream-fault", "eio=nan"], "eio is 0 to 1"),
                            (["--stream", "--stream-fault", "delay=10001"], "delay is 0 to 10000"),
                            (["--stream", "--stream-fault", "delay=1e300"], "delay is 0 to 10000"),
                            (["--stream", "--stream-fault", "seed=-1"], "'-1' is no number for seed"),
                            (["--stream", "--stream-fault", "seed=99999999999999999999"], "seed is 0 to"),
                            (["--stream", "--out", "/dev/null/out"], "cannot create the folder /dev/null/out"),
                            (["--stream", "--stream-resident", "0"], "--stream-resident"),
                            (["--fps", "0"], "--fps")):
    done = run(*arguments)
    check(done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
          and sentence in done.stderr, f"{arguments}: exit {done.returncode}\n{done.stderr}")

# A frame that waited for a page says for which.
if tool:
    capture = first / "slow.braid"
    summary_of("--stream", "--stream-fault", "delay=300", "--capture", str(capture))
    report = subprocess.run([tool, "report", str(capture), "--worst"], capture_output=True, text=True,
                            timeout=HANG_LIMIT_S, check=False)
    check(report.returncode == 0, report.stderr)
    why = report.stdout.splitlines()[0]
    check("which somebody outside ends" in why and
          any(f"for '{model}." in why for model in ("Testwuson", "BCN_Epileptic", "01_01", "Boxing_Toes")),
          f"no page is named:\n{report.stdout}")
