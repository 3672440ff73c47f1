import { describe, expect, it } from "vitest";
import { frameAnalysis, readAnalysis } from "../../src/model/analysis";
import { compareCaptures } from "../../src/model/compare";
import { frameGraph } from "../../src/model/frame_graph";
import { frameAt, tasksOfFrame, worstFrame } from "../../src/model/frame_tasks";
import { buildFrameTree, flattenTree, nodesAbove, shownChildren, type TreeNode } from "../../src/model/frame_tree";
import { SpanKind, spanName, typeName } from "../../src/model/model";
import { placePath } from "../../src/model/path_places";
import { parseQuery, search } from "../../src/model/search";
import { histogram, typeStatistics } from "../../src/model/statistics";
import { idText } from "../../src/model/task_ids";
import { RecordKind as K } from "../../src/parse/kinds";
import { modelOf } from "../support/built";
import { CaptureBytes } from "../support/capture_bytes";
import { makeScene } from "../support/synthetic";

const scene = makeScene({ frames: 40, workers: 5, characters: 24 });
const model = modelOf(scene.bytes);

describe("the tree of a frame", () => {
    const tasks = tasksOfFrame(model, 23);
    const roots = buildFrameTree(model, tasks);

    it("has totals that are the own time and the totals below, all the way up", () => {
        const check = (node: TreeNode): void => {
            const below = node.children.reduce((sum, child) => sum + child.total, 0);
            expect(node.total).toBeCloseTo(node.task < 0 ? below : node.own + below, 3);
            node.children.forEach(check);
            const shown = shownChildren(node);
            expect(shown.reduce((sum, child) => sum + child.total, 0)).toBeCloseTo(below, 3);
        };
        roots.forEach(check);
        const own = tasks.reduce((sum, task) => sum + model.tasks.own[task]!, 0);
        expect(roots.reduce((sum, root) => sum + root.total, 0)).toBeCloseTo(own, 3);
        expect(roots.map((root) => root.name)).toEqual(["frame"]);
    });

    it("opens and closes", () => {
        expect(flattenTree(roots, () => false).length).toBe(1);
        const all = flattenTree(roots, () => true);
        expect(all.filter((row) => row.node.task >= 0).length).toBe(tasks.length);
        const first = flattenTree(roots, (_, level) => level === 0);
        expect(first.find((row) => row.node.name === "skin")!.node.count).toBe(24);
        expect(new Set(all.map((row) => row.node.key)).size).toBe(all.length);
    });

    it("knows what to open for a task to be seen", () => {
        const all = flattenTree(roots, () => true).filter((row) => row.node.task >= 0);
        for (const row of all) {
            const above = new Set(nodesAbove(roots, (task) => model.tasks.parent[task]!, row.node.task));
            expect(above.size).toBe(row.level);
            expect(flattenTree(roots, (key) => above.has(key)).some((shown) => shown.node.task === row.node.task)).toBe(true);
        }
        expect(nodesAbove(roots, (task) => model.tasks.parent[task]!, 999_999)).toEqual([]);
    });

    it("stands parents in a circle, which no scheduler makes but a file may hold", () => {
        const out = new CaptureBytes().header();
        out.type("a");
        out.lane(0, "main", 2, 0);
        out.records(0, [
            { time: 0, kind: K.spawned, task: 1n, other: 2n, aux: 1 },
            { time: 0, kind: K.spawned, task: 2n, other: 1n, aux: 1 },
            { time: 1, kind: K.started, task: 1n, aux: 1 },
            { time: 2, kind: K.ended, task: 1n },
        ]);
        const circle = modelOf(out.done(10).bytes());
        const tree = buildFrameTree(circle, tasksOfFrame(circle, 0));
        expect(tree.reduce((sum, root) => sum + root.total, 0)).toBe(1);
    });
});

