// What the tasks of each type took: count, sum, median, 95 and 100 of 100, and a histogram.
import { SpanFlag, type Model } from "./model";
import { quantile } from "./time";

export interface TypeStatistics {
    type: number;
    count: number;
    total: number;
    median: number;
    p95: number;
    most: number;
    /** Own times, sorted. */
    sorted: Float64Array;
}

/** Of tasks that ran to their end; a task's time is its own, as Tasks has it. Most time first. */
export function typeStatistics(model: Model): TypeStatistics[] {
    const { tasks, spans } = model;
    const counts = new Uint32Array(model.types.length);
    const ran = (task: number): boolean => tasks.span[task]! >= 0 && !(spans.flags[tasks.span[task]!]! & SpanFlag.cut);
    for (let task = 0; task < tasks.ids.count; ++task) if (ran(task)) counts[tasks.type[task]!]!++;
    const times = Array.from(counts, (count) => new Float64Array(count));
    const filled = new Uint32Array(counts.length);
    for (let task = 0; task < tasks.ids.count; ++task) {
        if (!ran(task)) continue;
        const type = tasks.type[task]!;
        times[type]![filled[type]!++] = tasks.own[task]!;
    }
    const result: TypeStatistics[] = [];
    times.forEach((sorted, type) => {
        if (sorted.length === 0) return;
        sorted.sort();
        result.push({
            type,
            count: sorted.length,
            total: sorted.reduce((sum, time) => sum + time, 0),
            median: quantile(sorted, 0.5),
            p95: quantile(sorted, 0.95),
            most: sorted[sorted.length - 1]!,
            sorted,
        });
    });
    return result.sort((a, b) => b.total - a.total);
}

export interface Histogram {
    /** Bounds of the bins, one more than there are bins; each is a fixed multiple of the one before. */
    bounds: number[];
    counts: number[];
}

export function histogram(sorted: ArrayLike<number>, bins: number): Histogram {
    if (sorted.length === 0) return { bounds: [], counts: [] };
    const low = Math.max(sorted[0]!, 1);
    const high = Math.max(sorted[sorted.length - 1]!, low * 1.01);
    const ratio = (high / low) ** (1 / bins);
    const bounds = Array.from({ length: bins + 1 }, (_, i) => low * ratio ** i);
    const counts = new Array<number>(bins).fill(0);
    for (let i = 0; i < sorted.length; ++i) {
        const at = Math.floor(Math.log(Math.max(sorted[i]!, low) / low) / Math.log(ratio));
        counts[Math.min(Math.max(at, 0), bins - 1)]!++;
    }
    return { bounds, counts };
}
