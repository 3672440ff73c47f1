// From a row and a view to rectangles: never more than one for each pixel column.
import type { Row, Spans } from "./model";
import { levelFor } from "./pyramid";

export interface View {
    begin: number;
    end: number;
}

/** Rectangles of one row, from left to right, none on top of another. Used again for every row. */
export class PixelColumns {
    count = 0;
    /** Pixels: from `left` to before `right`. */
    left = new Int32Array(4096);
    right = new Int32Array(4096);
    /** ns of spans that the rectangle stands for. */
    busy = new Float64Array(4096);
    longest = new Uint32Array(4096);
    members = new Uint32Array(4096);

    fill(row: Row, spans: Pick<Spans, "begin" | "end">, view: View, width: number): void {
        this.count = 0;
        if (row.count === 0 || width <= 0 || view.end <= view.begin) return;
        if (this.left.length < width) this.reserve(width);
        const nsPerPixel = (view.end - view.begin) / width;
        const level = levelFor(row, nsPerPixel);
        const offset = level === null ? row.first : 0;
        const begins = level?.begin ?? spans.begin;
        const ends = level?.end ?? spans.end;
        const last = offset + (level?.count ?? row.count);
        let painted = 0;
        let at = firstEndingAfter(ends, offset, last, view.begin);
        for (; at < last && begins[at]! < view.end; ++at) {
            const begin = begins[at]!;
            const end = ends[at]!;
            let left = Math.max(0, Math.floor((begin - view.begin) / nsPerPixel));
            const right = Math.min(width, Math.max(left + 1, Math.ceil((end - view.begin) / nsPerPixel)));
            const busy = level === null ? end - begin : level.busy[at]!;
            const longest = level === null ? at : level.longest[at]!;
            const members = level === null ? 1 : level.members[at]!;
            if (this.count > 0 && right <= painted) {
                const to = this.count - 1;
                this.busy[to]! += busy;
                this.members[to]! += members;
                const known = this.longest[to]!;
                if (spans.end[longest]! - spans.begin[longest]! > spans.end[known]! - spans.begin[known]!) {
                    this.longest[to] = longest;
                }
                continue;
            }
            left = Math.max(left, painted);
            if (left >= right) continue;
            this.left[this.count] = left;
            this.right[this.count] = right;
            this.busy[this.count] = busy;
            this.longest[this.count] = longest;
            this.members[this.count] = members;
            ++this.count;
            painted = right;
        }
    }

    private reserve(width: number): void {
        this.left = new Int32Array(width);
        this.right = new Int32Array(width);
        this.busy = new Float64Array(width);
        this.longest = new Uint32Array(width);
        this.members = new Uint32Array(width);
    }
}

/** Ends of a row ascend, because its spans do not overlap. */
export function firstEndingAfter(ends: Float64Array, from: number, to: number, time: number): number {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (ends[middle]! > time) to = middle;
        else from = middle + 1;
    }
    return from;
}

/** The span of a row at a moment, or the next one within `near` ns; -1: none. */
export function spanAt(row: Row, spans: Pick<Spans, "begin" | "end">, time: number, near: number): number {
    const last = row.first + row.count;
    const at = firstEndingAfter(spans.end, row.first, last, time);
    if (at < last && spans.begin[at]! <= time) return at;
    const after = at < last ? spans.begin[at]! - time : Infinity;
    const before = at > row.first ? time - spans.end[at - 1]! : Infinity;
    if (Math.min(after, before) > near) return -1;
    return after < before ? at : at - 1;
}
