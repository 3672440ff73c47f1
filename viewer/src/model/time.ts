// Times as people read them, and the marks of a time axis.

/** "850 ns", "12.3 µs", "1.24 ms", "2.50 s". */
export function durationText(ns: number): string {
    if (!Number.isFinite(ns)) return "–";
    const sign = ns < 0 ? "−" : "";
    const size = Math.abs(ns);
    if (size < 999.5) return `${sign}${Math.round(size)} ns`;
    if (size < 999_500) return `${sign}${threeDigits(size / 1e3)} µs`;
    if (size < 999_500_000) return `${sign}${threeDigits(size / 1e6)} ms`;
    return `${sign}${threeDigits(size / 1e9)} s`;
}

function threeDigits(value: number): string {
    if (value < 9.995) return value.toFixed(2);
    if (value < 99.95) return value.toFixed(1);
    return value.toFixed(0);
}

/** A distance between marks of the axis: 1, 2 or 5 times a power of ten, at least `least` ns. */
export function niceStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    for (const factor of [1, 2, 5]) if (power * factor >= least) return power * factor;
    return power * 10;
}

/** Marks within a view, about `every` pixels apart. */
export function ticks(begin: number, end: number, width: number, every: number): { step: number; times: number[] } {
    const step = niceStep(((end - begin) / Math.max(width, 1)) * every);
    const times: number[] = [];
    for (let n = Math.ceil(begin / step); n * step <= end && times.length < 1000; ++n) times.push(n * step);
    return { step, times };
}

/** A moment, with as many digits as tells marks `step` apart. */
export function momentText(ns: number, step: number): string {
    const unit = step >= 1e8 ? { size: 1e9, name: "s" } : step >= 1e2 ? { size: 1e6, name: "ms" } : { size: 1e3, name: "µs" };
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit.size) - 1e-9));
    return `${(ns / unit.size).toFixed(digits)} ${unit.name}`;
}

export interface Range {
    begin: number;
    end: number;
}

/** What is `factor` times as wide, with the moment under the pointer in its place. Stays within `all`. */
export function zoomed(view: Range, factor: number, around: number, all: Range): Range {
    const least = 20;
    const most = (all.end - all.begin) * 1.1 + least;
    const width = Math.min(Math.max((view.end - view.begin) * factor, least), most);
    const share = (around - view.begin) / (view.end - view.begin);
    return kept({ begin: around - share * width, end: around + (1 - share) * width }, all);
}

export function moved(view: Range, by: number, all: Range): Range {
    return kept({ begin: view.begin + by, end: view.end + by }, all);
}

/** At least a part of the capture stays in view: its middle never leaves the capture. */
function kept(view: Range, all: Range): Range {
    const middle = (view.begin + view.end) / 2;
    const by = Math.min(Math.max(middle, all.begin), all.end) - middle;
    return { begin: view.begin + by, end: view.end + by };
}

/** A range with some room on both sides. */
export function withMargin(range: Range, share = 0.04): Range {
    const room = Math.max((range.end - range.begin) * share, 10);
    return { begin: range.begin - room, end: range.end + room };
}

export function countText(count: number): string {
    return count.toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** The value below which the given share of sorted values lies: one of them, by nearest rank, as `braid report` has it. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
    if (sorted.length === 0) return NaN;
    const rank = Math.floor(Math.max(0, share * sorted.length - 1e-9));
    return sorted[Math.min(rank, sorted.length - 1)]!;
}
