// Frames: what lies between frame_begin and frame_end of the same number and type, on whatever lanes.
import type { ParsedLane } from "../parse/capture_parser";
import { RecordKind } from "../parse/kinds";
import type { Frames } from "./model";
import { findTask, type TaskIds } from "./task_ids";

interface Frame {
    number: number;
    type: number;
    task: number;
    begin: number;
    end: number;
}

export function collectFrames(lanes: ParsedLane[], ids: TaskIds, duration: number): Frames {
    const byType = new Map<number, Map<number, Frame>>();
    for (const { records } of lanes) {
        for (let i = 0; i < records.length; ++i) {
            const kind = records.kind[i]!;
            if (kind !== RecordKind.frameBegin && kind !== RecordKind.frameEnd) continue;
            const type = records.aux[i]!;
            const number = records.otherLow[i]! + records.otherHigh[i]! * 4294967296;
            const ofType = byType.get(type) ?? new Map<number, Frame>();
            byType.set(type, ofType);
            const frame = ofType.get(number) ?? { number, type, task: -1, begin: NaN, end: NaN };
            ofType.set(number, frame);
            const task = findTask(ids, records.taskLow[i]!, records.taskHigh[i]!);
            if (task >= 0) frame.task = task;
            if (kind === RecordKind.frameBegin) frame.begin = records.time[i]!;
            else frame.end = records.time[i]!;
        }
    }
    // A program may mark its stages as well; the frames of the type with most of them are the ones to step by.
    let best: Frame[] = [];
    for (const ofType of byType.values()) {
        const whole = [...ofType.values()].filter((frame) => frame.end >= frame.begin);
        if (whole.length > best.length) best = whole;
    }
    best.sort((a, b) => a.begin - b.begin);
    const marked = best.length > 0;
    if (!marked) best = [{ number: 0, type: 0, task: -1, begin: 0, end: duration }];
    return {
        count: best.length,
        number: Float64Array.from(best, (frame) => frame.number),
        begin: Float64Array.from(best, (frame) => frame.begin),
        end: Float64Array.from(best, (frame) => frame.end),
        type: Uint32Array.from(best, (frame) => frame.type),
        task: Int32Array.from(best, (frame) => frame.task),
        marked,
    };
}
