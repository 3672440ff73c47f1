// The timeline: one canvas, its view, and what is drawn on it in which order.
import type { PathStep } from "../model/analysis";
import type { Model, Row } from "../model/model";
import { placePath, type PathPlace } from "../model/path_places";
import { spanAt, type View } from "../model/pixel_columns";
import { durationText, moved, withMargin, zoomed } from "../model/time";
import { noCore } from "../parse/kinds";
import { arrowsOf, drawArrows, drawPath, type Canvas } from "./arrows";
import { Colouring, type ColourBy } from "./colouring";
import { drawCounter } from "./counter_track";
import { drawGround, drawHead } from "./head";
import { axisHeight, gutterWidth, headHeight, laneGap, layoutTracks, rowHeight, type Track } from "./layout";
import { cssOf, paletteFor, type Palette } from "./palette";
import { labelFont, RowPainter, type Paint } from "./row_painter";

export interface TimelineState {
    frame: number;
    /** Selected span, -1: none. */
    span: number;
    colourBy: ColourBy;
    dark: boolean;
    budget: number;
    path: PathStep[];
    closed: ReadonlySet<number>;
    dimmed: Uint8Array | null;
}

export interface Place {
    /** Pixels of the page, from the corner of the canvas. */
    x: number;
    y: number;
    time: number;
    span: number;
    /** The lane whose name is under the pointer, else -1. */
    gutterLane: number;
    inFrameBand: boolean;
}

const nothing: TimelineState = {
    frame: 0,
    span: -1,
    colourBy: "type",
    dark: false,
    budget: 16_666_667,
    path: [],
    closed: new Set(),
    dimmed: null,
};

export class Timeline {
    view: View = { begin: 0, end: 1 };
    hovered = -1;
    measured: View | null = null;
    /** Where the pointer is; null: not on the lanes. */
    pointerTime: number | null = null;
    /** Called after each redraw that moved the view. */
    onView: () => void = () => {};

    private readonly context: CanvasRenderingContext2D;
    private state: TimelineState = nothing;
    private tracks: Track[] = [];
    private path: PathPlace[] = [];
    private contentHeight = 0;
    private scroll = 0;
    private painter: RowPainter;
    private colouring: Colouring;
    private palette: Palette = paletteFor(false);
    private width = 1;
    private height = 1;
    private scale = 1;
    private asked = 0;
    private told: View = { begin: 0, end: 0 };

    constructor(
        private readonly canvas: HTMLCanvasElement,
        private model: Model,
    ) {
        this.context = canvas.getContext("2d", { alpha: false })!;
        this.painter = new RowPainter(model);
        this.colouring = new Colouring(model, this.state.colourBy, this.palette);
        this.setModel(model);
        this.view = withMargin({ begin: 0, end: model.duration });
    }

    setModel(model: Model): void {
        this.model = model;
        this.painter = new RowPainter(model);
        this.path = placePath(model, this.state.path);
        this.recolour();
        this.relayout();
    }

    setState(state: TimelineState): void {
        const before = this.state;
        this.state = state;
        if (before.dark !== state.dark || before.colourBy !== state.colourBy) this.recolour();
        if (before.closed !== state.closed) this.relayout();
        if (before.path !== state.path) this.path = placePath(this.model, state.path);
        this.ask();
    }

    resize(width: number, height: number, scale: number): void {
        this.width = Math.max(1, Math.floor(width * scale));
        this.height = Math.max(1, Math.floor(height * scale));
        this.scale = scale;
        this.canvas.width = this.width;
        this.canvas.height = this.height;
        this.scrollBy(0);
        // At once, because a canvas is empty after its size has changed.
        this.draw();
    }

    get all(): View {
        return { begin: 0, end: Math.max(this.model.duration, 1) };
    }

    show(view: View): void {
        this.view = view;
        this.ask();
    }

    zoom(factor: number, around: number): void {
        this.show(zoomed(this.view, factor, around, this.all));
    }

