// Paints the rows of a redraw. What is a few pixels wide becomes pixels of one small picture that is
// stretched to the height of its row; only what is wide enough to be read becomes rectangles with
// text. So a redraw costs about the same whether a row has ten spans in view or a million.
import { SpanKind, spanName, type Model, type Row } from "../model/model";
import { PixelColumns, spanAt, type View } from "../model/pixel_columns";
import { wasSwitched, type Colouring } from "./colouring";
import { cssOf, type Palette } from "./palette";

const thin = 2;
/** Even a column that was hardly busy is seen. */
const leastAlpha = 0.3;
const labelled = 26;

interface Label {
    x: number;
    y: number;
    width: number;
    span: number;
    /** A wait lies under the text. */
    onWait: boolean;
}

export interface Paint {
    context: CanvasRenderingContext2D;
    view: View;
    /** Device pixels. */
    left: number;
    width: number;
    scale: number;
    palette: Palette;
    colouring: Colouring;
    /** Types that are not looked for, 1 each; null: all are shown alike. */
    dimmed: Uint8Array | null;
}

export class RowPainter {
    /** Rectangles of the last redraw, thin ones included. */
    rectangles = 0;
    private readonly columns = new PixelColumns();
    private readonly strip = document.createElement("canvas");
    private readonly stripContext = this.strip.getContext("2d")!;
    private image = new ImageData(1, 1);
    private pixels = new Uint32Array(1);
    private strips: { y: number; height: number }[] = [];
    private batches: number[][] = [];
    private dimBatches: number[][] = [];
    private labels: Label[] = [];
    private hatched: number[] = [];
    private hatchedSoft: number[] = [];
    private readonly names = new Map<number, string>();

    constructor(private readonly model: Model) {}

    /** Rows that are painted until `flush` lie on what was painted before. */
    begin(width: number, rows: number, colours: number): void {
        if (this.image.width !== width || this.image.height < rows) {
            this.image = new ImageData(Math.max(width, 1), Math.max(rows, 1));
            this.pixels = new Uint32Array(this.image.data.buffer);
            this.strip.width = this.image.width;
            this.strip.height = this.image.height;
        } else {
            this.pixels.fill(0);
        }
        this.strips = [];
        this.batches = Array.from({ length: colours }, () => []);
        this.dimBatches = Array.from({ length: colours }, () => []);
        this.hatched = [];
        this.hatchedSoft = [];
    }

    /** Begins a redraw. */
    reset(): void {
        this.labels = [];
        this.rectangles = 0;
    }

    /** `y` and `height` in device pixels; `waits` are those that will lie on top of the row. */
    row(paint: Paint, row: Row, y: number, height: number, waits: Row | null = null): void {
        const { columns, model } = this;
        const nsPerPixel = (paint.view.end - paint.view.begin) / paint.width;
        columns.fill(row, model.spans, paint.view, paint.width);
        this.rectangles += columns.count;
        const line = this.strips.length * this.image.width;
        let used = false;
        for (let i = 0; i < columns.count; ++i) {
            const left = columns.left[i]!;
            const right = columns.right[i]!;
            const span = columns.longest[i]!;
            const colour = paint.colouring.of(span);
            const dim = paint.dimmed !== null && paint.dimmed[model.spans.type[span]!] === 1;
            if (right - left <= thin || columns.members[i]! > 1) {
                const coverage = Math.min(1, columns.busy[i]! / ((right - left) * nsPerPixel));
                const alpha = (leastAlpha + (1 - leastAlpha) * coverage) * (dim ? 0.2 : 1);
                const pixel = ((Math.round(alpha * 255) << 24) | paint.colouring.pixels[colour]!) >>> 0;
                for (let x = left; x < right; ++x) this.pixels[line + x] = pixel;
                used = true;
                continue;
            }
            (dim ? this.dimBatches : this.batches)[colour]!.push(left, y, right - left, height);
            if (wasSwitched(model, span)) this.hatchedSoft.push(left, y, right - left, height);
            if (right - left < labelled * paint.scale || dim || model.spans.kind[span]! > SpanKind.scope) continue;
            const middle = paint.view.begin + (left + Math.min(right - left, 40 * paint.scale) / 2) * nsPerPixel;
            const onWait = waits !== null && spanAt(waits, model.spans, middle, 0) >= 0;
            this.labels.push({ x: left, y: y + height / 2, width: right - left, span, onWait });
        }
        if (used) this.strips.push({ y, height });
    }

