// Frames: what lies between frame_begin and the next frame_end of the same number and type, on
// whatever lanes. Numbers come again where a program has several loops, one after the other.
import type { ParsedLane } from "../parse/capture_parser";
import { RecordKind } from "../parse/kinds";
import type { Frames } from "./model";
import { findTask, type TaskIds } from "./task_ids";

interface Mark {
    isBegin: boolean;
    number: number;
    type: number;
    task: number;
    time: number;
}

interface Frame {
    number: number;
    task: number;
    begin: number;
    end: number;
}

export function collectFrames(lanes: ParsedLane[], ids: TaskIds, duration: number): Frames {
    const open = new Map<string, Frame>();
    const byType = new Map<number, Frame[]>();
    for (const { isBegin, number, type, task, time } of marksOf(lanes, ids)) {
        const key = `${type} ${number}`;
        if (isBegin) {
            open.set(key, { number, task, begin: time, end: NaN });
            continue;
        }
        const frame = open.get(key);
        if (frame === undefined) continue;
        open.delete(key);
        frame.end = time;
        if (frame.task < 0) frame.task = task;
        const ofType = byType.get(type);
        if (ofType === undefined) byType.set(type, [frame]);
        else ofType.push(frame);
    }
    // A program may mark its stages as well; the frames of the type with most of them are the ones to step by.
    let best: { type: number; frames: Frame[] } = { type: 0, frames: [] };
    for (const [type, frames] of byType) if (frames.length > best.frames.length) best = { type, frames };
    const marked = best.frames.length > 0;
    const frames = marked ? best.frames.sort((a, b) => a.begin - b.begin) : [{ number: 0, task: -1, begin: 0, end: duration }];
    return {
        count: frames.length,
        number: Float64Array.from(frames, (frame) => frame.number),
        begin: Float64Array.from(frames, (frame) => frame.begin),
        end: Float64Array.from(frames, (frame) => frame.end),
        type: new Uint32Array(frames.length).fill(best.type),
        task: Int32Array.from(frames, (frame) => frame.task),
        marked,
    };
}

/** In order of time; those of one lane stay in their order. */
function marksOf(lanes: ParsedLane[], ids: TaskIds): Mark[] {
    const marks: Mark[] = [];
    for (const { records } of lanes) {
        for (let i = 0; i < records.length; ++i) {
            const kind = records.kind[i]!;
            if (kind !== RecordKind.frameBegin && kind !== RecordKind.frameEnd) continue;
            marks.push({
                isBegin: kind === RecordKind.frameBegin,
                number: records.otherLow[i]! + records.otherHigh[i]! * 4294967296,
                type: records.aux[i]!,
                task: findTask(ids, records.taskLow[i]!, records.taskHigh[i]!, records.time[i]!),
                time: records.time[i]!,
            });
        }
    }
    return marks.sort((a, b) => a.time - b.time);
}