    /** By a share of what is in view. */
    move(share: number): void {
        this.show(moved(this.view, (this.view.end - this.view.begin) * share, this.all));
    }

    scrollBy(pixels: number): void {
        const room = Math.max(0, this.contentHeight + headHeight - this.height / this.scale);
        this.scroll = Math.min(Math.max(this.scroll + pixels, 0), room);
        this.ask();
    }

    timeAt(x: number): number {
        const { left, width } = this.lanesArea();
        return this.view.begin + ((x * this.scale - left) / width) * (this.view.end - this.view.begin);
    }

    /** What lies at a place of the canvas, in CSS pixels. */
    placeAt(x: number, y: number): Place {
        const time = this.timeAt(x);
        const place: Place = { x, y, time, span: -1, gutterLane: -1, inFrameBand: false };
        if (y < headHeight) {
            place.inFrameBand = x >= gutterWidth && y >= axisHeight;
            return place;
        }
        const inLanes = y - headHeight + this.scroll;
        const track = this.tracks.find((t) => inLanes >= t.top && inLanes < t.top + t.height);
        if (track === undefined) return place;
        if (x < gutterWidth) {
            if (track.canClose) place.gutterLane = track.lane;
            return place;
        }
        const depth = Math.floor((inLanes - track.top) / rowHeight);
        const near = ((this.view.end - this.view.begin) / this.lanesArea().width) * 3 * this.scale;
        // What was drawn last is what is seen.
        for (const rows of [track.switched, track.bodies, track.waits, track.outerWaits, track.idle]) {
            const row = rows.find((r) => r.depth === depth);
            if (row === undefined) continue;
            place.span = spanAt(row, this.model.spans, time, rows === track.bodies ? near : 0);
            if (place.span >= 0) return place;
        }
        return place;
    }

    /** Scrolls and pans until a span is in view; zooms only when it would be too small or too large to see. */
    reveal(span: number): void {
        const { begin, end } = { begin: this.model.spans.begin[span]!, end: this.model.spans.end[span]! };
        const width = this.view.end - this.view.begin;
        const length = end - begin;
        const { width: pixels } = this.lanesArea();
        if (length > width || (length / width) * pixels < 6) {
            const wanted = Math.max(length * 12, 1000);
            this.show({ begin: begin - wanted / 2 + length / 2, end: begin + wanted / 2 + length / 2 });
        } else if (begin < this.view.begin || end > this.view.end) {
            this.show(moved(this.view, (begin + end) / 2 - (this.view.begin + this.view.end) / 2, this.all));
        }
        const track = this.tracks.find((t) => t.lane === this.model.spans.lane[span]!);
        if (track === undefined) return;
        const visible = this.height / this.scale - headHeight;
        if (track.top < this.scroll) this.scrollBy(track.top - laneGap - this.scroll);
        else if (track.top + track.height > this.scroll + visible) this.scrollBy(track.top + track.height + laneGap - visible - this.scroll);
    }

    fitSpan(span: number): void {
        this.show(withMargin({ begin: this.model.spans.begin[span]!, end: this.model.spans.end[span]! }, 0.1));
    }

    ask(): void {
        if (this.asked !== 0) return;
        this.asked = requestAnimationFrame(() => {
            this.asked = 0;
            this.draw();
        });
    }

