// A counter as a line of steps: for each pixel column what lies between its least and its greatest value.
import type { Counter } from "../model/model";
import { firstEndingAfter } from "../model/pixel_columns";
import { labelFont } from "./row_painter";
import type { Canvas } from "./arrows";

export function drawCounter(canvas: Canvas, counter: Counter, y: number, height: number): void {
    const { context, view, left, width, palette, scale } = canvas;
    const { time, value } = counter;
    let [low, high] = [Infinity, -Infinity];
    const first = Math.max(0, firstEndingAfter(time, 0, time.length, view.begin) - 1);
    const last = firstEndingAfter(time, first, time.length, view.end);
    for (let i = first; i < last; ++i) {
        if (value[i]! < low) low = value[i]!;
        if (value[i]! > high) high = value[i]!;
    }
    if (!(high >= low)) return;
    const base = Math.min(0, low);
    const range = Math.max(high - base, 1e-300);
    const yOf = (v: number): number => y + height - ((v - base) / range) * (height - 2 * scale) - 1;
    context.beginPath();
    let column = -1;
    let [columnLow, columnHigh, columnLast] = [0, 0, 0];
    const flush = (): void => {
        if (column < 0) return;
        const x = left + column;
        context.lineTo(x, yOf(columnLow));
        if (columnHigh !== columnLow) context.lineTo(x, yOf(columnHigh));
        context.lineTo(x, yOf(columnLast));
    };
    let before = NaN;
    for (let i = first; i < last; ++i) {
        const at = Math.min(Math.max(Math.floor(((time[i]! - view.begin) / (view.end - view.begin)) * width), 0), width);
        if (at !== column) {
            flush();
            if (Number.isNaN(before)) context.moveTo(left + at, yOf(value[i]!));
            else context.lineTo(left + at, yOf(before));
            column = at;
            columnLow = columnHigh = value[i]!;
        }
        columnLow = Math.min(columnLow, value[i]!);
        columnHigh = Math.max(columnHigh, value[i]!);
        before = columnLast = value[i]!;
    }
    flush();
    context.lineTo(left + width, yOf(before));
    context.strokeStyle = palette.counter;
    context.lineWidth = 1.2 * scale;
    context.stroke();
    context.fillStyle = palette.faint;
    context.font = `${10 * scale}px ${labelFont}`;
    context.textBaseline = "top";
    context.fillText(String(Number(high.toPrecision(6))), left + 4 * scale, y + 1);
}
