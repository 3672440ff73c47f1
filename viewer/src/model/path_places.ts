// Where the steps of a critical path lie on the timeline. A step may be a part of a task that ran on
// another lane than its body, so the lane is found by the time.
import type { PathStep } from "./analysis";
import { Layer, type Model } from "./model";
import { spanAt } from "./pixel_columns";

export interface PathPlace {
    begin: number;
    end: number;
    /** -1: what ran was no task, or is not in the capture. */
    span: number;
}

export function placePath(model: Model, path: PathStep[]): PathPlace[] {
    return path.map(({ task, begin, end }) => {
        if (task < 0) return { begin, end, span: -1 };
        const middle = (begin + end) / 2;
        const main = model.tasks.span[task]!;
        if (main >= 0 && model.spans.begin[main]! <= middle && middle <= model.spans.end[main]!) return { begin, end, span: main };
        for (const row of model.rows) {
            if (row.layer !== Layer.body) continue;
            const span = spanAt(row, model.spans, middle, 0);
            if (span >= 0 && model.spans.task[span] === task) return { begin, end, span };
        }
        return { begin, end, span: main };
    });
}
