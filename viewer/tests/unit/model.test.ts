import { describe, expect, it } from "vitest";
import { listOf } from "../../src/model/lists";
import { Layer, SpanFlag, SpanKind, type Model } from "../../src/model/model";
import { search } from "../../src/model/search";
import { typeStatistics } from "../../src/model/statistics";
import { findTaskByText, idText, tasksOfText } from "../../src/model/task_ids";
import { RecordKind as K } from "../../src/parse/kinds";
import { CaptureBytes, bitsOf, type TestRecord } from "../support/capture_bytes";
import { modelOf } from "../support/built";
import { makeScene } from "../support/synthetic";

function ofOneLane(records: TestRecord[]): Model {
    const out = new CaptureBytes().header();
    out.type("a");
    out.type("b");
    out.lane(0, "main", 2, 0);
    return modelOf(out.records(0, records).done(1000).bytes());
}

interface Seen {
    kind: number;
    depth: number;
    begin: number;
    end: number;
    own: number;
}

function spansOf(model: Model): Seen[] {
    const s = model.spans;
    return Array.from({ length: s.count }, (_, i) => ({ kind: s.kind[i]!, depth: s.depth[i]!, begin: s.begin[i]!, end: s.end[i]!, own: s.own[i]! }));
}

describe("a processor", () => {
    it("runs what a task submitted, between that task and what comes after it", () => {
        const out = new CaptureBytes().header();
        out.type("submits");
        out.type("kernel");
        out.type("after");
        out.lane(0, "main", 2, 0).lane(1, "gpu", 6, 1);
        out.records(1, [
            { time: 40, kind: K.started, task: 9n, aux: 2 },
            { time: 90, kind: K.ended, task: 9n },
        ]);
        out.records(0, [
            { time: 0, kind: K.started, task: 1n, aux: 1 },
            { time: 10, kind: K.deferred, task: 9n, other: 1n, aux: 2 },
            { time: 20, kind: K.ended, task: 1n },
            { time: 20, kind: K.edge, task: 2n, other: 1n },
            { time: 95, kind: K.settled, task: 9n, other: 1n, aux: 2 },
            { time: 100, kind: K.started, task: 2n, aux: 3 },
            { time: 110, kind: K.ended, task: 2n },
        ]);
        const model = modelOf(out.done(1000).bytes());
        const [submits, work, after] = ["submits", "kernel", "after"].map((name) =>
            [...model.tasks.type].findIndex((type) => model.types[type]!.name === name),
        );
        expect(listOf(model.successors, submits!)).toContain(work);
        expect([...listOf(model.successors, work!)]).toEqual([after]);
        expect([model.tasks.spawned[work!], model.tasks.started[work!], model.tasks.ended[work!]]).toEqual([10, 40, 90]);
        expect(model.tasks.completed[work!]).toBe(95);
    });
});

