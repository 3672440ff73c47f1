// What waits for what in one frame, laid out from left to right.
import dagre from "@dagrejs/dagre";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { frameAnalysis, type PathStep } from "../../model/analysis";
import { frameGraph, type GraphNode } from "../../model/frame_graph";
import { tasksOfFrame } from "../../model/frame_tasks";
import { typeName, type Model } from "../../model/model";
import { countText, durationText } from "../../model/time";
import { useSession, useSessionState, useSize } from "../hooks";

/** Beyond this the layout takes longer than one likes to wait, and nobody reads it. */
const mostNodes = 120;
const box = { width: 132, height: 30 };

interface Laid {
    width: number;
    height: number;
    nodes: (GraphNode & { x: number; y: number })[];
    edges: { line: string; onPath: boolean }[];
    shown: number;
    total: number;
}

function layOut(model: Model, frame: number, path: PathStep[], together: boolean): Laid {
    const graph = frameGraph(model, tasksOfFrame(model, frame), path, together, mostNodes);
    const g = new dagre.graphlib.Graph();
    g.setGraph({ rankdir: "LR", nodesep: 8, ranksep: 40, edgesep: 4 });
    g.setDefaultEdgeLabel(() => ({}));
    graph.nodes.forEach((_, at) => g.setNode(String(at), { ...box }));
    // The critical path is kept straight.
    for (const edge of graph.edges) g.setEdge(String(edge.from), String(edge.to), { weight: edge.onPath ? 12 : 1 });
    dagre.layout(g);
    return {
        width: g.graph().width ?? 0,
        height: g.graph().height ?? 0,
        nodes: graph.nodes.map((node, at) => ({ ...node, x: g.node(String(at)).x, y: g.node(String(at)).y })),
        edges: graph.edges.map((edge) => ({ line: smooth(g.edge(String(edge.from), String(edge.to)).points), onPath: edge.onPath })),
        shown: graph.shown,
        total: graph.total,
    };
}

/** A curve that goes through the middles between the given points. */
function smooth(points: { x: number; y: number }[]): string {
    const at = (x: number, y: number): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
    const first = points[0]!;
    const last = points[points.length - 1]!;
    let line = `M${at(first.x, first.y)}`;
    for (let i = 1; i < points.length - 1; ++i) {
        const [here, next] = [points[i]!, points[i + 1]!];
        const end = i === points.length - 2 ? last : { x: (here.x + next.x) / 2, y: (here.y + next.y) / 2 };
        line += `Q${at(here.x, here.y)} ${at(end.x, end.y)}`;
    }
    return points.length < 3 ? `${line}L${at(last.x, last.y)}` : line;
}

export function GraphPanel() {
    const session = useSession();
    const { model, frame, analysis, span } = useSessionState();
    const { of, width, height } = useSize<HTMLDivElement>();
    const [together, setTogether] = useState(true);
    const path = model === null ? undefined : frameAnalysis(analysis, model.frames, frame)?.path;
    const laid = useMemo(() => (model === null ? null : layOut(model, frame, path ?? [], together)), [model, frame, path, together]);
    const [at, setAt] = useState({ x: 0, y: 0, scale: 1 });
    const dragged = useRef(false);
    useEffect(() => {
        if (laid === null || laid.nodes.length === 0 || width === 0) return;
        // Everything where it can still be read; else the critical path, or the top, in the middle.
        const scale = Math.min(1, Math.max(0.6, Math.min((width - 24) / laid.width, (height - 48) / laid.height)));
        const middle = laid.nodes.filter((node) => node.onPath);
        const y = laid.height * scale <= height ? laid.height / 2 : middle.length > 0 ? middle.reduce((sum, node) => sum + node.y, 0) / middle.length : 0;
        setAt({ x: Math.max(12, (width - laid.width * scale) / 2), y: (height - 24) / 2 - y * scale, scale });
    }, [laid, width, height]);
    if (model === null || laid === null) return null;
    const chosen = span < 0 ? -1 : model.spans.task[span]!;
    return (
        <div
            class="graph"
            ref={of}
            onWheel={(event) => {
                event.preventDefault();
                const place = event.currentTarget.getBoundingClientRect();
                const [x, y] = [event.clientX - place.left, event.clientY - place.top];
                const scale = Math.min(2, Math.max(0.1, at.scale * 0.998 ** event.deltaY));
                const by = scale / at.scale;
                setAt({ x: x - (x - at.x) * by, y: y - (y - at.y) * by, scale });
            }}
            onPointerDown={(event) => {
                const element = event.currentTarget;
                const from = { x: event.clientX - at.x, y: event.clientY - at.y };
                const begin = { x: event.clientX, y: event.clientY };
                dragged.current = false;
                element.onpointermove = (move) => {
                    dragged.current ||= Math.abs(move.clientX - begin.x) + Math.abs(move.clientY - begin.y) > 3;
                    if (dragged.current) setAt((now) => ({ ...now, x: move.clientX - from.x, y: move.clientY - from.y }));
                };
                element.onpointerup = element.onpointerleave = () => (element.onpointermove = null);
            }}
        >
            <svg width={width} height={height}>
                <g transform={`translate(${at.x} ${at.y}) scale(${at.scale})`}>
                    {laid.edges.map((edge) => (
                        <path d={edge.line} class={edge.onPath ? "edge on-path" : "edge"} />
                    ))}
                    {laid.nodes.map((node) => (
                        <g
                            class={`node ${node.onPath ? "on-path" : ""} ${node.tasks.includes(chosen) ? "chosen" : ""}`}
                            transform={`translate(${node.x - box.width / 2} ${node.y - box.height / 2})`}
                            onClick={() => {
                                if (!dragged.current) session.selectTask(longest(model, node.tasks));
                            }}
                        >
                            <rect width={box.width} height={box.height} rx={3} />
                            <rect width={4} height={box.height} fill={session.timeline?.colourOfType(node.type)} />
                            <text x={10} y={12.5}>
                                {short(typeName(model, node.type), node.tasks.length)}
                            </text>
                            <text x={10} y={24.5} class="time">
                                {durationText(node.own)}
                            </text>
                        </g>
                    ))}
                </g>
            </svg>
            <p class="note over-graph">
                <label>
                    <input type="checkbox" checked={!together} onChange={() => setTogether(!together)} /> each task by itself
                </label>
                {laid.total === 0
                    ? "No task of this frame waits for another."
                    : laid.shown < laid.total
                      ? `Cut: ${countText(laid.shown)} of ${countText(laid.total)} tasks, the critical path and those that ran longest.`
                      : `${countText(laid.total)} tasks; times are their own.`}
            </p>
        </div>
    );
}

function longest(model: Model, tasks: number[]): number {
    return tasks.reduce((a, b) => (model.tasks.own[b]! > model.tasks.own[a]! ? b : a));
}

function short(name: string, count: number): string {
    const most = count > 1 ? 12 : 18;
    return `${name.length > most ? `${name.slice(0, most - 1)}…` : name}${count > 1 ? ` × ${count}` : ""}`;
}
