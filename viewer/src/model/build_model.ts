// From the records of all lanes to the model of the page.
import type { CaptureParser, ParsedLane } from "../parse/capture_parser";
import { RecordKind } from "../parse/kinds";
import { collectFrames } from "./collect_frames";
import { walkLane } from "./lane_walk";
import { makeLists } from "./lists";
import { SpanKind, type Counter, type Model, type Row, type Spans, type Tasks } from "./model";
import { buildLevels } from "./pyramid";
import { SpanColumns } from "./span_columns";
import { addId, findTask, makeTaskIds, type TaskIds } from "./task_ids";
import { isOfLife, separateLives } from "./task_lives";

export function buildModel(from: CaptureParser): Model {
    const ids = makeTaskIds();
    numberTasks(from.lanes, ids);
    const told = separateLives(from.lanes, ids);
    const tasks = makeTasks(ids);
    const edges = new Pairs();
    const onProcessors = new Set<number>();
    from.lanes.forEach((lane, number) => noteTasks(lane, told[number]!, tasks, edges, onProcessors));
    addEdgesOfProcessors(tasks, edges, onProcessors);

    const columns = new SpanColumns();
    const depths = from.lanes.map((lane, number) =>
        walkLane(number, lane, ids, told[number]!, (task) => tasks.type[task]!, columns, from.duration),
    );
    const { spans, rows } = sortIntoRows(columns);
    for (let span = 0; span < spans.count; ++span) {
        const task = spans.task[span]!;
        const kind = spans.kind[span]!;
        if (task < 0 || (kind !== SpanKind.task && kind !== SpanKind.job)) continue;
        tasks.own[task]! += spans.own[span]!;
        if (kind === SpanKind.task && tasks.span[task] === -1) tasks.span[task] = span;
    }

    const everyTask = new Int32Array(ids.count).map((_, task) => task);
    return {
        info: from.info.map(([key, value]) => [key, value]),
        switches: from.switches,
        beganAt: from.beganAt,
        duration: from.duration,
        whole: from.whole,
        records: from.records,
        dropped: from.lanes.reduce((sum, lane) => sum + lane.dropped, 0),
        types: from.types.map((type) => ({ ...type })),
        lanes: from.lanes.map(({ name, kind, seat, thread, switches, dropped, records }, number) => {
            return { name, kind, seat, thread, switches, dropped, records: records.length, depths: depths[number]! };
        }),
        tasks,
        spans,
        rows,
        predecessors: makeLists(ids.count, edges.from, edges.to, edges.count),
        successors: makeLists(ids.count, edges.to, edges.from, edges.count),
        children: makeLists(ids.count, tasks.parent, everyTask, ids.count),
        frames: collectFrames(from.lanes, ids, from.duration),
        counters: collectCounters(from.lanes),
    };
}

class Pairs {
    count = 0;
    from = new Int32Array(1024);
    to = new Int32Array(1024);

    add(from: number, to: number): void {
        if (this.count === this.from.length) {
            const wider = (column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
                const room = new Int32Array(column.length * 2);
                room.set(column);
                return room;
            };
            this.from = wider(this.from);
            this.to = wider(this.to);
        }
        this.from[this.count] = from;
        this.to[this.count++] = to;
    }
}

/** First the spawns, in order, so that neighbours in time are neighbours in the arrays. */
function numberTasks(lanes: ParsedLane[], ids: TaskIds): void {
    const other = new Set<number>([RecordKind.spawned, RecordKind.edge, RecordKind.ready, RecordKind.waitBegin]);
    for (const { records } of lanes) {
        for (let i = 0; i < records.length; ++i) {
            addId(ids, records.taskLow[i]!, records.taskHigh[i]!);
            if (other.has(records.kind[i]!)) addId(ids, records.otherLow[i]!, records.otherHigh[i]!);
        }
    }
}

function makeTasks(ids: TaskIds): Tasks {
    const n = ids.count;
    return {
        ids,
        type: new Uint32Array(n),
        parent: new Int32Array(n).fill(-1),
        spawnFlags: new Uint8Array(n).fill(1),
        endFlags: new Uint8Array(n),
        cancelled: new Uint8Array(n),
        spawned: new Float64Array(n).fill(NaN),
        ready: new Float64Array(n).fill(NaN),
        started: new Float64Array(n).fill(NaN),
        ended: new Float64Array(n).fill(NaN),
        completed: new Float64Array(n).fill(NaN),
        releasedBy: new Int32Array(n).fill(-1),
        span: new Int32Array(n).fill(-1),
        own: new Float64Array(n),
    };
}

/** A processor's work comes after the task that submitted it, and before what comes after that task. */
function addEdgesOfProcessors(tasks: Tasks, edges: Pairs, work: ReadonlySet<number>): void {
    const ofTask = new Map<number, number[]>();
    for (const one of work) {
        const parent = tasks.parent[one]!;
        if (parent < 0) continue;
        const known = ofTask.get(parent);
        if (known === undefined) ofTask.set(parent, [one]);
        else known.push(one);
    }
    const count = ofTask.size === 0 ? 0 : edges.count;
    for (let i = 0; i < count; ++i) {
        for (const one of ofTask.get(edges.to[i]!) ?? []) edges.add(edges.from[i]!, one);
    }
    for (const [parent, all] of ofTask) for (const one of all) edges.add(one, parent);
}

