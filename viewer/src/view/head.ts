// The head of the timeline: the axis of time and the band of frames; and the lines below them.
import { frameAt } from "../model/frame_tasks";
import type { Model } from "../model/model";
import { countText, durationText, momentText, ticks } from "../model/time";
import type { Canvas } from "./arrows";
import { axisHeight, frameBandHeight, headHeight } from "./layout";
import { labelFont } from "./row_painter";

const widest = 110;

/** Calls for each frame in view that is at least a few pixels wide, or covers what is not. */
function framesInView(canvas: Canvas, model: Model, call: (frame: number, left: number, right: number) => void): void {
    const { view, width } = canvas;
    const x = (time: number): number => ((time - view.begin) / (view.end - view.begin)) * width;
    const { frames } = model;
    let painted = -Infinity;
    for (let frame = Math.max(0, frameAt(model, view.begin) - 1); frame < frames.count; ++frame) {
        const left = x(frames.begin[frame]!);
        if (left > width) break;
        const right = x(frames.end[frame]!);
        if (right < 0) continue;
        // A thousand frames in a few pixels are one line.
        if (right < painted + 1) {
            frame = Math.max(frame, frameAt(model, view.begin + ((painted + 1) / width) * (view.end - view.begin)) - 1);
            painted = x(frames.begin[frame]!) + 1;
            continue;
        }
        call(frame, Math.max(left, 0), Math.min(right, width));
        painted = right;
    }
}

/** Behind the lanes: lines at the marks of the axis, and the chosen frame. */
export function drawGround(canvas: Canvas, model: Model, chosen: number, height: number): void {
    const { context, left, width, scale, palette, view } = canvas;
    const x = (time: number): number => left + ((time - view.begin) / (view.end - view.begin)) * width;
    const from = Math.max(x(model.frames.begin[chosen]!), left);
    const to = Math.min(x(model.frames.end[chosen]!), left + width);
    context.fillStyle = palette.frameChosen;
    if (to > from) context.fillRect(from, headHeight * scale, to - from, height);
    context.fillStyle = palette.line;
    for (const time of ticks(view.begin, view.end, width, widest * scale).times) {
        context.fillRect(Math.round(x(time)), headHeight * scale, 1, height);
    }
}

export function drawHead(canvas: Canvas, model: Model, chosen: number, budget: number): void {
    const { context, left, width, scale, palette, view } = canvas;
    context.fillStyle = palette.gutter;
    context.fillRect(0, 0, left + width, headHeight * scale);
    context.save();
    context.beginPath();
    context.rect(left, 0, width, headHeight * scale);
    context.clip();
    context.font = `${10.5 * scale}px ${labelFont}`;
    context.textBaseline = "middle";
    const { step, times } = ticks(view.begin, view.end, width, widest * scale);
    for (const time of times) {
        const x = left + Math.round(((time - view.begin) / (view.end - view.begin)) * width);
        context.fillStyle = palette.line;
        context.fillRect(x, 4 * scale, 1, axisHeight * scale);
        context.fillStyle = palette.faint;
        context.fillText(momentText(time, step), x + 4 * scale, (axisHeight / 2) * scale);
    }
    const top = axisHeight * scale;
    const height = (frameBandHeight - 2) * scale;
    framesInView(canvas, model, (frame, from, to) => {
        const length = model.frames.end[frame]! - model.frames.begin[frame]!;
        const isOver = model.frames.marked && length > budget;
        context.globalAlpha = frame === chosen ? 1 : 0.45;
        context.fillStyle = isOver ? palette.over : palette.good;
        context.fillRect(left + from, top, Math.max(to - from - 1, 1), height);
        context.globalAlpha = 1;
        const room = to - from - 8 * scale;
        const letter = 6.4 * scale;
        if (room < 4 * letter) return;
        const text = model.frames.marked
            ? `frame ${countText(model.frames.number[frame]!)} · ${durationText(length)}`
            : "the whole capture: no frames are marked";
        context.fillStyle = frame === chosen ? palette.onSpan : palette.text;
        const short = countText(model.frames.number[frame]!);
        const shown = room >= text.length * letter ? text : room >= short.length * letter ? short : "";
        context.fillText(shown, left + from + 4 * scale, top + height / 2 + 0.5);
    });
    context.restore();
    context.fillStyle = palette.line;
    context.fillRect(0, headHeight * scale - 1, left + width, 1);
}
