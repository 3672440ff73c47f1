"""The page and `braid report --json` say the same of the same captures: counts, sums and quantiles of
types, and lengths of frames. Further arguments are captures of real runs."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

BRAID, WRITE_SCENES, VIEWER_SH, *OTHERS = sys.argv[1:]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([WRITE_SCENES, name], check=True, timeout=HANG_LIMIT_S)
        (folder / "frameless.braid").unlink()
        for number, other in enumerate(OTHERS):
            shutil.copy(other, folder / f"other-{number}.braid")
        for capture in folder.glob("*.braid"):
            with open(capture.with_suffix(".json"), "w", encoding="utf-8") as report:
                subprocess.run([BRAID, "report", "--json", capture], stdout=report, check=True,
                               timeout=HANG_LIMIT_S)
        return subprocess.run([VIEWER_SH, "--numbers", name], check=False).returncode


sys.exit(main())
