// The tasks of a frame as a graph that can still be read: the critical path, then what ran longest.
import type { PathStep } from "./analysis";
import { listOf } from "./lists";
import type { Model } from "./model";

export interface FrameGraph {
    tasks: number[];
    /** Pairs of tasks: the second waits for the first. */
    edges: [number, number][];
    /** How many tasks of the frame ran in all. */
    total: number;
}

export function frameGraph(model: Model, tasks: Uint32Array, path: PathStep[], most: number): FrameGraph {
    const ran = [...tasks].filter((task) => model.tasks.span[task]! >= 0);
    const linked = ran.filter(
        (task) => listOf(model.predecessors, task).length + listOf(model.successors, task).length > 0,
    );
    const onPath = new Set(path.map((step) => step.task));
    linked.sort((a, b) => Number(onPath.has(b)) - Number(onPath.has(a)) || model.tasks.own[b]! - model.tasks.own[a]!);
    const chosen = new Set(linked.slice(0, most));
    const edges: [number, number][] = [];
    for (const task of chosen) {
        for (const before of new Set(listOf(model.predecessors, task))) {
            if (chosen.has(before) && before !== task) edges.push([before, task]);
        }
    }
    return { tasks: [...chosen].sort((a, b) => a - b), edges, total: ran.length };
}
