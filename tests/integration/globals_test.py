"""What the library has outside of its schedulers and of its threads, by name and with the reason:
globals_test.py NM LIBRARY. Anything else that can be written to would tie schedulers together."""

import re
import subprocess
import sys

ALLOWED = {
    "next_serial": "numbers schedulers, and recorders",
    "next_thread_serial": "numbers threads",
    "numbers": "numbers plans of graphs",
    "processors": "numbers external processors",
    "times": "numbers the calls of observer::listen()",
    "last_run": "numbers captures",
    "forks": "how many forks lie behind this process",
    "counted": "whether forks are counted, found out once",
    "machine": "the machine's topology, written once",
    "claimed": "which thread reads that topology",
    "published": "that topology, when it is complete",
    "works": "whether the system counts switches, found out once",
    "source_of_observers": "the function that BRAID_CAPTURE installs when the program begins",
    "from_environment": "the recorder of BRAID_CAPTURE",
    "recorded_process": "the process that it records",
    "path": "where its file is",
    "choosing": "guards these three",
    "pool_storage": "free frames of coroutines by size; threads end later than every scheduler",
    "waiting_mutexes": "guards of lists of waiting tasks; a wait may outlive the scheduler of its list",
    "no_lists": "the lists of a thread that has none; they stay empty",
    "pools": "these pools, when they are made",
    "only": "the strict local store, of which a process has one: a fault does not say whose it is",
    "watcher": "who is asked about a fault",
    "installed": "whether the handler of faults is",
    "before": "the handlers that were there before it",
    "active_": "the recorder that profile::scope and profile::count write to",
}
SECTIONS = (".data", ".bss")  # not .data.rel.ro, which nobody writes, and not what each thread has


def globals_of(listing):
    """Names of the library's own objects, from `nm -C -f sysv`."""
    for line in listing.splitlines():
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != 7 or columns[3] != "OBJECT" or columns[6] not in SECTIONS:
            continue
        name = re.sub(r"\[[^\]]*\]|\([^()]*\)", "", columns[0])
        if columns[0].startswith("braid::"):
            yield columns[0], name.rsplit("::", 1)[-1]


def main():
    nm, library = sys.argv[1:]
    command = [nm, "--demangle", "--format=sysv", "--defined-only", library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = list(globals_of(listing))
    strangers = [whole for whole, name in found if name not in ALLOWED]
    for whole in strangers:
        print(f"{whole} is neither a scheduler's nor a thread's: give it to one, or say here why not.")
    for name in sorted(set(ALLOWED) - {name for _, name in found}):
        print(f"There is no '{name}': delete it from the list.")
        strangers.append(name)
    if not strangers:
        print(f"{len(found)} objects outside of schedulers and threads, each with its reason.")
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main())
