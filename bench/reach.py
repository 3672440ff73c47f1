"""What Braid set out to reach, and whether a run reached it.

Each line of GOALS is a value made of the rows of one run: what is divided was measured in turns with
what it is divided by. A line whose row the run does not have is "not measured"."""

from statistics import median

FIB_JOINS = 14_930_351  # of fib(35)

ROWS = set()  # the names of all rows that a goal is made of


def samples(rows, row, system="braid"):
    """The samples of a rival, or None."""
    for r in rows:
        if r["name"] != row:
            continue
        for rival in r["rivals"]:
            if rival["system"] == system:
                return rival["samples"]
    return None


def value(row, system="braid"):
    ROWS.add(row)
    return lambda rows: samples(rows, row, system)


def combine(function, *parts):
    """Sample by sample, as they were measured in turns."""

    def each(rows):
        lists = [part(rows) for part in parts]
        if not all(lists):
            return None
        return [function(*together) for together in zip(*lists)]

    return each


def over(row, system="serial", factor=1.0, braid="braid"):
    return combine(lambda a, b: a / (b * factor), value(row, braid), value(row, system))


def scale(name, system="braid"):
    return combine(lambda two, one: two / one, value(f"{name}.t2", system), value(f"{name}.t1", system))


def ns_per_join(system):
    return combine(lambda a, b: (a - b) * 1e6 / FIB_JOINS, value("fib.t1", system),
                   value("fib.t1", "serial"))


def over_one_wake(row):
    # The machine's row takes fewer turns into account than there are of the other.
    loop_of, wake_of = value(row), value("machine.wake", "machine")

    def each(rows):
        wake, loop = wake_of(rows), loop_of(rows)
        return [x / median(wake) for x in loop] if wake and loop else None

    return each


def rate(row, system, braid="braid"):
    """How much is done a second beside `system`, of rows that say how long each takes."""
    return combine(lambda a, b: b / a, value(row, braid), value(row, system))


def more_than(row, system):
    """By how much a row whose rival may be nothing is above that."""
    return combine(lambda a, b: a - b, value(row), value(row, system))


AT_LEAST = {"demo.speedup", "stream.random", "stream.random.threads"}
CLANG_TARGETS = {"fib.ctx.ns": 2.5}  # where another than g++'s