describe("a lane", () => {
    it("shows a task on top of the wait of another, and counts the wait for neither", () => {
        const model = ofOneLane([
            { time: 0, kind: K.started, task: 1n, aux: 1 },
            { time: 100, kind: K.waitBegin, task: 1n, other: 2n },
            { time: 150, kind: K.started, task: 2n, aux: 2 },
            { time: 250, kind: K.ended, task: 2n },
            { time: 300, kind: K.waitEnd, task: 1n, other: 2n },
            { time: 400, kind: K.ended, task: 1n },
        ]);
        expect(spansOf(model)).toEqual([
            { kind: SpanKind.task, depth: 0, begin: 0, end: 400, own: 200 },
            { kind: SpanKind.task, depth: 1, begin: 150, end: 250, own: 100 },
            { kind: SpanKind.wait, depth: 0, begin: 100, end: 300, own: 0 },
        ]);
        expect([...model.tasks.own]).toEqual([200, 100]);
    });

    it("leaves the time of a scope with its task", () => {
        const model = ofOneLane([
            { time: 0, kind: K.started, task: 1n, aux: 1 },
            { time: 10, kind: K.scopeBegin, aux: 2 },
            { time: 20, kind: K.waitBegin, task: 1n },
            { time: 50, kind: K.waitEnd, task: 1n },
            { time: 60, kind: K.scopeEnd, aux: 2 },
            { time: 100, kind: K.ended, task: 1n },
        ]);
        expect(spansOf(model).map((s) => [s.kind, s.own])).toEqual([[SpanKind.task, 70], [SpanKind.scope, 20], [SpanKind.wait, 0]]);
    });

    it("adds parts of a join to the task that they are of", () => {
        const model = ofOneLane([
            { time: 0, kind: K.jobStarted, task: 1n, other: 3n, aux: 2 },
            { time: 40, kind: K.jobEnded, task: 1n, other: 3n },
            { time: 50, kind: K.started, task: 1n, aux: 1 },
            { time: 80, kind: K.ended, task: 1n },
        ]);
        expect(model.tasks.own[0]).toBe(70);
    });

    it("stands records that were dropped", () => {
        const model = ofOneLane([
            { time: 0, kind: K.ended, task: 9n },
            { time: 10, kind: K.started, task: 1n, aux: 1 },
            { time: 20, kind: K.started, task: 2n, aux: 2 },
            { time: 30, kind: K.ended, task: 1n },
            { time: 40, kind: K.waitEnd, task: 1n },
            { time: 50, kind: K.started, task: 3n, aux: 1 },
        ]);
        const seen = spansOf(model).map((s) => [s.begin, s.end, s.depth]);
        // Nothing begins on top of what runs: the ends of tasks 1 and 2 were lost, as that of 3 is.
        expect(seen).toEqual([[10, 10, 0], [20, 40, 0], [50, 1000, 0]]);
        expect([...model.spans.flags].map((f) => f & SpanFlag.cut)).toEqual([SpanFlag.cut, SpanFlag.cut, SpanFlag.cut]);
        expect(typeStatistics(model)).toEqual([]);
    });

    it("does not mind a thread that leaves its core while it waits or has nothing to do", () => {
        const model = ofOneLane([
            { time: 0, kind: K.parked },
            { time: 1, kind: K.switchedOut },
            { time: 9, kind: K.switchedIn },
            { time: 10, kind: K.started, task: 1n, aux: 1 },
            { time: 20, kind: K.waitBegin, task: 1n },
            { time: 21, kind: K.switchedOut },
            { time: 28, kind: K.switchedIn },
            { time: 30, kind: K.waitEnd, task: 1n },
            { time: 40, kind: K.switchedOut },
            { time: 45, kind: K.switchedIn },
            { time: 50, kind: K.ended, task: 1n },
        ]);
        expect(spansOf(model).filter((s) => s.kind === SpanKind.offCore)).toEqual([{ kind: SpanKind.offCore, depth: 0, begin: 40, end: 45, own: 0 }]);
        expect(model.tasks.own[0]).toBe(25);
    });

    it("knows when it searched, slept, and was off its core", () => {
        const model = ofOneLane([
            { time: 0, kind: K.searching },
            { time: 10, kind: K.parked },
            { time: 30, kind: K.unparked },
            { time: 40, kind: K.started, task: 1n, aux: 1 },
            { time: 50, kind: K.switchedOut, flags: 1 },
            { time: 70, kind: K.switchedIn },
            { time: 80, kind: K.ended, task: 1n, flags: 3 },
        ]);
        expect(spansOf(model).map((s) => [s.kind, s.begin, s.end])).toEqual([
            [SpanKind.searching, 0, 10],
            [SpanKind.parked, 10, 30],
            [SpanKind.searching, 30, 40],
            [SpanKind.task, 40, 80],
            [SpanKind.preempted, 50, 70],
        ]);
        // 20 of its 40 ns were taken away.
        expect(model.spans.own[3]).toBe(20);
        expect(model.spans.flags[3]).toBe(SpanFlag.failed | SpanFlag.switched);
    });

    it("charges each body for the time that it was off its core, and not the next one", () => {
        const model = ofOneLane([
            { time: 0, kind: K.started, task: 1n, aux: 1 },
            { time: 50, kind: K.switchedOut, flags: 1 },
            { time: 60, kind: K.ended, task: 1n },
            { time: 60, kind: K.started, task: 2n, aux: 1 },
            { time: 70, kind: K.switchedIn },
            { time: 100, kind: K.ended, task: 2n },
        ]);
        expect([...model.tasks.own]).toEqual([50, 30]);
    });

    it("ends the part of the join that is named, although the end of another one of its task is lost", () => {
        const model = ofOneLane([
            { time: 0, kind: K.jobStarted, task: 1n, other: 3n },
            { time: 10, kind: K.jobStarted, task: 1n, other: 4n },
            { time: 100, kind: K.jobEnded, task: 1n, other: 3n },
        ]);
        expect(spansOf(model).map((s) => [s.begin, s.end, s.own])).toEqual([[0, 100, 10], [10, 100, 90]]);
    });
});

