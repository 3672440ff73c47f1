"""`arena --self-edit` edits a copy of the game, builds it and loads it at its frames: a layout changes and no value
does, a constant changes and the crowd walks faster, a crash is refused. The user's build stays as it is."""
import json
import pathlib
import sys

from arena_runs import check, run, scratch_folder

LIVE = pathlib.Path(sys.argv[2])
FOLDER = scratch_folder()


def edited(frames, *arguments):
    """Process of a run of a small crowd. One folder for all, so that a compiler cache helps."""
    return run("--frames", str(frames), "--characters", "200", "--width", "64", "--height", "64", "--out",
               str(FOLDER), *arguments)


def hashes(done, what):
    check(done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    summary = json.loads((FOLDER / "summary.json").read_text())
    return summary["hash_serial"], summary["hash_parallel"]


def expect(said, *parts):
    """All of them, in this order."""
    at = 0
    for part in parts:
        found = said.find(part, at)
        check(found >= 0, f"'{part}' does not follow in:\n{said}")
        at = found + len(part)


def all_edits():
    before = {file.name: file.read_bytes() for file in LIVE.iterdir() if file.is_file()}
    done = edited(260, "--workers", "1", "--self-edit")
    hashes(done, "all edits")
    expect(done.stdout, "Before frame 100: ", "arena::character::model", "unsigned int is widened to unsigned long",
           "arena::character::radius", "offset 16 to offset 20", "arena::character::courage", "from the constructor",
           "The state can go over.", "the state went over: ", "objects migrated in", "Character 0 before:  wish=",
           "after:  wish=", "courage=0.5",
           "Before frame 200: characters walk twice as fast; built in ", "Module 'game' was reloaded",
           "Before frame 250: who walks does ",
           "Before frame 250: a null pointer is followed", "Module 'game' was refused, and the code before goes on: ",
           "SIGSEGV, in arena::update_characters at crowd.cpp:")
    after = {file.name: file.read_bytes() for file in LIVE.iterdir() if file.is_file()}
    check(before == after, "the modules of the build are others now")


def layout_only():
    usual = hashes(edited(110, "--workers", "1"), "no edit")
    check(usual[0] == usual[1], f"{usual}")
    for workers in ("0", "1", "2"):
        for pipeline in ("0", "2"):
            options = ("--workers", workers, "--pipeline", pipeline)
            done = edited(110, *options, "--self-edit=layout")
            check(hashes(done, options) == usual, f"{options}: another layout ends in another hash")
            expect(done.stdout, "the state went over: ")
            check("Before frame 200" not in done.stdout, "more than the layout is edited")


def tells_what_did_not_come_out():
    done = edited(100, "--self-edit=layout")
    check(done.returncode == 1, f"exit {done.returncode} although the run ends before the edit")
    check("the edit of frame 100 did not come out: its frame was not reached." in done.stderr, done.stderr)


all_edits()
layout_only()
tells_what_did_not_come_out()