# id: (threads, unit, at most, value)
GOALS = {
    "fib.ctx.ns": (1, "ns", 1.0, ns_per_join("braid")),
    "fib.ctx.scale": (2, "t2/t1", 0.52, scale("fib")),
    "fib.plain.ns": (1, "ns", 4.0, ns_per_join("braid plain")),
    "skynet.t1": (1, "/serial", 2.0, over("skynet.t1")),
    "skynet.t2": (2, "/serial", 1.05, over("skynet.t2")),
    "nqueens.t1": (1, "/serial", 1.02, over("nqueens.t1")),
    "nqueens.t2": (2, "/serial", 0.52, over("nqueens.t2")),
    "matmul.t1": (1, "/serial", 1.02, over("matmul.t1")),
    "matmul.t2": (2, "/serial", 0.52, over("matmul.t2")),
    "sort.t2": (2, "/serial", 0.55, over("sort.t2")),
    "reduce.t2": (2, "/serial", 0.55, over("reduce.t2")),
    "scan.t2": (2, "/serial", 1.05, over("scan.t2")),
    "uneven.t2": (2, "/ideal", 1.05, over("uneven.t2", factor=0.5)),
    "fanout.2x20.hot": (2, "us", 0.5, value("fanout.2x20.hot")),
    "fanout.64x2.hot": (2, "us", 2.5, value("fanout.64x2.hot")),
    "fanout.64x2.cold": (2, "/wake", 1.1, over_one_wake("fanout.64x2.cold")),
    "fanout.64x2.announced": (2, "us", 4.0, value("fanout.64x2.cold", "braid announced")),
    "tasks.batch.t1": (1, "ns", 10.0, value("tasks.batch.t1")),
    "tasks.single.t1": (1, "ns", 25.0, value("tasks.spawn.t1")),
    "tasks.single.live": (1, "ns", 40.0, value("tasks.live.t1")),
    "tasks.scale": (2, "t2/t1", 1.1, scale("tasks.spawn")),
    "tasks.scale.200": (2, "t2/t1", 0.6, scale("tasks.200ns")),
    "graph.rerun.t1": (1, "/raw", 2.0, over("graph.rerun.t1", "raw")),
    "graph.rerun.t2": (2, "/raw", 1.35, over("graph.rerun.t2", "raw")),
    "graph.rebuild.t1": (1, "/raw", 2.0, over("graph.rebuild.t1", "raw")),
    "graph.rebuild.t2": (2, "/raw", 1.5, over("graph.rebuild.t2", "raw")),
    "alloc.task": (2, "allocations", 0, value("upkeep.allocations")),
    "alloc.graph": (2, "allocations", 0, value("upkeep.graph_allocations")),
    "idle.cpu": (2, "ms/s", 0.05, value("upkeep.idle")),
    "life.us": (2, "us", 40.0, value("upkeep.life")),
    "neighbour.fib": (2, "/quiet", 2.5, value("neighbour.fib")),
    "oversub.fib": (4, "/t2", 1.3, combine(lambda four, two: four / two, value("fib.t4"),
                                           value("fib.t2"))),
    "wait.child.t1": (1, "/tbb", 0.5, over("wait.child.t1", "tbb")),
    "wait.child.t2": (2, "/tbb", 0.5, over("wait.child.t2", "tbb")),
    "wait.nested": (1, "/child", 1.2, combine(lambda deep, flat: deep / flat, value("wait.nested"),
                                              value("wait.child.t1"))),
    "wait.chain": (1, "ns", 1000.0, value("wait.chain")),
    "wait.two.50": (2, "/body", 1.05, value("wait.two.50")),
    "wait.two.200": (2, "/body", 1.03, value("wait.two.200")),
    "wait.two.1000": (2, "/body", 1.01, value("wait.two.1000")),
    "wait.gap.10": (2, "us", 1.2, value("wait.gap.10")),
    "wait.gap.100": (2, "us", 3.0, value("wait.gap.100")),
    "wait.gap.1000": (2, "us", 40.0, value("wait.gap.1000")),
    "async.complete": (1, "/child", 1.0, over("async.complete", "child")),
    "async.call": (1, "/bare", 1.3, over("async.call", "bare loop")),
    "async.spawn": (1, "/wait", 1.5, over("async.spawn", "spawn, wait")),
    "async.pingpong": (1, "/asio", 0.5, over("async.pingpong", "asio")),
    "async.arrival": (1, "/wake", 1.3, over("async.arrival", "futex wake")),
    "async.memory": (1, "bytes", 512, value("async.memory")),
    "async.memory.event": (1, "bytes", 512, value("async.memory.event")),
    "async.memory.pop": (1, "bytes", 512, value("async.memory.pop")),
    "async.memory.sleep": (1, "bytes", 512, value("async.memory.sleep")),
    "async.allocations": (1, "calls", 0, value("async.allocations")),
    "async.idle": (1, "ms/s more", 0.05, more_than("async.idle", "without")),
    "async.idle.wakes": (1, "1/s more", 0, more_than("async.idle.wakes", "without")),
    "timers.storm": (2, "/asio", 0.5, over("timers.storm", "asio")),
    "scaling.loop": (16, "/ideal", 1.15, value("scaling.loop")),
    "scaling.nested": (16, "/ideal", 1.15, value("scaling.nested")),
    "scaling.join": (16, "/ideal", 1.15, value("scaling.join")),
    "scaling.batch": (16, "/ideal", 1.15, value("scaling.batch")),
    "scaling.graph": (16, "/ideal", 1.15, value("scaling.graph")),
    "stream.random": (1, "raw/", 0.9, rate("stream.random", "raw")),
    "stream.random.threads": (2, "raw/", 0.6, rate("stream.random", "raw", "braid threads")),
    "stream.cpu": (1, "/raw", 1.25, over("stream.cpu", "raw")),
    "stream.single": (1, "/pread", 1.3, over("stream.single", "pread")),
    "stream.urgent": (1, "/alone", 3.0, over("stream.urgent", "alone")),
    "stream.frame": (2, "/without", 1.05, over("stream.frame", "without")),
    "stream.frame.p99": (2, "/thread", 1.0, over("stream.frame.p99", "thread")),
    "stream.idle": (1, "ms/s more", 0.05, more_than("stream.idle", "without")),
    "device.submit.fake": (1, "/child", 3.0, over("device.submit.fake", "child")),
    "device.submit.allocations": (1, "calls", 0, value("device.submit.allocations")),
    "device.batch": (2, "/alone", 0.25, over("device.batch", "alone")),
    "device.chain": (2, "/cores", 0.6, over("device.chain", "through cores")),
    "device.chain.wakes": (1, "wakes", 1, value("device.chain.wakes")),
    "device.roundtrip": (2, "/raw", 1.2, over("device.roundtrip.p50", "raw")),
    "device.roundtrip.p99": (2, "/raw", 1.5, over("device.roundtrip.p99", "raw")),
    "device.cpu": (2, "/tasks", 1.05, over("device.cpu", "tasks")),
    "device.local_store": (2, "/cpu", 1.3, over("device.local_store", "cpu")),
    "demo.speedup": (2, "serial/", 1.85, combine(lambda serial, braid: serial / braid,
                                                 value("demo.frame", "serial"),
                                                 value("demo.frame"))),
}


def reach(rows, compiler):
    """[{id, compiler, workers, value, unit, target, samples}], in the order above. workers:
    threads that execute. value: null if it was not measured."""
    result = []
    for name, (threads, unit, target, of) in GOALS.items():
        found = of(rows) or []
        if compiler.startswith("clang"):
            target = CLANG_TARGETS.get(name, target)
        result.append({"id": name, "compiler": compiler, "workers": threads,
                       "value": median(found) if found else None, "unit": unit, "target": target,
                       "samples": found})
    return result


def verdict(entry):
    at_least = entry["id"] in AT_LEAST
    goal = f"{'>=' if at_least else '<='} {entry['target']:<5g}"
    if entry["value"] is None:
        return f"{'-':>9} {goal} not measured"
    far = entry["target"] - entry["value"] if at_least else entry["value"] - entry["target"]
    return f"{entry['value']:9.2f} {goal} {'reached' if far <= 0 else 'missed'}"


def print_reach(entries):
    """One table, with a column for each compiler."""
    compilers = list(dict.fromkeys(e["compiler"] for e in entries))
    print(f"\n{'goal':24}{'unit':12}" + "".join(f"{c:>15}{'':17}" for c in compilers).rstrip())
    for name in dict.fromkeys(e["id"] for e in entries):
        same = [e for e in entries if e["id"] == name]
        columns = "".join(f"{verdict(e):32}" for e in same).rstrip()
        print(f"{name:24}{same[0]['unit']:12}{columns}")