    /** Draws at once. How many rectangles that took. */
    draw(): number {
        const { context, palette, state, model, scale } = this;
        context.fillStyle = palette.background;
        context.fillRect(0, 0, this.width, this.height);
        const area = this.lanesArea();
        const top = (headHeight - this.scroll) * scale;
        const canvas: Canvas = { context, view: this.view, ...area, top, scale, tracks: this.tracks, palette };
        drawGround(canvas, model, state.frame, this.height);
        context.save();
        context.beginPath();
        context.rect(area.left, headHeight * scale, area.width, this.height);
        context.clip();
        this.drawRows({ context, view: this.view, ...area, scale, palette, colouring: this.colouring, dimmed: state.dimmed }, top);
        for (const track of this.visibleTracks()) {
            if (track.counter >= 0) drawCounter(canvas, model.counters[track.counter]!, top + track.top * scale, track.height * scale);
        }
        drawPath(canvas, model, this.path);
        this.outline(canvas, this.hovered, 1);
        this.outline(canvas, state.span, 2);
        const task = state.span < 0 ? -1 : model.spans.task[state.span]!;
        if (task >= 0) drawArrows(canvas, model, arrowsOf(model, task).arrows);
        this.drawMeasure(canvas);
        context.restore();
        this.drawGutter();
        drawHead(canvas, model, state.frame, state.budget);
        this.drawScrollBar();
        if (this.told.begin !== this.view.begin || this.told.end !== this.view.end) {
            this.told = this.view;
            this.onView();
        }
        return this.painter.rectangles;
    }

    private drawRows(paint: Paint, top: number): void {
        const { painter, scale } = this;
        const tracks = this.visibleTracks();
        const rows = tracks.reduce((sum, t) => sum + t.idle.length + t.outerWaits.length + t.bodies.length + t.waits.length, 0);
        const colours = this.colouring.colours.length;
        const height = (rowHeight - 1) * scale;
        const yOf = (track: Track, row: Row): number => Math.round(top + (track.top + row.depth * rowHeight) * scale);
        painter.reset();
        painter.begin(paint.width, rows, colours);
        for (const track of tracks) {
            for (const row of track.idle) painter.row(paint, row, yOf(track, row), height);
            for (const row of track.outerWaits) painter.row(paint, row, yOf(track, row), height);
        }
        painter.flush(paint);
        painter.begin(paint.width, rows, colours);
        for (const track of tracks) {
            for (const row of track.bodies) {
                const waits = track.waits.find((w) => w.depth === row.depth) ?? null;
                painter.row(paint, row, yOf(track, row), height, waits);
            }
        }
        painter.flush(paint);
        painter.begin(paint.width, rows, colours);
        for (const track of tracks) {
            // A strip of the task's own colour stays above its wait.
            for (const row of track.waits) painter.row(paint, row, yOf(track, row) + 3 * scale, height - 3 * scale);
            for (const row of track.switched) painter.hatchedRow(paint, row, yOf(track, row), height);
        }
        painter.flush(paint);
        painter.writeLabels(paint);
    }

    private visibleTracks(): Track[] {
        const bottom = this.scroll + this.height / this.scale;
        return this.tracks.filter((t) => t.top < bottom && t.top + t.height > this.scroll);
    }

    private outline({ context, view, left, width, top, scale, palette }: Canvas, span: number, line: number): void {
        if (span < 0 || span >= this.model.spans.count) return;
        const { spans } = this.model;
        const track = this.tracks.find((t) => t.lane === spans.lane[span]!);
        if (track === undefined || (track.closed && spans.depth[span]! > 0)) return;
        const x = (time: number): number => left + Math.min(Math.max((time - view.begin) / (view.end - view.begin), -1), 2) * width;
        const from = Math.floor(x(spans.begin[span]!));
        const to = Math.max(Math.ceil(x(spans.end[span]!)), from + 2);
        const y = Math.round(top + (track.top + spans.depth[span]! * rowHeight) * scale);
        context.strokeStyle = palette.selection;
        context.lineWidth = line * scale;
        const inset = (line * scale) / 2;
        context.strokeRect(from + inset - 1, y + inset - 1, Math.max(to - from - 2 * inset + 1, 1), (rowHeight - 1) * scale - 2 * inset + 2);
    }

