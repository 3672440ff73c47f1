// The tasks of a frame as a graph that can still be read: tasks that do the same between the same
// neighbours stand together, and of the rest the critical path and what ran longest are kept.
import type { PathStep } from "./analysis";
import { listOf } from "./lists";
import type { Model } from "./model";

export interface GraphNode {
    tasks: number[];
    type: number;
    own: number;
    onPath: boolean;
}

export interface FrameGraph {
    nodes: GraphNode[];
    /** Pairs of nodes: the second waits for the first. */
    edges: { from: number; to: number; onPath: boolean }[];
    /** Tasks that the nodes stand for, and tasks of the frame that wait for others or are waited for. */
    shown: number;
    total: number;
}

export function frameGraph(model: Model, tasks: Uint32Array, path: PathStep[], together: boolean, most: number): FrameGraph {
    const { own, type, span } = model.tasks;
    const inside = new Set(tasks);
    const around = (task: number): { before: number[]; after: number[] } => {
        const of = (list: Uint32Array): number[] => [...new Set(list)].filter((other) => inside.has(other) && other !== task);
        return { before: of(listOf(model.predecessors, task)), after: of(listOf(model.successors, task)) };
    };
    const onPath = new Set(path.map((step) => step.task));
    const typesOf = (list: number[]): string => [...new Set(list.map((task) => type[task]!))].sort((a, b) => a - b).join(",");

    const byKey = new Map<string, GraphNode>();
    let total = 0;
    for (const task of tasks) {
        const { before, after } = around(task);
        if (span[task]! < 0 || before.length + after.length === 0) continue;
        ++total;
        const alone = !together || onPath.has(task);
        const key = alone ? `#${task}` : `${type[task]}|${typesOf(before)}|${typesOf(after)}`;
        const node = byKey.get(key) ?? { tasks: [], type: type[task]!, own: 0, onPath: onPath.has(task) };
        node.tasks.push(task);
        node.own += own[task]!;
        byKey.set(key, node);
    }
    const nodes = [...byKey.values()]
        .sort((a, b) => Number(b.onPath) - Number(a.onPath) || b.own - a.own)
        .slice(0, most)
        .sort((a, b) => a.tasks[0]! - b.tasks[0]!);

    const nodeOf = new Map<number, number>();
    nodes.forEach((node, at) => node.tasks.forEach((task) => nodeOf.set(task, at)));
    const steps = new Set(path.slice(1).map((step, i) => `${path[i]!.task} ${step.task}`));
    const edges = new Map<string, { from: number; to: number; onPath: boolean }>();
    for (const [task, to] of nodeOf) {
        for (const before of around(task).before) {
            const from = nodeOf.get(before);
            if (from === undefined || from === to) continue;
            const edge = edges.get(`${from} ${to}`) ?? { from, to, onPath: false };
            edge.onPath ||= steps.has(`${before} ${task}`);
            edges.set(`${from} ${to}`, edge);
        }
    }
    return { nodes, edges: [...edges.values()], shown: nodes.reduce((sum, node) => sum + node.tasks.length, 0), total };
}
