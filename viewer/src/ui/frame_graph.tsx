// How long each frame took: one bar a frame, those over the budget in another colour.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { frameLengths } from "../model/compare";
import { durationText, quantile } from "../model/time";
import { paletteFor } from "../view/palette";
import { useSession, useSessionState, useSize } from "./hooks";

const height = 84;

export function FrameGraph() {
    const session = useSession();
    const { model, frame, budget, dark } = useSessionState();
    const { of, width } = useSize<HTMLDivElement>();
    const plot = useRef<uPlot | null>(null);
    const chosen = useRef(frame);
    chosen.current = frame;

    useEffect(() => {
        if (of.current === null || model === null || width === 0) return undefined;
        const palette = paletteFor(dark);
        const { frames } = model;
        const x = new Float64Array(frames.count).map((_, i) => i);
        const lengths = Array.from(frames.end, (end, i) => (end - frames.begin[i]!) / 1e6);
        const within = lengths.map((ms) => (ms * 1e6 <= budget ? ms : null));
        const over = lengths.map((ms) => (ms * 1e6 > budget ? ms : null));
        const most = lengths.reduce((a, b) => Math.max(a, b), 0.001);
        const bars = uPlot.paths.bars!({ size: [0.86, 26], gap: 0 });
        const font = '10.5px "DejaVu Sans Mono", Menlo, Consolas, monospace';
        const made = new uPlot(
            {
                width,
                height,
                padding: [6, 8, 0, 0],
                legend: { show: false },
                cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
                scales: {
                    x: { time: false, range: [-0.7, frames.count - 0.3] },
                    // The budget is in view when it is not far above, so that one sees how much room is left.
                    y: { range: [0, Math.max(most, budget / 1e6 < most * 1.7 ? budget / 1e6 : 0) * 1.08] },
                },
                axes: [
                    {
                        stroke: palette.faint,
                        font,
                        size: 18,
                        gap: 2,
                        grid: { show: false },
                        ticks: { show: false },
                        values: (_, splits) => splits.map((i) => (Number.isInteger(i) && i >= 0 && i < frames.count ? String(frames.number[i]) : "")),
                    },
                    {
                        stroke: palette.faint,
                        font,
                        size: 136,
                        gap: 4,
                        space: 22,
                        grid: { stroke: palette.line, width: 1 },
                        ticks: { show: false },
// In ms, or, where all are short, in µs: as the lengths beside it.
                        values: (_, splits) => splits.map((ms) => String(Number((most >= 1 ? ms : ms * 1000).toFixed(2)))),
                    },
                ],
                series: [
                    {},
                    { paths: bars, fill: palette.good, width: 0, points: { show: false } },
                    { paths: bars, fill: palette.over, width: 0, points: { show: false } },
                ],
                hooks: {
                    draw: [
                        (u) => {
                            const { ctx } = u;
                            const y = Math.round(u.valToPos(budget / 1e6, "y", true));
                            ctx.save();
                            ctx.fillStyle = palette.over;
                            if (y >= u.bbox.top) {
                                ctx.globalAlpha = 0.7;
                                for (let at = u.bbox.left; at < u.bbox.left + u.bbox.width; at += 8) ctx.fillRect(at, y, 4, 1);
                                ctx.globalAlpha = 1;
                            }
                            const at = u.valToPos(chosen.current, "x", true);
                            const ofBar = Math.min((u.bbox.width / Math.max(frames.count, 1)) * 0.5, 15 * devicePixelRatio);
                            const half = Math.max(ofBar, 2 * devicePixelRatio);
                            ctx.fillStyle = palette.selection;
                            ctx.globalAlpha = 0.16;
                            ctx.fillRect(at - half, u.bbox.top, half * 2, u.bbox.height);
                            ctx.globalAlpha = 1;
                            ctx.fillRect(at - Math.min(half, 7), u.bbox.top + u.bbox.height - 1, Math.min(half, 7) * 2, 2 * devicePixelRatio);
                            ctx.restore();
                        },
                    ],
                },
            },
            [x as unknown as number[], within, over],
            of.current,
        );
        const frameUnder = (event: MouseEvent): number => {
            const box = made.over.getBoundingClientRect();
            return Math.round(made.posToVal(event.clientX - box.left, "x"));
        };
        made.over.addEventListener("click", (event) => session.selectFrame(frameUnder(event)));
        made.over.addEventListener("mousemove", (event) => {
            const at = Math.min(Math.max(frameUnder(event), 0), frames.count - 1);
            made.over.title = `frame ${frames.number[at]}: ${durationText(lengths[at]! * 1e6)}`;
        });
        plot.current = made;
        return () => {
            made.destroy();
            plot.current = null;
        };
    }, [model, width, budget, dark, session, of]);
    useEffect(() => plot.current?.redraw(false), [frame]);

    const sorted = useMemo(() => (model === null ? new Float64Array(0) : frameLengths(model)), [model]);
    if (model === null || !model.frames.marked) return null;
    const over = sorted.length - firstAbove(sorted, budget);
    return (
        <section class="frames">
            <div class="frames-facts">
                <span>
                    median <b>{durationText(quantile(sorted, 0.5))}</b>
                </span>
                <span>
                    95 % <b>{durationText(quantile(sorted, 0.95))}</b>
                </span>
                <span class={over > 0 ? "over" : ""}>
                    over budget <b>{over}</b>
                </span>
            </div>
            <div ref={of} class="frames-plot" />
        </section>
    );
}

function firstAbove(sorted: Float64Array, value: number): number {
    let at = sorted.length;
    while (at > 0 && sorted[at - 1]! > value) --at;
    return at;
}