    private drawMeasure({ context, view, left, width, palette, scale }: Canvas): void {
        if (this.measured === null) return;
        const x = (time: number): number => left + ((time - view.begin) / (view.end - view.begin)) * width;
        const [from, to] = [x(this.measured.begin), x(this.measured.end)];
        context.fillStyle = palette.selection;
        context.globalAlpha = 0.1;
        context.fillRect(from, 0, to - from, this.height);
        context.globalAlpha = 1;
        context.fillRect(from, 0, scale, this.height);
        context.fillRect(to, 0, scale, this.height);
        const text = durationText(this.measured.end - this.measured.begin);
        context.font = `600 ${12 * scale}px ${labelFont}`;
        context.textBaseline = "middle";
        const room = context.measureText(text).width + 12 * scale;
        const middle = Math.min(Math.max((from + to) / 2, left + room / 2), left + width - room / 2);
        const y = (headHeight + 14) * scale;
        context.fillRect(middle - room / 2, y - 10 * scale, room, 20 * scale);
        context.fillStyle = palette.background;
        context.fillText(text, middle - room / 2 + 6 * scale, y);
    }

    private drawGutter(): void {
        const { context, palette, scale, model } = this;
        const width = gutterWidth * scale;
        context.fillStyle = palette.gutter;
        context.fillRect(0, headHeight * scale, width, this.height);
        context.fillStyle = palette.line;
        context.fillRect(width - 1, 0, 1, this.height);
        context.font = `${11 * scale}px ${labelFont}`;
        context.textBaseline = "middle";
        for (const track of this.visibleTracks()) {
            const y = (headHeight - this.scroll + track.top) * scale;
            const middle = y + (rowHeight / 2) * scale;
            if (track.canClose) {
                context.fillStyle = palette.faint;
                context.fillText(track.closed ? "▸" : "▾", 5 * scale, middle);
            }
            const dropped = track.lane >= 0 && model.lanes[track.lane]!.dropped > 0;
            context.fillStyle = dropped ? palette.over : palette.text;
            const label = dropped ? `${track.label} !` : track.label;
            context.fillText(label.length > 17 ? `${label.slice(0, 16)}…` : label, 17 * scale, middle);
            context.fillStyle = palette.line;
            context.fillRect(0, Math.round(y + (track.height + laneGap / 2) * scale), width, 1);
        }
    }

    /** Where in the lanes one is, when not all of them fit. */
    private drawScrollBar(): void {
        const visible = this.height / this.scale - headHeight;
        if (this.contentHeight <= visible) return;
        const share = visible / this.contentHeight;
        this.context.fillStyle = this.palette.faint;
        this.context.globalAlpha = 0.6;
        const top = headHeight + (this.scroll / this.contentHeight) * visible;
        this.context.fillRect(this.width - 5 * this.scale, top * this.scale, 4 * this.scale, share * visible * this.scale);
        this.context.globalAlpha = 1;
    }

    private lanesArea(): { left: number; width: number } {
        const left = Math.round(gutterWidth * this.scale);
        return { left, width: Math.max(1, this.width - left) };
    }

    private recolour(): void {
        this.palette = paletteFor(this.state.dark);
        this.colouring = new Colouring(this.model, this.state.colourBy, this.palette);
        this.ask();
    }

    private relayout(): void {
        const { tracks, height } = layoutTracks(this.model, this.state.closed);
        this.tracks = tracks;
        this.contentHeight = height;
        this.scrollBy(0);
    }

    /** What the colours mean where they do not stand for types. */
    legend(): { label: string; colour: string }[] {
        const colourOf = (at: number): string => cssOf(this.colouring.colours[at]!);
        const { spans } = this.palette;
        if (this.state.colourBy === "priority") {
            return ["low", "normal", "high", "background"].map((label, i) => ({ label, colour: colourOf(spans.length + 4 + i) }));
        }
        if (this.state.colourBy === "type") return [];
        const cores = [...new Set(this.model.spans.core)].filter((core) => core !== noCore).sort((a, b) => a - b);
        return cores.map((core) => ({ label: String(core), colour: colourOf(core % spans.length) }));
    }

    colourOfType(type: number): string {
        return cssOf(this.colouring.colours[this.colouring.ofType(type)]!);
    }
}
