// Two captures side by side: frames, and types by name, because their numbers differ between captures.
import { typeName, type Model } from "./model";
import { typeStatistics } from "./statistics";
import { quantile } from "./time";

export interface Difference {
    name: string;
    /** NaN: not in that capture. */
    before: number;
    after: number;
    beforeCount: number;
    afterCount: number;
}

export interface Comparison {
    frames: Difference[];
    /** Own time per frame of each type; the greatest change first. */
    types: Difference[];
}

export function compareCaptures(before: Model, after: Model): Comparison {
    const sums = [before, after].map(timesByName);
    const names = new Set([...sums[0]!.keys(), ...sums[1]!.keys()]);
    const types = [...names].map((name) => {
        const [from, to] = [sums[0]!.get(name), sums[1]!.get(name)];
        return {
            name,
            before: from === undefined ? NaN : from.total / before.frames.count,
            after: to === undefined ? NaN : to.total / after.frames.count,
            beforeCount: from?.count ?? 0,
            afterCount: to?.count ?? 0,
        };
    });
    const change = (row: Difference): number => Math.abs((row.after || 0) - (row.before || 0));
    types.sort((a, b) => change(b) - change(a) || a.name.localeCompare(b.name));
    const lengths = [before, after].map(frameLengths);
    const frames = ([["median", 0.5], ["95 of 100", 0.95], ["longest", 1]] as const).map(([name, share]) => ({
        name,
        before: quantile(lengths[0]!, share),
        after: quantile(lengths[1]!, share),
        beforeCount: before.frames.count,
        afterCount: after.frames.count,
    }));
    return { frames, types };
}

function timesByName(model: Model): Map<string, { count: number; total: number }> {
    const sums = new Map<string, { count: number; total: number }>();
    for (const row of typeStatistics(model)) {
        const name = typeName(model, row.type);
        const sum = sums.get(name) ?? { count: 0, total: 0 };
        sum.count += row.count;
        sum.total += row.total;
        sums.set(name, sum);
    }
    return sums;
}

export function frameLengths(model: Model): Float64Array {
    return model.frames.end.map((end, frame) => end - model.frames.begin[frame]!).sort();
}
