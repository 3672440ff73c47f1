// Spans while they are collected, in the order in which they begin on each lane.
import type { Spans } from "./model";

export class SpanColumns {
    count = 0;
    begin = new Float64Array(1024);
    end = new Float64Array(1024);
    own = new Float64Array(1024);
    kind = new Uint8Array(1024);
    flags = new Uint8Array(1024);
    depth = new Uint8Array(1024);
    lane = new Uint16Array(1024);
    core = new Uint16Array(1024);
    type = new Uint32Array(1024);
    task = new Int32Array(1024);
    other = new Int32Array(1024);
    layer = new Uint8Array(1024);

    add(lane: number, layer: number, depth: number, kind: number, begin: number, type: number, task: number, core: number): number {
        if (this.count === this.begin.length) this.grow();
        const at = this.count++;
        this.begin[at] = begin;
        this.end[at] = begin;
        this.kind[at] = kind;
        this.layer[at] = layer;
        this.depth[at] = Math.min(depth, 255);
        this.lane[at] = lane;
        this.core[at] = core;
        this.type[at] = type;
        this.task[at] = task;
        this.other[at] = -1;
        return at;
    }

    private grow(): void {
        const wider = <T extends { set(from: T): void }>(from: T, to: T): T => {
            to.set(from);
            return to;
        };
        const room = this.begin.length * 2;
        this.begin = wider(this.begin, new Float64Array(room));
        this.end = wider(this.end, new Float64Array(room));
        this.own = wider(this.own, new Float64Array(room));
        this.kind = wider(this.kind, new Uint8Array(room));
        this.flags = wider(this.flags, new Uint8Array(room));
        this.depth = wider(this.depth, new Uint8Array(room));
        this.lane = wider(this.lane, new Uint16Array(room));
        this.core = wider(this.core, new Uint16Array(room));
        this.type = wider(this.type, new Uint32Array(room));
        this.task = wider(this.task, new Int32Array(room));
        this.other = wider(this.other, new Int32Array(room));
        this.layer = wider(this.layer, new Uint8Array(room));
    }

    /** The spans in another order: `order[i]` is where the i-th of the result stands here. */
    sorted(order: Uint32Array): Spans {
        const n = this.count;
        const spans: Spans = {
            count: n,
            begin: new Float64Array(n),
            end: new Float64Array(n),
            own: new Float64Array(n),
            kind: new Uint8Array(n),
            flags: new Uint8Array(n),
            depth: new Uint8Array(n),
            lane: new Uint16Array(n),
            core: new Uint16Array(n),
            type: new Uint32Array(n),
            task: new Int32Array(n),
            other: new Int32Array(n),
        };
        for (let i = 0; i < n; ++i) {
            const from = order[i]!;
            spans.begin[i] = this.begin[from]!;
            spans.end[i] = this.end[from]!;
            spans.own[i] = this.own[from]!;
            spans.kind[i] = this.kind[from]!;
            spans.flags[i] = this.flags[from]!;
            spans.depth[i] = this.depth[from]!;
            spans.lane[i] = this.lane[from]!;
            spans.core[i] = this.core[from]!;
            spans.type[i] = this.type[from]!;
            spans.task[i] = this.task[from]!;
            spans.other[i] = this.other[from]!;
        }
        return spans;
    }
}
