// Follows one lane through its records and notes what lay on top of what. Rings drop records when
// they are full, so an end may lack its begin and the other way round: neither may confuse the rest.
import { EndFlag, RecordKind, SwitchFlag } from "../parse/kinds";
import type { ParsedLane } from "../parse/capture_parser";
import { Layer, SpanFlag, SpanKind } from "./model";
import type { SpanColumns } from "./span_columns";
import { findTask, type TaskIds } from "./task_ids";

interface Open {
    span: number;
    /** Time of waits and of bodies within it, and times off the core. */
    excluded: number;
    /** Of a part of a join. */
    joinLow: number;
    joinHigh: number;
}

/** The task of the lane goes on as it was. */
function isAboutThread(kind: number): boolean {
    return (
        kind === RecordKind.stolen ||
        kind === RecordKind.searching ||
        kind === RecordKind.parked ||
        kind === RecordKind.unparked ||
        (kind >= RecordKind.counter && kind <= RecordKind.switches)
    );
}

/** How deep bodies lie on top of each other at most. */
export function walkLane(
    number: number,
    lane: ParsedLane,
    ids: TaskIds,
    told: ReadonlyMap<number, number>,
    typeOf: (task: number) => number,
    spans: SpanColumns,
    end: number,
): number {
    const records = lane.records;
    const stack: Open[] = [];
    let bodies = 0;
    let deepest = 0;
    let idle = -1;
    let off = -1;
    let out = false;
    let looking = false;
    let parked = false;
    let before = 0;

    const open = (kind: number, time: number, type: number, task: number, core: number): number => {
        const isWait = kind === SpanKind.wait;
        const layer = !isWait ? Layer.body : bodies === 0 ? Layer.outerWait : Layer.wait;
        const depth = isWait ? Math.max(bodies - 1, 0) : bodies;
        const span = spans.add(number, layer, depth, kind, time, type, task, core);
        stack.push({ span, excluded: 0, joinLow: 0, joinHigh: 0 });
        if (!isWait) deepest = Math.max(deepest, ++bodies);
        return span;
    };
    const close = (time: number, cut: boolean): void => {
        const top = stack.pop()!;
        const kind = spans.kind[top.span]!;
        spans.end[top.span] = time;
        if (cut) spans.flags[top.span]! |= SpanFlag.cut;
        const length = time - spans.begin[top.span]!;
        if (kind === SpanKind.wait) spans.own[top.span] = 0;
        else {
            spans.own[top.span] = Math.max(0, length - top.excluded);
            bodies--;
        }
        const under = stack[stack.length - 1];
        if (under === undefined) return;
        // A scope is its task's own work; it hands on what it left out.
        under.excluded += kind === SpanKind.scope ? top.excluded : length;
    };
    const closeMatching = (matches: (span: number, open: Open) => boolean, time: number): number => {
        let at = stack.length - 1;
        while (at >= 0 && !matches(stack[at]!.span, stack[at]!)) at--;
        if (at < 0) return -1;
        while (stack.length - 1 > at) close(time, true);
        const span = stack[at]!.span;
        close(time, false);
        return span;
    };
    /** Where in the stack the body or wait is that the scopes on top belong to. */
    const innermost = (): number => {
        let at = stack.length - 1;
        while (at >= 0 && spans.kind[stack[at]!.span] === SpanKind.scope) at--;
        return at;
    };
    const runs = (at: number): boolean => at >= 0 && spans.kind[stack[at]!.span] !== SpanKind.wait;
    /** Nobody's own: what passes until then while the thread is off its core, looks for work or sleeps. */
    const leaveOut = (until: number): void => {
        if ((out || looking || parked) && runs(stack.length - 1)) stack[stack.length - 1]!.excluded += until - before;
    };
    /** A task begins only where nothing runs or something waits: what seems to run has lost its end. */
    const closeLost = (): void => {
        for (;;) {
            const at = innermost();
            if (looking || at < 0 || spans.kind[stack[at]!.span] !== SpanKind.task) return;
            while (stack.length > at) close(Math.max(before, spans.begin[stack[stack.length - 1]!.span]!), true);
        }
    };
    const idleUntil = (time: number): void => {
        if (idle >= 0) spans.end[idle] = time;
        idle = -1;
    };

    for (let i = 0; i < records.length; ++i) {
        const time = records.time[i]!;
        const aux = records.aux[i]!;
        const core = records.core[i]!;
        const kind = records.kind[i]!;
        leaveOut(time);
        if (!isAboutThread(kind)) {
            looking = false;
            // Its `unparked` may be lost, but who sleeps says nothing.
            parked = false;
        }
        const task = (): number => told.get(i) ?? findTask(ids, records.taskLow[i]!, records.taskHigh[i]!, time);
        switch (kind) {
            case RecordKind.started:
            case RecordKind.resumed: {
                closeLost();
                idleUntil(time);
                const of = task();
                open(SpanKind.task, time, of < 0 ? aux : typeOf(of), of, core);
                break;
            }
            case RecordKind.ended:
            case RecordKind.suspended: {
                const of = task();
                const span = closeMatching((s) => spans.kind[s] === SpanKind.task && spans.task[s] === of, time);
                if (span < 0) break;
                const flags = records.flags[i]!;
                if (flags & EndFlag.failed) spans.flags[span]! |= SpanFlag.failed;
                if (flags & EndFlag.switched) spans.flags[span]! |= SpanFlag.switched;
                break;
            }
            case RecordKind.jobStarted: {
                idleUntil(time);
                const of = task();
                spans.other[open(SpanKind.job, time, of < 0 ? 0 : typeOf(of), of, core)] = aux | 0;
                const job = stack[stack.length - 1]!;
                job.joinLow = records.otherLow[i]!;
                job.joinHigh = records.otherHigh[i]!;
                break;
            }
            case RecordKind.jobEnded: {
                const [low, high] = [records.otherLow[i]!, records.otherHigh[i]!];
                closeMatching((s, job) => spans.kind[s] === SpanKind.job && job.joinLow === low && job.joinHigh === high, time);
                break;
            }
            case RecordKind.scopeBegin:
                idleUntil(time);
                open(SpanKind.scope, time, aux, stack.length > 0 ? spans.task[stack[stack.length - 1]!.span]! : -1, core);
                break;
            case RecordKind.scopeEnd:
                closeMatching((s) => spans.kind[s] === SpanKind.scope && spans.type[s] === aux, time);
                break;
            case RecordKind.waitBegin: {
                const waiting = task();
                const span = open(SpanKind.wait, time, waiting < 0 ? 0 : typeOf(waiting), waiting, core);
                spans.other[span] = findTask(ids, records.otherLow[i]!, records.otherHigh[i]!, time);
                break;
            }
            case RecordKind.waitEnd: {
                idleUntil(time);
                const waiting = task();
                closeMatching((s) => spans.kind[s] === SpanKind.wait && spans.task[s] === waiting, time);
                break;
            }
            case RecordKind.searching:
            case RecordKind.parked:
            case RecordKind.unparked: {
                if (kind === RecordKind.parked) closeLost();
                if (kind === RecordKind.searching) looking = runs(innermost());
                else {
                    out = false;
                    parked = kind === RecordKind.parked;
                }
                idleUntil(time);
                // A thread that was woken looks for work.
                idle = spans.add(
                    number,
                    Layer.idle,
                    0,
                    kind === RecordKind.parked ? SpanKind.parked : SpanKind.searching,
                    time,
                    0,
                    -1,
                    core,
                );
                spans.end[idle] = time;
                break;
            }
            case RecordKind.switchedOut: {
                out = true;
                if (off >= 0) spans.end[off] = time;
                off = -1;
                const isPreempted = (records.flags[i]! & SwitchFlag.preempted) !== 0;
                const top = stack[stack.length - 1];
                // A thread that waits or has nothing to do leaves its core by itself, which is as it should be.
                if (!isPreempted && (top === undefined || spans.kind[top.span] === SpanKind.wait)) break;
                off = spans.add(
                    number,
                    Layer.switched,
                    Math.max(bodies - 1, 0),
                    isPreempted ? SpanKind.preempted : SpanKind.offCore,
                    time,
                    0,
                    top === undefined ? -1 : spans.task[top.span]!,
                    core,
                );
                spans.end[off] = time;
                break;
            }
            case RecordKind.switchedIn:
                if (off >= 0) spans.end[off] = time;
                off = -1;
                out = false;
                break;
            default:
                break;
        }
        before = time;
    }
    leaveOut(end);
    while (stack.length > 0) close(end, true);
    idleUntil(end);
    if (off >= 0) spans.end[off] = end;
    return deepest;
}