    /** Times off the core: nothing is filled, only hatched. */
    hatchedRow(paint: Paint, row: Row, y: number, height: number): void {
        const { columns, model } = this;
        columns.fill(row, model.spans, paint.view, paint.width);
        this.rectangles += columns.count;
        for (let i = 0; i < columns.count; ++i) {
            const to = model.spans.kind[columns.longest[i]!] === SpanKind.preempted ? this.hatched : this.hatchedSoft;
            to.push(columns.left[i]!, y, columns.right[i]! - columns.left[i]!, height);
        }
    }

    /** Puts what was collected onto the canvas; the caller has clipped it. */
    flush(paint: Paint): void {
        const { context, left } = paint;
        if (this.strips.length > 0) {
            this.stripContext.putImageData(this.image, 0, 0, 0, 0, this.image.width, this.strips.length);
            context.imageSmoothingEnabled = false;
            this.strips.forEach(({ y, height }, at) => {
                context.drawImage(this.strip, 0, at, this.image.width, 1, left, y, this.image.width, height);
            });
        }
        for (const [batches, alpha] of [
            [this.batches, 1],
            [this.dimBatches, 0.2],
        ] as const) {
            context.globalAlpha = alpha;
            batches.forEach((batch, colour) => {
                if (batch.length === 0) return;
                context.fillStyle = cssOf(paint.colouring.colours[colour]!);
                // A gap of a pixel keeps neighbours of one colour apart.
                for (let i = 0; i < batch.length; i += 4) {
                    const width = batch[i + 2]!;
                    context.fillRect(left + batch[i]!, batch[i + 1]!, width > 3 ? width - 1 : width, batch[i + 3]!);
                }
            });
        }
        context.globalAlpha = 1;
        this.hatch(paint, this.hatchedSoft, paint.palette.hatchSoft);
        this.hatch(paint, this.hatched, paint.palette.hatch);
    }

    private hatch(paint: Paint, batch: number[], colour: string): void {
        if (batch.length === 0) return;
        const { context, left, scale } = paint;
        // What is below did not run meanwhile, so it fades.
        context.fillStyle = paint.palette.fade;
        for (let i = 0; i < batch.length; i += 4) context.fillRect(left + batch[i]!, batch[i + 1]!, batch[i + 2]!, batch[i + 3]!);
        context.strokeStyle = colour;
        context.lineWidth = 1.4 * scale;
        context.beginPath();
        const step = 6 * scale;
        for (let i = 0; i < batch.length; i += 4) {
            const [x, y, width, height] = [left + batch[i]!, batch[i + 1]!, batch[i + 2]!, batch[i + 3]!];
            // Lines stand at fixed places of the canvas, and are cut at the sides of the rectangle.
            for (let at = Math.floor((x - height) / step) * step; at < x + width; at += step) {
                const from = Math.max(at, x);
                const to = Math.min(at + height, x + width);
                if (to <= from) continue;
                context.moveTo(from, y + height - (from - at));
                context.lineTo(to, y + height - (to - at));
            }
        }
        context.stroke();
    }

    writeLabels({ context, left, scale, palette }: Paint): void {
        context.font = `${11 * scale}px ${labelFont}`;
        context.textBaseline = "middle";
        const letter = context.measureText("0000000000").width / 10;
        for (const waiting of [false, true]) {
            context.fillStyle = waiting ? palette.text : palette.onSpan;
            for (const { x, y, width, span, onWait } of this.labels) {
                if (onWait !== waiting) continue;
                const room = Math.floor((width - 8 * scale) / letter);
                const name = this.nameOf(span);
                // Two letters and dots tell nothing that the colour does not.
                if (room < Math.min(name.length, 5)) continue;
                context.fillText(name.length <= room ? name : `${name.slice(0, room - 1)}…`, left + x + 4 * scale, y + 0.5);
            }
        }
    }

    private nameOf(span: number): string {
        const { spans } = this.model;
        const key = spans.type[span]! * 8 + spans.kind[span]!;
        let name = this.names.get(key);
        if (name === undefined) this.names.set(key, (name = spanName(this.model, span)));
        return name;
    }
}

export const labelFont = '"DejaVu Sans Mono", "Cascadia Mono", "SF Mono", Menlo, Consolas, monospace';
