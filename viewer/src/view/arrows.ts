// What the selected task waited for and what it released, as arrows; and the critical path.
import { listOf } from "../model/lists";
import type { Model } from "../model/model";
import type { PathPlace } from "../model/path_places";
import type { View } from "../model/pixel_columns";
import { middleOf, rowHeight, type Track } from "./layout";
import type { Palette } from "./palette";

/** More than this many on one side cannot be told apart. */
export const mostArrows = 60;

export interface Arrow {
    /** Tasks. */
    from: number;
    to: number;
    incoming: boolean;
    /** The one whose end released the other. */
    released: boolean;
}

export function arrowsOf(model: Model, task: number): { arrows: Arrow[]; left: number } {
    if (task < 0) return { arrows: [], left: 0 };
    const { tasks } = model;
    const before = new Set(listOf(model.predecessors, task));
    if (tasks.releasedBy[task]! >= 0) before.add(tasks.releasedBy[task]!);
    const after = new Set(listOf(model.successors, task));
    const incoming = [...before].map((from) => ({ from, to: task, incoming: true, released: tasks.releasedBy[task] === from }));
    const outgoing = [...after].map((to) => ({ from: task, to, incoming: false, released: tasks.releasedBy[to] === task }));
    // Those that released something come first, should there be too many.
    const ordered = (list: Arrow[]): Arrow[] =>
        list.filter((a) => tasks.span[a.from]! >= 0 && tasks.span[a.to]! >= 0).sort((a, b) => Number(b.released) - Number(a.released));
    const [into, out] = [ordered(incoming), ordered(outgoing)];
    const left = Math.max(0, into.length - mostArrows) + Math.max(0, out.length - mostArrows);
    return { arrows: [...into.slice(0, mostArrows), ...out.slice(0, mostArrows)], left };
}

export interface Canvas {
    context: CanvasRenderingContext2D;
    view: View;
    left: number;
    width: number;
    top: number;
    scale: number;
    tracks: Track[];
    palette: Palette;
}

function place(canvas: Canvas, model: Model, span: number, atEnd: boolean): { x: number; y: number } | null {
    const y = middleOf(canvas.tracks, model.spans.lane[span]!, model.spans.depth[span]!);
    if (y === null) return null;
    const time = atEnd ? model.spans.end[span]! : model.spans.begin[span]!;
    const share = (time - canvas.view.begin) / (canvas.view.end - canvas.view.begin);
    // Far outside is as good as a little outside, and keeps the numbers small.
    const x = canvas.left + Math.min(Math.max(share, -2), 3) * canvas.width;
    return { x, y: canvas.top + y * canvas.scale };
}

export function drawArrows(canvas: Canvas, model: Model, arrows: Arrow[]): void {
    const { context, palette, scale } = canvas;
    for (const arrow of [...arrows].reverse()) {
        const from = place(canvas, model, model.tasks.span[arrow.from]!, true);
        const to = place(canvas, model, model.tasks.span[arrow.to]!, false);
        if (from === null || to === null) continue;
        context.strokeStyle = context.fillStyle = arrow.incoming ? palette.incoming : palette.outgoing;
        context.lineWidth = (arrow.released ? 1.8 : 1) * scale;
        context.globalAlpha = arrow.released ? 1 : 0.6;
        const bend = Math.min(Math.max(Math.abs(to.x - from.x) * 0.4, 14 * scale), 90 * scale);
        const head = 5 * scale;
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x - head, to.y);
        context.stroke();
        context.beginPath();
        context.moveTo(to.x, to.y);
        context.lineTo(to.x - head * 1.4, to.y - head * 0.8);
        context.lineTo(to.x - head * 1.4, to.y + head * 0.8);
        context.fill();
    }
    context.globalAlpha = 1;
}

export function drawPath(canvas: Canvas, model: Model, path: PathPlace[]): void {
    const { context, palette, scale, view, left, width, top } = canvas;
    context.strokeStyle = palette.path;
    context.fillStyle = palette.path;
    let last: { x: number; y: number } | null = null;
    for (const step of path) {
        const { span } = step;
        if (span < 0) continue;
        const y = middleOf(canvas.tracks, model.spans.lane[span]!, model.spans.depth[span]!);
        if (y === null) continue;
        const x = (time: number): number => left + Math.min(Math.max((time - view.begin) / (view.end - view.begin), -2), 3) * width;
        const [from, to] = [x(step.begin), x(step.end)];
        const under = top + (y + rowHeight / 2) * scale;
        context.fillRect(from, under - 3 * scale, Math.max(to - from, 1.5 * scale), 3 * scale);
        if (to - from > 3) {
            context.lineWidth = scale;
            context.strokeRect(from + 0.5, top + (y - rowHeight / 2) * scale + 0.5, to - from - 1, rowHeight * scale - 1);
        }
        if (last !== null) {
            context.lineWidth = 1.2 * scale;
            context.setLineDash([3 * scale, 3 * scale]);
            context.beginPath();
            context.moveTo(last.x, last.y);
            context.lineTo(from, top + y * scale);
            context.stroke();
            context.setLineDash([]);
        }
        last = { x: to, y: top + y * scale };
    }
}
