// What waits for what in one frame, laid out from left to right.
import dagre from "@dagrejs/dagre";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { PathStep } from "../../model/analysis";
import { frameGraph } from "../../model/frame_graph";
import { tasksOfFrame } from "../../model/frame_tasks";
import { taskName, type Model } from "../../model/model";
import { countText, durationText } from "../../model/time";
import { useSession, useSessionState, useSize } from "../hooks";

/** Beyond this the layout takes longer than one likes to wait, and nobody reads it. */
const mostTasks = 120;
const node = { width: 132, height: 30 };

interface Laid {
    width: number;
    height: number;
    nodes: { task: number; x: number; y: number }[];
    edges: { points: string; onPath: boolean }[];
    total: number;
}

function layOut(model: Model, frame: number, path: PathStep[]): Laid {
    const graph = frameGraph(model, tasksOfFrame(model, frame), path, mostTasks);
    const g = new dagre.graphlib.Graph();
    g.setGraph({ rankdir: "LR", nodesep: 8, ranksep: 44, edgesep: 4 });
    g.setDefaultEdgeLabel(() => ({}));
    for (const task of graph.tasks) g.setNode(String(task), { ...node });
    for (const [from, to] of graph.edges) g.setEdge(String(from), String(to));
    dagre.layout(g);
    const steps = new Set(path.slice(1).map((step, i) => `${path[i]!.task} ${step.task}`));
    return {
        width: g.graph().width ?? 0,
        height: g.graph().height ?? 0,
        nodes: graph.tasks.map((task) => ({ task, x: g.node(String(task)).x, y: g.node(String(task)).y })),
        edges: g.edges().map((edge) => ({
            points: g
                .edge(edge)
                .points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`)
                .join(""),
            onPath: steps.has(`${edge.v} ${edge.w}`),
        })),
        total: graph.total,
    };
}

export function GraphPanel() {
    const session = useSession();
    const { model, frame, analysis, span } = useSessionState();
    const { of, width, height } = useSize<HTMLDivElement>();
    const path = model === null ? undefined : analysis?.frames.get(model.frames.number[frame]!)?.path;
    const laid = useMemo(() => (model === null ? null : layOut(model, frame, path ?? [])), [model, frame, path]);
    const [at, setAt] = useState({ x: 0, y: 0, scale: 1 });
    useEffect(() => {
        if (laid === null || width === 0) return;
        const scale = Math.min(1, Math.max(0.25, Math.min(width / (laid.width + 24), height / (laid.height + 24))));
        setAt({ x: 12, y: Math.max(12, (height - laid.height * scale) / 2), scale });
    }, [laid, width, height]);
    if (model === null || laid === null) return null;
    const onPath = new Set((path ?? []).map((step) => step.task));
    const chosen = span < 0 ? -1 : model.spans.task[span]!;
    return (
        <div
            class="graph"
            ref={of}
            onWheel={(event) => {
                event.preventDefault();
                const box = event.currentTarget.getBoundingClientRect();
                const [x, y] = [event.clientX - box.left, event.clientY - box.top];
                const scale = Math.min(2, Math.max(0.1, at.scale * 0.998 ** event.deltaY));
                const by = scale / at.scale;
                setAt({ x: x - (x - at.x) * by, y: y - (y - at.y) * by, scale });
            }}
            onPointerDown={(event) => {
                const box = event.currentTarget;
                const from = { x: event.clientX - at.x, y: event.clientY - at.y };
                box.onpointermove = (move) => setAt((now) => ({ ...now, x: move.clientX - from.x, y: move.clientY - from.y }));
                box.onpointerup = box.onpointerleave = () => (box.onpointermove = null);
            }}
        >
            <svg width={width} height={height}>
                <g transform={`translate(${at.x} ${at.y}) scale(${at.scale})`}>
                    {laid.edges.map((edge) => (
                        <path d={edge.points} class={edge.onPath ? "edge on-path" : "edge"} />
                    ))}
                    {laid.nodes.map(({ task, x, y }) => (
                        <g
                            class={`node ${onPath.has(task) ? "on-path" : ""} ${task === chosen ? "chosen" : ""}`}
                            transform={`translate(${x - node.width / 2} ${y - node.height / 2})`}
                            onClick={() => session.selectTask(task)}
                        >
                            <rect width={node.width} height={node.height} rx={3} />
                            <rect class="hue" width={4} height={node.height} fill={session.timeline?.colourOfType(model.tasks.type[task]!)} />
                            <text x={10} y={12.5}>
                                {short(taskName(model, task))}
                            </text>
                            <text x={10} y={24.5} class="time">
                                {durationText(model.tasks.own[task]!)}
                            </text>
                        </g>
                    ))}
                </g>
            </svg>
            <p class="note over-graph">
                {laid.nodes.length === 0
                    ? "No task of this frame waits for another."
                    : laid.nodes.length < laid.total
                      ? `${countText(laid.nodes.length)} of ${countText(laid.total)} tasks: the critical path, then those that ran longest and wait for one another.`
                      : `${countText(laid.total)} tasks`}
            </p>
        </div>
    );
}

function short(name: string): string {
    return name.length > 18 ? `${name.slice(0, 17)}…` : name;
}
