// What the page knows of a capture: plain objects and typed arrays, so that the worker that builds it
// hands it over without a copy. Times are ns since the capture began; NaN: not in the capture.
import type { RecordType } from "../parse/capture_parser";
import type { LaneKind, SwitchLevel } from "../parse/kinds";
import type { TaskIds } from "./task_ids";

// ---- scripts/kinds.py writes this
export const SpanKind = {
    task: 0,
    job: 1,
    scope: 2,
    wait: 3,
    searching: 4,
    parked: 5,
    preempted: 6,
    offCore: 7,
} as const;
// ---- as far as here

export const SpanFlag = {
    failed: 1,
    /** The thread was off its core at least once meanwhile. */
    switched: 2,
    /** Its begin or its end is not in the capture. */
    cut: 4,
} as const;

/** Rows of a lane lie in layers, drawn in this order. */
export const Layer = { idle: 0, outerWait: 1, body: 2, wait: 3, switched: 4 } as const;

export interface Spans {
    count: number;
    begin: Float64Array;
    end: Float64Array;
    /** What remains of a body without its waits, what ran on top of it, and times off the core. */
    own: Float64Array;
    kind: Uint8Array;
    flags: Uint8Array;
    depth: Uint8Array;
    lane: Uint16Array;
    core: Uint16Array;
    type: Uint32Array;
    /** -1: none. */
    task: Int32Array;
    /** The task that a wait is for; the seat from which a job was taken. -1: none. */
    other: Int32Array;
}

/** Spans that follow one another in time, or groups of them that are too short to be seen alone. */
export interface Level {
    /** ns; what is shorter than this has been grouped. 0: nothing has. */
    width: number;
    count: number;
    begin: Float64Array;
    end: Float64Array;
    /** Sum of the lengths of what is in the group. */
    busy: Float64Array;
    /** The longest span of the group. */
    longest: Uint32Array;
    members: Uint32Array;
}

export interface Row {
    lane: number;
    layer: number;
    depth: number;
    /** Its spans, in order of time. */
    first: number;
    count: number;
    levels: Level[];
}

export interface Tasks {
    ids: TaskIds;
    type: Uint32Array;
    parent: Int32Array;
    spawnFlags: Uint8Array;
    endFlags: Uint8Array;
    cancelled: Uint8Array;
    spawned: Float64Array;
    ready: Float64Array;
    started: Float64Array;
    ended: Float64Array;
    completed: Float64Array;
    /** The task whose end released it, -1: none. */
    releasedBy: Int32Array;
    /** Its own body, -1: never ran. */
    span: Int32Array;
    /** How long its body and its parts of joins ran, on whatever lanes: the sum of what spans have as their own. */
    own: Float64Array;
}

/** For each task a list: `items[start[t] .. start[t + 1]]`. */
export interface Lists {
    start: Uint32Array;
    items: Uint32Array;
}

export interface Frames {
    count: number;
    number: Float64Array;
    begin: Float64Array;
    end: Float64Array;
    type: Uint32Array;
    task: Int32Array;
    /** False: the program marks none, and the whole capture stands in for one. */
    marked: boolean;
}

export interface Counter {
    type: number;
    time: Float64Array;
    value: Float64Array;
}

export interface ModelLane {
    name: string;
    kind: LaneKind;
    seat: number;
    thread: string;
    /** How much is known of its switches; null: as much as of the capture's. */
    switches: SwitchLevel | null;
    dropped: number;
    records: number;
    depths: number;
}

export interface Model {
    info: [string, string][];
    switches: SwitchLevel;
    beganAt: number;
    duration: number;
    whole: boolean;
    records: number;
    dropped: number;
    types: RecordType[];
    lanes: ModelLane[];
    tasks: Tasks;
    spans: Spans;
    rows: Row[];
    predecessors: Lists;
    successors: Lists;
    children: Lists;
    /** Those of the type that has most. */
    frames: Frames;
    counters: Counter[];
}

/** "exact", or "exact, count on worker 3" where lanes know less than others. */
export function switchesText(model: Model): string {
    const text = (level: SwitchLevel): string => (level === "none" ? "not recorded" : level);
    const others = new Map<SwitchLevel, string[]>();
    for (const { name, switches } of model.lanes) {
        if (switches === null || switches === model.switches) continue;
        others.set(switches, [...(others.get(switches) ?? []), name]);
    }
    const named = (names: string[]): string => (names.length > 3 ? `${names.length} threads` : names.join(" and "));
    return [text(model.switches), ...[...others].map(([level, names]) => `${text(level)} on ${named(names)}`)].join(", ");
}

export function typeName(model: Model, type: number): string {
    const name = model.types[type]?.name ?? "";
    return name === "" ? "(no name)" : name;
}

export function taskName(model: Model, task: number): string {
    return task < 0 ? "(no task)" : typeName(model, model.tasks.type[task]!);
}

export function spanName(model: Model, span: number): string {
    const kind = model.spans.kind[span]!;
    const name = typeName(model, model.spans.type[span]!);
    switch (kind) {
        case SpanKind.wait:
            return "wait";
        case SpanKind.searching:
            return "searching";
        case SpanKind.parked:
            return "parked";
        case SpanKind.preempted:
            return "preempted";
        case SpanKind.offCore:
            return "off its core";
        case SpanKind.job:
            return `${name} (part)`;
        default:
            return name;
    }
}
