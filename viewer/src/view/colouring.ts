// Which colour of the palette a span has.
import { SpanFlag, SpanKind, type Model } from "../model/model";
import { noCore, SpawnFlag } from "../parse/kinds";
import { pixelOf, type Palette, type Rgb } from "./palette";

export type ColourBy = "type" | "core" | "priority";

/** Colours by number; `of` says which one a span has. */
export class Colouring {
    readonly colours: Rgb[];
    readonly pixels: Uint32Array;
    private readonly byType: Uint16Array;
    private readonly hued: number;

    constructor(
        private readonly model: Model,
        private readonly by: ColourBy,
        palette: Palette,
    ) {
        this.hued = palette.spans.length;
        this.colours = [...palette.spans, palette.none, palette.wait, palette.searching, palette.parked, ...palette.priorities];
        this.pixels = Uint32Array.from(this.colours, pixelOf);
        this.byType = typeOrder(model);
    }

    of(span: number): number {
        const { spans, tasks } = this.model;
        const kind = spans.kind[span]!;
        if (kind === SpanKind.wait) return this.hued + 1;
        if (kind === SpanKind.searching) return this.hued + 2;
        if (kind === SpanKind.parked) return this.hued + 3;
        if (this.by === "core") return spans.core[span] === noCore ? this.hued : spans.core[span]! % this.hued;
        const task = spans.task[span]!;
        if (this.by === "priority" && kind !== SpanKind.scope) {
            if (task < 0) return this.hued;
            const flags = tasks.spawnFlags[task]!;
            return this.hued + 4 + (flags & SpawnFlag.background ? 3 : Math.min(flags & SpawnFlag.priority, 2));
        }
        if (this.by === "priority") return this.hued;
        return this.ofType(spans.type[span]!);
    }

    ofType(type: number): number {
        return this.byType[type]! % this.hued;
    }
}

/** Types with the most time come first, so that they get the colours that differ most. */
function typeOrder(model: Model): Uint16Array {
    const time = new Float64Array(model.types.length);
    for (let span = 0; span < model.spans.count; ++span) {
        if (model.spans.kind[span]! <= SpanKind.scope) time[model.spans.type[span]!]! += model.spans.own[span]!;
    }
    const order = Uint32Array.from(time, (_, type) => type).sort((a, b) => time[b]! - time[a]! || a - b);
    const place = new Uint16Array(model.types.length);
    order.forEach((type, at) => (place[type] = at));
    return place;
}

/** Where only that bit is known, the whole task is marked. */
export function wasSwitched(model: Model, span: number): boolean {
    return model.switches !== "exact" && (model.spans.flags[span]! & SpanFlag.switched) !== 0;
}