describe("frames", () => {
    it("hold their own tasks, by their task or by time", () => {
        const spawned = scene.bytes.length > 0 ? tasksOfFrame(model, 3) : new Uint32Array();
        for (const task of spawned) {
            expect(model.tasks.spawned[task]!).toBeGreaterThanOrEqual(model.frames.begin[3]!);
            expect(model.tasks.spawned[task]!).toBeLessThan(model.frames.end[3]!);
        }
        const unnamed = { ...model, frames: { ...model.frames, task: model.frames.task.slice().fill(-1) } };
        const byTime = new Set(tasksOfFrame(unnamed, 3));
        for (const task of spawned) if (model.tasks.span[task]! >= 0) expect(byTime.has(task)).toBe(true);
    });

    it("are found by time, and the longest is the worst", () => {
        expect(frameAt(model, model.frames.begin[7]! + 1)).toBe(7);
        expect(frameAt(model, -5)).toBe(0);
        expect(frameAt(model, 1e15)).toBe(39);
        expect(worstFrame(model)).toBe(23);
    });
});

describe("search", () => {
    it("understands names, ids and lengths", () => {
        expect(parseQuery("Skin >1.5ms #12")).toEqual({ words: ["skin"], id: "12", longerThan: 1.5e6, shorterThan: Infinity });
        expect(parseQuery("<20us").shorterThan).toBe(20000);
        expect(parseQuery("  ")).toEqual({ words: [], id: "", longerThan: 0, shorterThan: Infinity });
    });

    it("finds all of a name in order of time", () => {
        const found = search(model, "skin", 10000);
        expect(found.total).toBe(40 * 24);
        for (let i = 1; i < found.spans.length; ++i) {
            expect(model.spans.begin[found.spans[i]!]!).toBeGreaterThanOrEqual(model.spans.begin[found.spans[i - 1]!]!);
        }
        expect(spanName(model, found.spans[0]!)).toBe("skin");
    });

    it("finds what is long, what is one task, and nothing", () => {
        const long = search(model, "skin >1ms", 10);
        expect(long.total).toBe(1);
        const task = model.spans.task[long.spans[0]!]!;
        expect([...search(model, `#${idText(model.tasks.ids, task)}`, 10).spans]).toEqual([long.spans[0]]);
        expect(search(model, "no such thing", 10).total).toBe(0);
        expect(search(model, "", 10).total).toBe(0);
        expect(search(model, "#123", 10).total).toBe(0);
    });

    it("gives at most as many as asked for, and says how many there are", () => {
        const found = search(model, "skin", 7);
        expect([found.spans.length, found.total]).toEqual([7, 960]);
    });
});

describe("statistics", () => {
    it("add up to all own time", () => {
        const rows = typeStatistics(model);
        const own = model.tasks.own.reduce((a, b) => a + b, 0);
        expect(rows.reduce((sum, row) => sum + row.total, 0)).toBeCloseTo(own, 0);
        const skin = rows.find((row) => typeName(model, row.type) === "skin")!;
        expect(skin.count).toBe(960);
        expect(skin.median).toBeLessThanOrEqual(skin.p95);
        expect(skin.p95).toBeLessThanOrEqual(skin.most);
    });

    it("have a histogram that counts each task once", () => {
        const { bounds, counts } = histogram([100, 200, 200, 400, 100000], 20);
        expect(counts.reduce((a, b) => a + b, 0)).toBe(5);
        expect(bounds.length).toBe(21);
        expect(counts[0]).toBe(1);
        expect(counts[19]).toBe(1);
        expect(histogram([], 5)).toEqual({ bounds: [], counts: [] });
        expect(histogram([7, 7], 5).counts.reduce((a, b) => a + b, 0)).toBe(2);
    });
});

