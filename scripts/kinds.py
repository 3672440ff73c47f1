#!/usr/bin/env python3
"""The kinds of what happens and of what is drawn of it, in two tables: writes them into the headers
for observers, captures, analysis and exports and into the viewer's sources, between the marks there.

    scripts/kinds.py           writes
    scripts/kinds.py --check   fails when a file does not hold what the table says
"""

import argparse
import re
import sys
from pathlib import Path

# (number, name, what an observer's event says, what a record of a capture says). Empty: there is no
# such event, or no such record. Numbers stand in files: never change one, take the next free one.
KINDS = (
    (1, "spawned", "`task` was made. `other` is its parent or empty. `name` and `facts` are set",
     "`other` is the parent of `task`, `aux` its type, and `flags` are spawn_flags"),
    (2, "edge", "`task` depends on the task `other`, which may be complete already",
     "`task` depends on the task `other`, which may be complete already"),
    (3, "ready", "`task` is ready. `other` is the task whose end released it, or empty",
     "`task` is ready. `other` is the task whose end released it, or 0"),
    (4, "started", "`task` starts on `seat`", "`task` starts on this lane. `aux` is its type"),
    (5, "ended", "The own work of `task` has ended, by a return or by an exception",
     "The own work of `task` has ended. `flags` are end_flags"),
    (6, "completed", "The own work of `task` and all its children have ended",
     "The own work of `task` and all its children have ended"),
    (7, "cancelled", "`task` will not run. `completed` follows",
     "`task` will not run. A `completed` record follows"),
    (8, "wait_begin", "`task` waits for the task `other`. Either is empty if there is none",
     "`task` (0 outside of tasks) waits for the task `other` (0 if it waits for something else)"),
    (9, "wait_end", "The wait of the matching `wait_begin` has ended", "The wait of the matching `wait_begin` has ended"),
    (10, "stolen", "`seat` stole `task` from `seat_from`", "This lane's thread stole `task` from the seat `aux`"),
    (11, "searching", "The seat's thread found nothing to run and continues to search",
     "The lane's thread found nothing to run and continues to search"),
    (12, "parked", "The seat's thread goes to sleep", "The lane's thread goes to sleep"),
    (13, "unparked", "The seat's thread is awake again", "The lane's thread is awake again"),
    (14, "event_set",
     "The event `object` is about to be set. `task` and `seat` are set if the caller has them",
     "`task` (0 outside of tasks) sets the event `other`"),
    (15, "event_taken",
     "A wait for the event `object` succeeds. `wait_end` follows if the wait had begun",
     "A wait for the event `other` succeeds. A `wait_end` follows if the wait had begun"),
    (16, "acquired", "`task` holds the resource `object`",
     "`task` holds the resource `other`. `aux` is the type of the resource"),
    (17, "released", "`task` no longer holds the resource `object`",
     "`task` no longer holds the resource `other`. `aux` is the type of the resource"),
    (18, "forked", "`task` offers the second part of the join `object` to other threads",
     "`task` offers the second part of the join `other` to other threads"),
    (19, "joined",
     "Both parts of the join `object` have ended. `seat_from` ran the second part, or is `seat`",
     "The join `other` ended. `flags` are join_flags. `aux` is the seat that stole its second part"),
    (20, "job_started", "`seat` runs the second part of the join `object`, stolen from `seat_from`",
     "This lane runs the second part of the join `other` of `task`, stolen from the seat `aux`"),
    (21, "job_ended", "The second part of the join `object` has ended", "The second part of the join `other` has ended"),
    (22, "failed", "The own work of `task` threw an exception. `ended` follows", ""),
    (23, "helped", "`other` runs on top of the wait of `task`. Tasks that `other` makes ready may run there next",
     ""),
    (24, "seated", "The calling thread has `seat` from now on. `name` and `holder` are set", ""),
    (32, "frame_begin", "A frame of a frame_loop begins. `other` is its number, and `name` is set",
     "The frame with the number `other` begins. `aux` is its type"),
    (33, "frame_end", "A frame of a frame_loop ends. `other` is its number, and `name` is set",
     "The frame with the number `other` ends. `aux` is its type"),
    (34, "scope_begin", "", "A scope begins. `aux` is its type. The scopes of a lane nest"),
    (35, "scope_end", "", "A scope ends. `aux` is its type"),
    (36, "counter", "",
     "A counter changes. `aux` is its type, and `other` contains the bits of a double"),
    (37, "switched_out", "",
     "The operating system took the lane's thread off its core. `flags` are switch_flags"),
    (38, "switched_in", "", "The lane's thread is on a core again"),
    (39, "switches", "",
     "Switches since the last such record of the lane: `other` voluntary, `aux` involuntary"),
    (40, "deferred",
     "`other`, a completion of `task` or an armed timer, is open. `name` and `facts.where` are set",
     "The completion `task` is open, or the timer `task` is armed. `aux` is its type"),
    (41, "settled", "The completion `other` of `task` is settled, or the timer is due or disarmed. `name` is set",
     "The completion `task` is settled, or the timer `task` is due or disarmed. `aux` is its type"),
    (42, "suspended", "`task` suspends and releases its thread. `resumed` follows",
     "`task` suspends and releases the lane's thread. `flags` are end_flags"),
    (43, "resumed", "`task` resumes on `seat`", "`task` resumes on this lane. `aux` is its type"),
)
# What is drawn of a lane: (name, what it is, is it a slice of an export, is it a span of the page).
# Frames are rows of their own in an export and an axis of the page; states of threads are one row in
# an export, and two colours in the page.
SLICES = (
    ("task", "from `started` to `ended`", True, True),
    ("job", "the second part of a join, from `job_started` to `job_ended`", True, True),
    ("scope", "from `scope_begin` to `scope_end`", True, True),
    ("wait", "from `wait_begin` to `wait_end`", True, True),
    ("searching", "until the lane does something else", True, True),
    ("parked", "from `parked` to `unparked`", True, True),
    ("preempted", "from `switched_out` to `switched_in`, when the thread wanted to go on", False, True),
    ("off_core", "from `switched_out` to `switched_in`, on a row beside that of the lane", True, True),
    ("frame", "from `frame_begin` to `frame_end`, on rows by frame", True, False),
)
# Records that are moments of a body that others depend on, or at which it depends on others.
MARKS = ("spawned", "wait_begin", "wait_end", "event_set", "forked")
BEGIN = "// ---- scripts/kinds.py writes this"
END = "// ---- as far as here"


