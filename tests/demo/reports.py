"""A run leaves a picture, sound, a timeline and a summary behind, and says what is wrong."""
import struct
import xml.etree.ElementTree
import zlib

from arena_runs import check, run, small_run

KEYS = ["characters", "frames", "seed", "workers", "serial_ms", "parallel_ms", "speedup",
        "hash_serial", "hash_parallel", "hash_equal", "models", "clips", "tasks_per_frame",
        "allocations_per_frame", "stage_ms", "pipeline", "pipeline_ms", "latency_ms", "graph",
        "waiting"]

summary, folder = small_run("--seed", "7")
check(list(summary) == KEYS, f"keys: {list(summary)}")
check(summary["characters"] == 60 and summary["frames"] == 8 and summary["seed"] == 7,
      f"does not say what was asked for: {summary}")
for block in ("serial_ms", "parallel_ms"):
    check(set(summary[block]) == {"mean", "p50", "p99"} and summary[block]["p50"] > 0, block)
check(all(ms >= 0 for ms in summary["stage_ms"].values()) and summary["pipeline"] == 0, "stages")
check(summary["waiting"] == {"suspended": 0, "outside": 0}, f"something waits: {summary['waiting']}")
check(len(summary["models"]) == 4 and len(summary["clips"]) >= 6, "models or clips are missing")

png = (folder / "frame.png").read_bytes()
check(png[:8] == b"\x89PNG\r\n\x1a\n", "frame.png is no PNG")
check(struct.unpack(">II", png[16:24]) == (640, 360), "frame.png has another size")
pixels, at = b"", 8
while at < len(png):
    length, kind = struct.unpack(">I4s", png[at:at + 8])
    pixels += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
    at += length + 12
check(len(set(zlib.decompress(pixels))) > 64, "frame.png is a plain surface")

wav = (folder / "sound.wav").read_bytes()
check(wav[:4] == b"RIFF" and len(wav) == 44 + 8 * 800 * 4, "sound.wav has another length")
check(any(wav[44:]), "sound.wav is silent")

svg = xml.etree.ElementTree.parse(folder / "timeline.svg").getroot()
titles = [node for node in svg.iter() if node.tag.endswith("title")]
# Of the slowest frame, which may have other parts than most.
said = " ".join(node.text or "" for node in svg.iter() if node.tag.endswith("text"))
check(f" {len(titles)} tasks;" in said and len(titles) > 30, "the timeline does not show every task")
check(0.5 < summary["tasks_per_frame"] / len(titles) < 2, f"{summary['tasks_per_frame']} tasks a frame")

for arguments in (("--characters", "0"), ("--backend", "magic"), ("--frames", "many"), ("--nonsense",)):
    done = run(*arguments)
    check(done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1,
          f"{arguments}: exit {done.returncode}\n{done.stderr}")

nowhere = run("--frames", "1000000", "--out", "/dev/null/out")  # said before a frame is run
check(nowhere.returncode == 2 and "cannot create the folder /dev/null/out" in nowhere.stderr, nowhere.stderr)

summary_again, other = small_run("--seed", "7", "--capture", str(folder / "made" / "run.braid"))
capture = (folder / "made" / "run.braid").read_bytes()
check(capture[:8] == b"BRAIDCAP" and b"DONE" in capture[-16:], "--capture left no whole capture")
check(summary_again["hash_parallel"] == summary["hash_parallel"], "a recorded run is another one")
refused = run("--frames", "2", "--backend", "serial", "--capture", str(folder / "serial.braid"))
check(refused.returncode == 2 and "only Braid is recorded" in refused.stderr, refused.stderr)
check(not (folder / "serial.braid").exists(), "a refused run leaves a file")
