// The level-of-detail pyramid of a row. A level groups neighbours that are shorter than its width and
// begin in the same slice of time of that width; what is longer stays alone. So a redraw looks at a
// few items for each pixel column, however many spans the row has, and no time is lost on the way:
// the sum of `busy` is the same on every level.
import type { Level, Row, Spans } from "./model";

/** Rows below this are walked span by span. */
const smallest = 512;
/** A level that saves less than this share of its items is not kept. */
const worthIt = 0.7;

export function spanLevel(spans: Pick<Spans, "begin" | "end">, first: number, count: number): Level {
    const begin = spans.begin.subarray(first, first + count);
    const end = spans.end.subarray(first, first + count);
    const busy = new Float64Array(count);
    const longest = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
        busy[i] = end[i]! - begin[i]!;
        longest[i] = first + i;
    }
    return { width: 0, count, begin, end, busy, longest, members: new Uint32Array(count).fill(1) };
}

export function grouped(from: Level, width: number, lengthOf: (span: number) => number): Level {
    const begin = new Float64Array(from.count);
    const end = new Float64Array(from.count);
    const busy = new Float64Array(from.count);
    const longest = new Uint32Array(from.count);
    const members = new Uint32Array(from.count);
    let count = 0;
    let slice = -1;
    for (let i = 0; i < from.count; ++i) {
        const long = from.end[i]! - from.begin[i]! >= width;
        const of = Math.floor(from.begin[i]! / width);
        if (!long && of === slice) {
            const to = count - 1;
            end[to] = from.end[i]!;
            busy[to]! += from.busy[i]!;
            members[to]! += from.members[i]!;
            if (lengthOf(from.longest[i]!) > lengthOf(longest[to]!)) longest[to] = from.longest[i]!;
            continue;
        }
        begin[count] = from.begin[i]!;
        end[count] = from.end[i]!;
        busy[count] = from.busy[i]!;
        longest[count] = from.longest[i]!;
        members[count] = from.members[i]!;
        ++count;
        slice = long ? -1 : of;
    }
    return {
        width,
        count,
        begin: begin.slice(0, count),
        end: end.slice(0, count),
        busy: busy.slice(0, count),
        longest: longest.slice(0, count),
        members: members.slice(0, count),
    };
}

/** Levels from fine to coarse, without the spans themselves. */
export function buildLevels(spans: Spans, first: number, count: number): Level[] {
    if (count < smallest) return [];
    const lengthOf = (span: number): number => spans.end[span]! - spans.begin[span]!;
    const all = spans.end[first + count - 1]! - spans.begin[first]!;
    const levels: Level[] = [];
    let last = spanLevel(spans, first, count);
    for (let width = 2 ** Math.ceil(Math.log2(Math.max(all / count, 1))); width < all && last.count > 64; width *= 2) {
        const next = grouped(last, width, lengthOf);
        if (next.count > last.count * worthIt) continue;
        levels.push(next);
        last = next;
    }
    return levels;
}

/** The coarsest level that still tells pixels apart, or null: the spans themselves. */
export function levelFor(row: Row, nsPerPixel: number): Level | null {
    let found: Level | null = null;
    for (const level of row.levels) if (level.width <= nsPerPixel) found = level;
    return found;
}
