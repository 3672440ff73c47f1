// Ids that served more than once. A slot's generations run out some day, and two schedulers may share
// a recorder: what begins under the id of a task that has completed is another task.
import type { ParsedLane } from "../parse/capture_parser";
import { RecordKind } from "../parse/kinds";
import { addTaskAgain, findId, type TaskIds } from "./task_ids";

/** For each lane: the tasks of those records whose id alone does not tell them. */
export type Told = ReadonlyMap<number, number>[];

interface Reference {
    id: number;
    time: number;
    lane: number;
    index: number;
}

/** Of a task, or of a completion: work of somebody outside, from `deferred` to `settled`. */
export const isOfLife = (kind: number): boolean =>
    (kind >= RecordKind.spawned && kind <= RecordKind.cancelled) ||
    kind === RecordKind.deferred ||
    kind === RecordKind.settled;
const begins = (kind: number): boolean => kind === RecordKind.spawned || kind === RecordKind.ready || kind === RecordKind.started;

/** Gives each task after the first of an id a number of its own. `ids` knows all ids. */
export function separateLives(lanes: ParsedLane[], ids: TaskIds): Told {
    const told = lanes.map(() => new Map<number, number>());
    const wanted = idsThatMayServeAgain(lanes, ids);
    if (wanted.size === 0) return told;
    const references: Reference[] = [];
    lanes.forEach(({ records }, lane) => {
        for (let index = 0; index < records.length; ++index) {
            if (!isOfLife(records.kind[index]!)) continue;
            const id = findId(ids, records.taskLow[index]!, records.taskHigh[index]!);
            if (wanted.has(id)) references.push({ id, time: records.time[index]!, lane, index });
        }
    });
    references.sort((a, b) => a.id - b.id || a.time - b.time || a.lane - b.lane || a.index - b.index);
    let task = -1;
    let id = -1;
    let spawned = false;
    let completed = false;
    for (const at of references) {
        const kind = lanes[at.lane]!.records.kind[at.index]!;
        const isOther = begins(kind) && (completed || (kind === RecordKind.spawned && spawned));
        if (at.id !== id || isOther) {
            task = at.id !== id ? at.id : addTaskAgain(ids, at.id, at.time);
            id = at.id;
            spawned = completed = false;
        }
        spawned ||= kind === RecordKind.spawned;
        completed ||= kind === RecordKind.completed || kind === RecordKind.settled;
        told[at.lane]!.set(at.index, task);
    }
    return told;
}

/** Nearly always none, and then that is all that this costs. */
function idsThatMayServeAgain(lanes: ParsedLane[], ids: TaskIds): Set<number> {
    const spawns = new Uint8Array(ids.count);
    const lastBegin = new Float64Array(ids.count).fill(-1);
    const firstCompleted = new Float64Array(ids.count).fill(Infinity);
    const wanted = new Set<number>();
    for (const { records } of lanes) {
        for (let i = 0; i < records.length; ++i) {
            const kind = records.kind[i]!;
            const isEnd = kind === RecordKind.completed;
            if (!isEnd && !begins(kind)) continue;
            const id = findId(ids, records.taskLow[i]!, records.taskHigh[i]!);
            if (id < 0) continue;
            const time = records.time[i]!;
            if (isEnd) firstCompleted[id] = Math.min(firstCompleted[id]!, time);
            else lastBegin[id] = Math.max(lastBegin[id]!, time);
            if (kind === RecordKind.spawned && spawns[id]!++ === 1) wanted.add(id);
        }
    }
    for (let id = 0; id < lastBegin.length; ++id) if (lastBegin[id]! >= firstCompleted[id]!) wanted.add(id);
    return wanted;
}