function noteTasks(
    lane: ParsedLane,
    told: ReadonlyMap<number, number>,
    tasks: Tasks,
    edges: Pairs,
    onProcessors: Set<number>,
): void {
    const records = lane.records;
    for (let i = 0; i < records.length; ++i) {
        const kind = records.kind[i]!;
        if (!isOfLife(kind)) continue;
        const time = records.time[i]!;
        const task = told.get(i) ?? findTask(tasks.ids, records.taskLow[i]!, records.taskHigh[i]!, time);
        if (task < 0) continue;
        const other = (): number => findTask(tasks.ids, records.otherLow[i]!, records.otherHigh[i]!, time);
        switch (kind) {
            case RecordKind.spawned:
                tasks.spawned[task] = time;
                tasks.parent[task] = other() === task ? -1 : other();
                tasks.spawnFlags[task] = records.flags[i]!;
                // It knows the place in the source; a start knows the name only.
                if (records.aux[i] !== 0) tasks.type[task] = records.aux[i]!;
                break;
            case RecordKind.deferred:
                tasks.spawned[task] = time;
                // Where a processor has a lane, that says when it began and ended.
                if (Number.isNaN(tasks.started[task]!)) tasks.started[task] = time;
                tasks.parent[task] = other() === task ? -1 : other();
                tasks.type[task] = records.aux[i]!;
                break;
            case RecordKind.settled:
                if (Number.isNaN(tasks.ended[task]!)) tasks.ended[task] = time;
                tasks.completed[task] = time;
                break;
            case RecordKind.edge:
                edges.add(task, other());
                break;
            case RecordKind.ready:
                tasks.ready[task] = time;
                tasks.releasedBy[task] = other();
                break;
            case RecordKind.started:
                if (lane.kind === "device") onProcessors.add(task);
                tasks.started[task] = time;
                if (tasks.type[task] === 0) tasks.type[task] = records.aux[i]!;
                break;
            case RecordKind.ended:
                tasks.ended[task] = time;
                tasks.endFlags[task] = records.flags[i]!;
                break;
            case RecordKind.completed:
                tasks.completed[task] = time;
                break;
            case RecordKind.cancelled:
                tasks.cancelled[task] = 1;
                break;
            default:
                break;
        }
    }
}

/** Spans of one lane, layer and depth become neighbours; among them the order in which they began stays. */
function sortIntoRows(columns: SpanColumns): { spans: Spans; rows: Row[] } {
    const keyOf = (span: number): number => (columns.lane[span]! * 8 + columns.layer[span]!) * 256 + columns.depth[span]!;
    const counts = new Map<number, number>();
    for (let span = 0; span < columns.count; ++span) counts.set(keyOf(span), (counts.get(keyOf(span)) ?? 0) + 1);
    const rows: Row[] = [];
    const next = new Map<number, number>();
    let first = 0;
    for (const key of [...counts.keys()].sort((a, b) => a - b)) {
        const count = counts.get(key)!;
        rows.push({ lane: key >> 11, layer: (key >> 8) & 7, depth: key & 255, first, count, levels: [] });
        next.set(key, first);
        first += count;
    }
    const order = new Uint32Array(columns.count);
    for (let span = 0; span < columns.count; ++span) {
        const key = keyOf(span);
        const to = next.get(key)!;
        order[to] = span;
        next.set(key, to + 1);
    }
    const spans = columns.sorted(order);
    for (const row of rows) row.levels = buildLevels(spans, row.first, row.count);
    return { spans, rows };
}

function collectCounters(lanes: ParsedLane[]): Counter[] {
    const byType = new Map<number, { time: number[]; value: number[] }>();
    const bits = new DataView(new ArrayBuffer(8));
    for (const { records } of lanes) {
        for (let i = 0; i < records.length; ++i) {
            if (records.kind[i] !== RecordKind.counter) continue;
            let points = byType.get(records.aux[i]!);
            if (points === undefined) byType.set(records.aux[i]!, (points = { time: [], value: [] }));
            bits.setUint32(0, records.otherLow[i]!, true);
            bits.setUint32(4, records.otherHigh[i]!, true);
            points.time.push(records.time[i]!);
            points.value.push(bits.getFloat64(0, true));
        }
    }
    return [...byType].map(([type, { time, value }]) => {
        // One counter may be written on several lanes, each of which is in order for itself.
        const order = Uint32Array.from(time, (_, i) => i).sort((a, b) => time[a]! - time[b]! || a - b);
        return { type, time: Float64Array.from(order, (i) => time[i]!), value: Float64Array.from(order, (i) => value[i]!) };
    });
}
