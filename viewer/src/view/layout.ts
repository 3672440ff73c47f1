// Where the lanes of the timeline lie, from top to bottom. All in CSS pixels.
import { Layer, type Model, type Row } from "../model/model";

export const rowHeight = 17;
export const laneGap = 7;
export const gutterWidth = 136;
export const axisHeight = 20;
export const frameBandHeight = 15;
export const headHeight = axisHeight + frameBandHeight;
const counterHeight = 34;

export interface Track {
    top: number;
    height: number;
    label: string;
    /** -1: a counter. */
    lane: number;
    /** Rows by layer. */
    idle: Row[];
    outerWaits: Row[];
    bodies: Row[];
    waits: Row[];
    switched: Row[];
    counter: number;
    closed: boolean;
    canClose: boolean;
}

const kindOrder = ["main", "worker", "reserve", "guest", "background", "device", "other"];

export function layoutTracks(model: Model, closed: ReadonlySet<number>): { tracks: Track[]; height: number } {
    const order = model.lanes.map((_, lane) => lane);
    order.sort((a, b) => {
        const kinds = kindOrder.indexOf(model.lanes[a]!.kind) - kindOrder.indexOf(model.lanes[b]!.kind);
        return kinds || model.lanes[a]!.seat - model.lanes[b]!.seat || a - b;
    });
    const tracks: Track[] = [];
    let top = laneGap;
    for (const lane of order) {
        const rows = model.rows.filter((row) => row.lane === lane);
        if (rows.length === 0 && model.lanes[lane]!.dropped === 0) continue;
        const isClosed = closed.has(lane);
        const of = (layer: number): Row[] => rows.filter((row) => row.layer === layer && (!isClosed || row.depth === 0));
        const depths = Math.max(1, isClosed ? 1 : model.lanes[lane]!.depths);
        const height = depths * rowHeight;
        const about = model.lanes[lane]!;
        tracks.push({
            top,
            height,
            label: about.name === "" ? `${about.kind} ${lane}` : about.name,
            lane,
            idle: of(Layer.idle),
            outerWaits: of(Layer.outerWait),
            bodies: of(Layer.body),
            waits: of(Layer.wait),
            switched: of(Layer.switched),
            counter: -1,
            closed: isClosed,
            canClose: about.depths > 1,
        });
        top += height + laneGap;
    }
    model.counters.forEach((counter, number) => {
        const name = model.types[counter.type]!.name;
        tracks.push({
            top,
            height: counterHeight,
            label: name === "" ? "(counter)" : name,
            lane: -1,
            idle: [],
            outerWaits: [],
            bodies: [],
            waits: [],
            switched: [],
            counter: number,
            closed: false,
            canClose: false,
        });
        top += counterHeight + laneGap;
    });
    return { tracks, height: top };
}

/** The middle of a row, from the top of the lanes; null when its lane is not shown. */
export function middleOf(tracks: Track[], lane: number, depth: number): number | null {
    const track = tracks.find((t) => t.lane === lane);
    if (track === undefined) return null;
    return track.top + (track.closed ? 0.5 : Math.min(depth, track.height / rowHeight - 1) + 0.5) * rowHeight;
}
