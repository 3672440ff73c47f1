// Which tasks are of a frame.
import { listOf } from "./lists";
import { Layer, SpanKind, type Model } from "./model";
import { firstEndingAfter } from "./pixel_columns";

/**
 * Those below the frame's task where the program names one, itself included; otherwise those whose
 * body began between begin and end of the frame. In the order of their numbers, each once.
 */
export function tasksOfFrame(model: Model, frame: number): Uint32Array {
    const { frames, tasks } = model;
    const root = frames.task[frame]!;
    if (root >= 0) return below(model, root);
    const seen = new Set<number>();
    const begin = frames.begin[frame]!;
    const end = frames.end[frame]!;
    for (const row of model.rows) {
        if (row.layer !== Layer.body) continue;
        const last = row.first + row.count;
        for (let s = firstEndingAfter(model.spans.end, row.first, last, begin); s < last && model.spans.begin[s]! < end; ++s) {
            const task = model.spans.task[s]!;
            const kind = model.spans.kind[s]!;
            if (task < 0 || (kind !== SpanKind.task && kind !== SpanKind.job)) continue;
            // A part that runs here may be of a task whose body began before the frame.
            const started = Number.isNaN(tasks.started[task]!) ? model.spans.begin[s]! : tasks.started[task]!;
            if (started >= begin && started < end) seen.add(task);
        }
    }
    return Uint32Array.from(seen).sort();
}

function below(model: Model, root: number): Uint32Array {
    const seen = new Set<number>([root]);
    const rest = [root];
    while (rest.length > 0) {
        for (const child of listOf(model.children, rest.pop()!)) {
            if (seen.has(child)) continue;
            seen.add(child);
            rest.push(child);
        }
    }
    return Uint32Array.from(seen).sort();
}

export function frameAt(model: Model, time: number): number {
    const { frames } = model;
    let low = 0;
    let high = frames.count - 1;
    while (low < high) {
        const middle = (low + high + 1) >>> 1;
        if (frames.begin[middle]! <= time) low = middle;
        else high = middle - 1;
    }
    return low;
}

export function worstFrame(model: Model): number {
    const { frames } = model;
    let worst = 0;
    const length = (frame: number): number => frames.end[frame]! - frames.begin[frame]!;
    for (let frame = 1; frame < frames.count; ++frame) if (length(frame) > length(worst)) worst = frame;
    return worst;
}