describe("the analysis", () => {
    it("is read with the tasks of this capture", () => {
        const analysis = readAnalysis(scene.analysis, model.tasks.ids);
        const frame = frameAnalysis(analysis, model.frames, 23)!;
        expect(frame.diagnosis!.cause).toBe("long_task");
        expect(frame.path.length).toBeGreaterThan(4);
        expect(frame.path.every((step) => step.task >= 0)).toBe(true);
        expect(frame.slack.size).toBeGreaterThan(50);
        const quiet = frameAnalysis(analysis, model.frames, 22)!;
        expect(quiet.diagnosis).toBe(null);
        expect(quiet.sentence).toBe("Frame 22 took as long as is usual here.");
        expect(analysis.whatIf.cores[0]!.cores).toBe(1);
    });

    it("tells frames of one number apart by their time", () => {
        const twice = readAnalysis(
            `{"version": 1, "frames": [{"number": 7, "begin": 5, "end": 6}, {"number": 7, "begin": ${model.frames.begin[7]}, "end": 9}]}`,
            model.tasks.ids,
        );
        expect(frameAnalysis(twice, model.frames, 7)!.end).toBe(9);
        expect(frameAnalysis(twice, model.frames, 8)).toBe(null);
        expect(frameAnalysis(null, model.frames, 7)).toBe(null);
    });

    it("has steps of the critical path where they ran", () => {
        const { path } = frameAnalysis(readAnalysis(scene.analysis, model.tasks.ids), model.frames, 23)!;
        const places = placePath(model, path);
        places.forEach(({ span }, i) => expect(model.spans.task[span]).toBe(path[i]!.task));
        const job = model.spans.kind.indexOf(SpanKind.job);
        const ofJob = { ...path[0]!, task: model.spans.task[job]! };
        const outside = { ...path[0]!, task: -1 };
        const [first, second] = placePath(model, [{ ...ofJob, begin: model.spans.begin[job]!, end: model.spans.begin[job]! + 2 }, outside]);
        expect(model.spans.task[first!.span]).toBe(model.spans.task[job]);
        expect(second!.span).toBe(-1);
    });

    it("that is none gets a sentence, and parts that are none are left out", () => {
        expect(() => readAnalysis("{", model.tasks.ids)).toThrow("The analysis beside the capture is not JSON.");
        expect(() => readAnalysis('{"version": 3}', model.tasks.ids)).toThrow("has another version");
        const odd = readAnalysis('{"version": 1, "frames": [7, {"number": 4, "slack": [1, ["x", 2]], "critical_path": "no"}], "what_if": []}', model.tasks.ids);
        expect(odd.frames.map((frame) => frame.number)).toEqual([4]);
        expect(odd.frames[0]!.path).toEqual([]);
        expect(odd.whatIf.cores).toEqual([]);
    });
});

describe("two captures", () => {
    it("are compared by the names of their types", () => {
        const slower = modelOf(makeScene({ frames: 20, workers: 5, characters: 24, slower: { type: "pose", times: 2 } }).bytes);
        const { types, frames } = compareCaptures(model, slower);
        expect(types[0]!.name).toBe("pose");
        expect(types[0]!.after / types[0]!.before).toBeGreaterThan(1.9);
        expect(types.find((row) => row.name === "cull")!.after / types.find((row) => row.name === "cull")!.before).toBeCloseTo(1, 1);
        expect(frames[0]!.after).toBeGreaterThan(frames[0]!.before);
    });
});

describe("the graph of a frame", () => {
    const tasks = tasksOfFrame(model, 23);
    const path = frameAnalysis(readAnalysis(scene.analysis, model.tasks.ids), model.frames, 23)!.path;

    it("puts tasks together that do the same between the same, but for the critical path", () => {
        const graph = frameGraph(model, tasks, path, true, 100);
        expect(graph.shown).toBe(graph.total);
        expect(graph.nodes.length).toBeLessThan(30);
        for (const node of graph.nodes) if (node.onPath) expect(node.tasks.length).toBe(1);
        expect(graph.edges.filter((edge) => edge.onPath).length).toBe(path.length - 1);
    });

    it("is cut to the critical path and what ran longest", () => {
        const graph = frameGraph(model, tasks, path, false, 12);
        expect(graph.nodes.length).toBe(12);
        expect(graph.total).toBeGreaterThan(60);
        expect(graph.nodes.filter((node) => node.onPath).length).toBe(path.length);
    });
});