describe("the model", () => {
    it("has the type of a task from its spawn, which knows the place", () => {
        const out = new CaptureBytes().header();
        out.type("a");
        out.type("a", "a.cpp", 7);
        out.lane(0, "worker", 1, 0).lane(1, "main", 2, 1);
        out.records(0, [{ time: 5, kind: K.started, task: 1n, aux: 1 }, { time: 9, kind: K.ended, task: 1n }, { time: 10, kind: K.started, task: 2n, aux: 1 }]);
        out.records(1, [{ time: 0, kind: K.spawned, task: 1n, aux: 2 }]);
        const model = modelOf(out.done(20).bytes());
        expect([...model.tasks.type]).toEqual([2, 1]);
        expect([...model.spans.type]).toEqual([2, 1]);
    });

    it("keeps ids of 64 bits apart", () => {
        const model = ofOneLane([
            { time: 0, kind: K.spawned, task: (1n << 32n) | 5n, aux: 1 },
            { time: 1, kind: K.spawned, task: (2n << 32n) | 5n, other: (1n << 32n) | 5n, aux: 1 },
        ]);
        expect(model.tasks.ids.count).toBe(2);
        expect(idText(model.tasks.ids, 1)).toBe("8589934597");
        expect(findTaskByText(model.tasks.ids, "8589934597")).toBe(1);
        expect(findTaskByText(model.tasks.ids, "8589934598")).toBe(-1);
        expect(findTaskByText(model.tasks.ids, "99999999999999999999999")).toBe(-1);
        expect([...listOf(model.children, 0)]).toEqual([1]);
    });

    it("takes an id that serves again for another task", () => {
        const out = new CaptureBytes().header();
        for (const name of ["a", "b", "c"]) out.type(name);
        out.lane(0, "worker", 1, 0).lane(1, "main", 2, 1);
        out.records(0, [
            { time: 10, kind: K.started, task: 1n, aux: 1 },
            { time: 30, kind: K.ended, task: 1n },
            { time: 30, kind: K.completed, task: 1n },
            { time: 40, kind: K.started, task: 1n, aux: 2 },
            { time: 45, kind: K.spawned, task: 9n, other: 1n, aux: 3 },
            { time: 90, kind: K.ended, task: 1n },
            { time: 91, kind: K.completed, task: 1n },
            // Its spawn was lost.
            { time: 92, kind: K.started, task: 1n, aux: 3 },
            { time: 95, kind: K.ended, task: 1n },
        ]);
        out.records(1, [
            { time: 5, kind: K.spawned, task: 1n, aux: 1 },
            { time: 6, kind: K.spawned, task: 8n, aux: 3 },
            { time: 6, kind: K.edge, task: 8n, other: 1n },
            // At the very moment at which the first one was complete.
            { time: 30, kind: K.spawned, task: 1n, aux: 2 },
            { time: 31, kind: K.waitBegin, other: 1n },
            { time: 92, kind: K.waitEnd, other: 1n },
            { time: 93, kind: K.spawned, task: 7n, aux: 3 },
            { time: 93, kind: K.edge, task: 7n, other: 1n },
        ]);
        const model = modelOf(out.done(100).bytes());
        const { tasks, spans } = model;
        const [first, second, third] = tasksOfText(tasks.ids, "1");
        expect(tasksOfText(tasks.ids, "1").length).toBe(3);
        expect([first, second, third].map((task) => tasks.own[task!])).toEqual([20, 50, 3]);
        expect([first, second, third].map((task) => tasks.spawned[task!])).toEqual([5, 30, NaN]);
        expect([first, second, third].map((task) => tasks.completed[task!])).toEqual([30, 91, NaN]);
        expect([first, second, third].map((task) => tasks.type[task!])).toEqual([1, 2, 3]);
        expect([first, second, third].map((task) => idText(tasks.ids, task!))).toEqual(["1", "1", "1"]);
        expect([...listOf(model.children, second!)]).toEqual([findTaskByText(tasks.ids, "9")]);
        expect([...listOf(model.successors, first!)]).toEqual([findTaskByText(tasks.ids, "8")]);
        expect([...listOf(model.successors, third!)]).toEqual([findTaskByText(tasks.ids, "7")]);
        expect(spans.other[spans.kind.indexOf(SpanKind.wait)]).toBe(second);
        expect(typeStatistics(model).map((row) => [row.type, row.count, row.total])).toEqual([[2, 1, 50], [1, 1, 20], [3, 1, 3]]);
        expect(search(model, "#1", 10).total).toBe(3);
        expect([0, 30, 91, 92].map((time) => findTaskByText(tasks.ids, "1", time))).toEqual([first, second, second, third]);
        expect(model.frames.count).toBe(1);
    });

    it("links what waits for what, both ways", () => {
        const model = ofOneLane([
            { time: 0, kind: K.spawned, task: 1n, aux: 1 },
            { time: 0, kind: K.spawned, task: 2n, aux: 1 },
            { time: 0, kind: K.edge, task: 2n, other: 1n },
            { time: 5, kind: K.ready, task: 2n, other: 1n },
        ]);
        expect([...listOf(model.predecessors, 1)]).toEqual([0]);
        expect([...listOf(model.successors, 0)]).toEqual([1]);
        expect(model.tasks.releasedBy[1]).toBe(0);
    });

    it("reads counters as the doubles that they are", () => {
        const model = ofOneLane([{ time: 3, kind: K.counter, aux: 2, other: bitsOf(-1.5e300) }]);
        expect(model.counters).toEqual([{ type: 2, time: Float64Array.of(3), value: Float64Array.of(-1.5e300) }]);
    });

    it("knows frames on several lanes, and numbers that come again", () => {
        const out = new CaptureBytes().header();
        out.type("frame");
        out.lane(0, "main", 2, 0).lane(1, "render", 2, 1);
        const mark = (time: number, kind: number, number: bigint): TestRecord => ({ time, kind, other: number, aux: 1 });
        out.records(1, [mark(30, K.frameEnd, 1n), mark(50, K.frameEnd, 2n), mark(95, K.frameEnd, 1n)]);
        out.records(0, [mark(10, K.frameBegin, 1n), mark(20, K.frameBegin, 2n), mark(60, K.frameBegin, 1n), mark(99, K.frameBegin, 2n)]);
        const { frames } = modelOf(out.done(100).bytes());
        expect([[...frames.number], [...frames.begin], [...frames.end]]).toEqual([
            [1, 2, 1],
            [10, 20, 60],
            [30, 50, 95],
        ]);
    });

    it("takes the whole capture for a frame where none is marked", () => {
        const { frames } = ofOneLane([{ time: 3, kind: K.parked }]);
        expect([frames.marked, frames.count, frames.begin[0], frames.end[0]]).toEqual([false, 1, 0, 1000]);
    });

    it("may be of nothing at all", () => {
        const empty = modelOf(new CaptureBytes().header().done(0).bytes());
        expect([empty.spans.count, empty.rows.length, empty.tasks.ids.count, empty.frames.count]).toEqual([0, 0, 0, 1]);
    });

    it("has rows whose spans are in order and do not overlap", () => {
        const model = modelOf(makeScene({ frames: 50, workers: 5, characters: 24 }).bytes);
        expect(model.frames.count).toBe(50);
        let counted = 0;
        for (const row of model.rows) {
            counted += row.count;
            if (row.layer === Layer.outerWait) continue;
            for (let s = row.first + 1; s < row.first + row.count; ++s) {
                expect(model.spans.begin[s]! >= model.spans.end[s - 1]!).toBe(true);
            }
        }
        expect(counted).toBe(model.spans.count);
    });
});
