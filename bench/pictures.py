#!/usr/bin/env python3
"""Draws what ./bench.sh measured: bench/pictures.py RESULTS.json FOLDER

One picture for each group of rows, of the first compiler of the run. The same results give the same
bytes. Needs matplotlib (Debian: python3-matplotlib)."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# The others by hue, the forms of Braid by depth.
COLOURS = {
    "braid": "#1d4ed8",
    "braid plain": "#6d94f0",
    "braid batch": "#6d94f0",
    "braid announced": "#0b2a80",
    "braid spawn": "#b3c7fb",
    "raw": "#9ca3af",
    "tbb": "#e07b00",
    "openmp": "#2e9e5b",
    "std par": "#a14bb5",
}
NAMES = {"tbb": "oneTBB", "openmp": "OpenMP", "std par": "std::execution::par",
         "raw": "flat arrays, atomic counters"}

# file: (title, what a bar is, relative to serial, rows)
GROUPS = {
    "fork-join": (
        "Fork and join on two threads", "time ÷ serial code", True,
        {"fib.t2": "fib(35)", "skynet.t2": "skynet, 10 M leaves", "nqueens.t2": "13 queens",
         "matmul.t2": "matmul, 1024²", "cilksort.t2": "cilksort, 4 M"}),
    "algorithms": (
        "Loops and algorithms on two threads", "time ÷ serial code", True,
        {"reduce.t2": "reduce, 10 M", "scan.t2": "scan, 10 M", "sort.t2": "sort, 10 M",
         "uneven.t2": "uneven loop", "mandelbrot.t2": "mandelbrot"}),
    "frame": (
        "Frames on two threads", "time ÷ serial code", True,
        {"frame.t2": "ten stages with\nloops inside", "graph.rebuild.t2": "graph 64 × 64,\nbuilt anew",
         "demo.frame": "the arena"}),
    "tasks": (
        "Tasks from one thread", "ns for each task", False,
        {"tasks.post.t1": "posted, 1 thread", "tasks.post.t2": "posted, 2 threads",
         "tasks.spawn.t1": "with ids, 1 thread", "tasks.spawn.t2": "with ids, 2 threads",
         "tasks.live.t1": "1 M live, 1 thread", "tasks.live.t2": "1 M live, 2 threads",
         "tasks.batch.t1": "batch, 1 thread", "tasks.batch.t2": "batch, 2 threads"}),
    "fanout": (
        "Short loops on two threads", "µs over half the serial time", False,
        {"fanout.2x20.hot": "2 × 20 µs, hot", "fanout.64x2.hot": "64 × 2 µs, hot",
         "fanout.2x20.cold": "2 × 20 µs,\nafter 2 ms of sleep",
         "fanout.64x2.cold": "64 × 2 µs,\nafter 2 ms of sleep"}),
}

BAR = 0.26  # inches


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def bars_of(rows, labels, relative):
    """[(label, [(system, value)])], of the rows that were measured."""
    result = []
    for name, label in labels.items():
        medians = {r["system"]: r["median"] for r in rows.get(name, {"rivals": []})["rivals"]}
        base = medians.pop("serial", None)
        if relative:
            medians = {s: value / base for s, value in medians.items()} if base else {}
        if medians:
            result.append((label, [(s, medians[s]) for s in COLOURS if s in medians]))
    return result


def draw(title, unit, relative, groups, source):
    places, at = [], 0.0
    for label, bars in groups:
        places.append([at + i for i in range(len(bars))])
        at += len(bars) + 0.9
    plot_height = at * BAR
    height = plot_height + 1.75
    figure, axes = plt.subplots(figsize=(9, height))
    figure.subplots_adjust(left=0.21, right=0.95, bottom=0.75 / height, top=1 - 1.0 / height)

    values = [value for _, bars in groups for _, value in bars if value > 0]
    low, high = min(values), max(values)
    # What bars start from: serial code, or just below the least.
    start = 1.0 if relative else low / 1.6
    left, right = min(low, start, 0.5 if relative else start), max(high, start)
    room = (right / left) ** 0.09  # for the figures at the ends of bars
    axes.set_xscale("log")
    axes.set_xlim(left / room if relative else left, right * room)
    for (_, bars), ys in zip(groups, places):
        for (system, value), y in zip(bars, ys):
            end = value if relative else max(value, start)  # faster than the ideal: no bar
            leftwards = end < start
            axes.barh(y, end - start, left=start, height=0.82, color=COLOURS[system], zorder=2)
            axes.annotate(number(value), (end, y), xytext=(-4 if leftwards else 4, 0),
                          textcoords="offset points", ha="right" if leftwards else "left",
                          va="center", fontsize=9, weight="bold" if system == "braid" else "normal",
                          bbox={"color": "white", "pad": 0.5})
    if relative:
        for at_value, label in ((0.5, "half"), (1, "serial code")):
            axes.axvline(at_value, color="#111827", linewidth=1, zorder=1 if at_value < 1 else 3,
                         linestyle=(0, (1, 3)) if at_value < 1 else "-")
            axes.annotate(label, (at_value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
                          textcoords="offset points", ha="center", fontsize=9)
    axes.set_yticks([sum(ys) / len(ys) for ys in places], [label for label, _ in groups], fontsize=10)
    axes.set_ylim(at - 0.9, -1)
    axes.tick_params(axis="y", length=0)
    labelled = (1, 2, 5) if right < 1000 * left else (1,)
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=labelled))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.grid(axis="x", color="#e5e7eb", zorder=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(f"{unit}, logarithmic; further left is faster", fontsize=9)

    systems = [s for s in COLOURS if any(s == x for _, bars in groups for x, _ in bars)]
    handles = [matplotlib.patches.Patch(color=COLOURS[s]) for s in systems]
    figure.text(0.02, 1 - 0.34 / height, title, fontsize=14, weight="bold")
    figure.legend(handles, [NAMES.get(s, s.replace("braid", "Braid", 1)) for s in systems],
                  loc="upper left", bbox_to_anchor=(0.01, 1 - 0.40 / height), ncols=6, frameon=False,
                  fontsize=9, handlelength=1, columnspacing=1.4)
    figure.text(0.02, 0.12 / height, source, fontsize=7.5, color="#4b5563")
    return figure


def main():
    results, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = "braid"
    matplotlib.rcParams["font.family"] = "DejaVu Sans"
    run, machine = results["runs"][0], results["machine"]
    rows = {row["name"]: row for row in run["rows"]}
    turns = max((len(x["samples"]) for row in run["rows"] for x in row["rivals"]), default=0)
    source = (f"{machine['processor']}, {machine['cores']} cores, {run['compiler']}, {run['flags']}; "
              f"medians of {turns} turns; {results['date'][:10]}, commit {results['commit'][:7]}"
              f"{' with changes' if results['changed_files'] else ''}; ./bench.sh")
    for name, (title, unit, relative, labels) in GROUPS.items():
        groups = bars_of(rows, labels, relative)
        if not groups:
            continue
        figure = draw(title, unit, relative, groups, source)
        figure.savefig(folder / f"bench-{name}.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