def enumerators(column):
    for row in KINDS:
        if row[column]:
            yield f"    // {row[column][0].upper()}{row[column][1:]}."
            yield f"    {row[1]} = {row[0]},"


def camel(name):
    return re.sub(r"_(.)", lambda m: m.group(1).upper(), name)


def lines_for_the_viewer():
    yield "export const RecordKind = {"
    yield from (f"    {camel(row[1])}: {row[0]}," for row in KINDS if row[3])
    yield "} as const;"


def slices():
    for number, row in enumerate(SLICES):
        if row[2]:
            yield f"    // {row[1][0].upper()}{row[1][1:]}."
            yield f"    {row[0]} = {number},"


def marks():
    yield from (f"    {row[1]} = {row[0]}," for row in KINDS if row[1] in MARKS)


def spans_for_the_viewer():
    yield "export const SpanKind = {"
    yield from (f"    {camel(row[0])}: {n}," for n, row in enumerate(SLICES) if row[3])
    yield "} as const;"


FILES = {
    "include/braid/core/observer.hpp": lambda: enumerators(2),
    "include/braid/profile/capture.hpp": lambda: enumerators(3),
    "viewer/src/parse/kinds.ts": lines_for_the_viewer,
    "src/profile/export/steps.hpp": slices,
    "src/profile/analysis/history.hpp": marks,
    "viewer/src/model/model.ts": spans_for_the_viewer,
}


def written(text, lines):
    pattern = rf"(?P<begin>^ *{re.escape(BEGIN)}.*\n)(?:.*\n)*?(?P<end>^ *{re.escape(END)}.*\n)"
    body = "".join(line + "\n" for line in lines)
    found = re.search(pattern, text, re.MULTILINE)
    return found and text[: found.end("begin")] + body + text[found.start("end") :]


def main():
    parser = argparse.ArgumentParser(description="The kinds of what happens, from one table.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    numbers = [row[0] for row in KINDS]
    if numbers != sorted(set(numbers)) or len({row[1] for row in KINDS}) != len(KINDS):
        print("scripts/kinds.py: a number or a name stands there twice, or out of order.")
        return 1
    if {row[1] for row in KINDS if row[3]} & set(MARKS) != set(MARKS):
        print("scripts/kinds.py: a mark is no record.")
        return 1
    problems = 0
    for name, lines in FILES.items():
        path = arguments.root / name
        text = path.read_text(encoding="utf-8")
        wanted = written(text, lines())
        if wanted is None:
            print(f"{name}: the marks of scripts/kinds.py are not there.")
            problems += 1
        elif wanted != text and arguments.check:
            print(f"{name}: not what the table says; run scripts/kinds.py.")
            problems += 1
        elif wanted != text:
            path.write_text(wanted, encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
