// The tasks of one frame along their parents. A node's total is its own time and the totals of its
// children, so that the totals of the roots are all the time that tasks of the frame ran.
import { taskName, type Model } from "./model";

export interface TreeNode {
    /** Unlike that of any other node of the tree, and the same when the tree is built again. */
    key: string;
    name: string;
    /** -1: stands for several tasks of one type below the same parent. */
    task: number;
    type: number;
    count: number;
    own: number;
    total: number;
    children: TreeNode[];
    /** A parent whose own time is of another frame; it is shown, and counted as 0. */
    outside: boolean;
}

/** Siblings of one type beyond this many stand together. */
const together = 3;

export function buildFrameTree(model: Model, tasks: Uint32Array): TreeNode[] {
    const inside = new Set<number>(tasks);
    const nodes = new Map<number, TreeNode>();
    const roots: TreeNode[] = [];
    const nodeOf = (task: number): TreeNode => {
        // Without recursion: a capture may hold chains of parents of any length, or, if it lies, circles.
        const chain: number[] = [];
        let at = task;
        while (at >= 0 && !nodes.has(at)) {
            const outside = !inside.has(at);
            nodes.set(at, {
                key: String(at),
                name: taskName(model, at),
                task: at,
                type: model.tasks.type[at]!,
                count: 1,
                own: outside ? 0 : model.tasks.own[at]!,
                total: 0,
                children: [],
                outside,
            });
            chain.push(at);
            at = model.tasks.parent[at]!;
        }
        // A circle is cut where it was entered.
        if (at >= 0 && chain.includes(at)) at = -1;
        for (let i = chain.length - 1; i >= 0; --i) {
            const node = nodes.get(chain[i]!)!;
            if (at < 0) roots.push(node);
            else nodes.get(at)!.children.push(node);
            at = chain[i]!;
        }
        return nodes.get(task)!;
    };
    for (const task of tasks) nodeOf(task);
    addTotals(roots);
    return groupSiblings(roots, "");
}

function addTotals(roots: TreeNode[]): void {
    const order: TreeNode[] = [];
    const rest = [...roots];
    while (rest.length > 0) {
        const node = rest.pop()!;
        order.push(node);
        for (const child of node.children) rest.push(child);
    }
    for (let i = order.length - 1; i >= 0; --i) {
        const node = order[i]!;
        node.total = node.own;
        for (const child of node.children) node.total += child.total;
    }
}

/** Puts many siblings of one type below a node of their own, and the longest first. */
function groupSiblings(siblings: TreeNode[], prefix: string): TreeNode[] {
    const byType = new Map<number, TreeNode[]>();
    for (const node of siblings) {
        const same = byType.get(node.type);
        if (same === undefined) byType.set(node.type, [node]);
        else same.push(node);
    }
    const result: TreeNode[] = [];
    for (const [type, same] of byType) {
        same.sort((a, b) => b.total - a.total);
        if (same.length <= together) {
            result.push(...same);
            continue;
        }
        result.push({
            key: `${prefix}/${type}`,
            name: same[0]!.name,
            task: -1,
            type,
            count: same.length,
            own: same.reduce((sum, node) => sum + node.own, 0),
            total: same.reduce((sum, node) => sum + node.total, 0),
            children: same,
            outside: same.every((node) => node.outside),
        });
    }
    return result.sort((a, b) => b.total - a.total);
}

/** The children as they are shown; grouped when they are asked for, because a frame may have 100,000 tasks. */
export function shownChildren(node: TreeNode): TreeNode[] {
    return node.task < 0 ? node.children : groupSiblings(node.children, node.key);
}

/** The nodes above a task, from the root down: they have to be open for it to be seen. */
export function nodesAbove(roots: TreeNode[], parentOf: (task: number) => number, task: number): string[] {
    const chain = new Set<number>();
    for (let at = task; at >= 0 && !chain.has(at); at = parentOf(at)) chain.add(at);
    const keys: string[] = [];
    for (let nodes = roots; ; ) {
        const next: TreeNode | undefined = nodes.find((node) =>
            node.task >= 0 ? chain.has(node.task) : node.children.some((child) => chain.has(child.task)),
        );
        if (next === undefined || next.task === task) return next === undefined ? [] : keys;
        keys.push(next.key);
        nodes = shownChildren(next);
    }
}

export interface TreeRow {
    node: TreeNode;
    level: number;
    hasChildren: boolean;
    isOpen: boolean;
}

/** What a table shows, given which nodes are open. */
export function flattenTree(roots: TreeNode[], isOpen: (key: string, level: number) => boolean): TreeRow[] {
    const rows: TreeRow[] = [];
    const rest: { node: TreeNode; level: number }[] = [];
    for (let i = roots.length - 1; i >= 0; --i) rest.push({ node: roots[i]!, level: 0 });
    while (rest.length > 0) {
        const { node, level } = rest.pop()!;
        const hasChildren = node.children.length > 0;
        const open = hasChildren && isOpen(node.key, level);
        rows.push({ node, level, hasChildren, isOpen: open });
        if (!open) continue;
        const children = shownChildren(node);
        for (let i = children.length - 1; i >= 0; --i) rest.push({ node: children[i]!, level: level + 1 });
    }
    return rows;
}
