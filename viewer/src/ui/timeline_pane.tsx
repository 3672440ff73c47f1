// The timeline in the page: its size, its mouse, and what is told of the span under the pointer.
import { useEffect, useRef, useState } from "preact/hooks";
import { frameAnalysis, type PathStep } from "../model/analysis";
import { frameAt } from "../model/frame_tasks";
import { SpanKind, spanName, type Model } from "../model/model";
import { durationText, moved } from "../model/time";
import { noCore } from "../parse/kinds";
import { gutterWidth } from "../view/layout";
import { Timeline } from "../view/timeline";
import { useSession, useSessionState, useSize } from "./hooks";
import { dimmedTypes, type Session } from "./session";

const noPath: PathStep[] = [];
const mostInLegend = 24;

interface Tip {
    x: number;
    y: number;
    span: number;
}

export function TimelinePane() {
    const session = useSession();
    const state = useSessionState();
    const { of, width, height } = useSize<HTMLDivElement>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [tip, setTip] = useState<Tip | null>(null);
    const { model, analysis, frame } = state;

    useEffect(() => {
        if (canvas.current === null || model === null) return undefined;
        const timeline = new Timeline(canvas.current, model);
        session.timeline = timeline;
        session.fitFrame();
        const forget = installMouse(canvas.current, timeline, session, setTip);
        return () => {
            forget();
            session.timeline = null;
        };
        // A live capture gives its models to the timeline that is there.
    }, [session, model === null]);

    useEffect(() => {
        if (width > 0 && height > 0) session.timeline?.resize(width, height, devicePixelRatio);
    }, [session, width, height]);

    const [legend, setLegend] = useState<{ label: string; colour: string }[]>([]);
    const path = model === null ? undefined : frameAnalysis(analysis, model.frames, frame)?.path;
    const dimmed = dimmedTypes(state);
    useEffect(() => {
        session.timeline?.setState({
            frame,
            span: state.span,
            colourBy: state.colourBy,
            dark: state.dark,
            budget: state.budget,
            path: path ?? noPath,
            closed: state.closedLanes,
            dimmed,
        });
    });
    // After the timeline has been told of the colours.
    useEffect(() => setLegend(session.timeline?.legend() ?? []), [session, model, state.colourBy, state.dark]);

    return (
        <section class="timeline-pane" ref={of}>
            <canvas class="timeline" ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
            {legend.length > 0 && (
                <div class="legend">
                    {state.colourBy}
                    {legend.slice(0, mostInLegend).map(({ label, colour }) => (
                        <span>
                            <i class="swatch" style={{ background: colour }} />
                            {label}
                        </span>
                    ))}
                    {legend.length > mostInLegend && "…"}
                </div>
            )}
            {tip !== null && model !== null && tip.span < model.spans.count && <SpanTip model={model} tip={tip} width={width} height={height} />}
        </section>
    );
}

function SpanTip({ model, tip, width, height }: { model: Model; tip: Tip; width: number; height: number }) {
    const { spans } = model;
    const s = tip.span;
    const length = spans.end[s]! - spans.begin[s]!;
    const isBody = spans.kind[s]! <= SpanKind.scope;
    const style = {
        left: tip.x > width - 300 ? undefined : `${tip.x + 14}px`,
        right: tip.x > width - 300 ? `${width - tip.x + 14}px` : undefined,
        top: tip.y > height - 110 ? undefined : `${tip.y + 16}px`,
        bottom: tip.y > height - 110 ? `${height - tip.y + 10}px` : undefined,
    };
    return (
        <div class="tip" style={style}>
            <b>{spanName(model, s)}</b>
            <span>
                {durationText(length)}
                {isBody && spans.own[s]! < length && `, own ${durationText(spans.own[s]!)}`}
            </span>
            {spans.kind[s] === SpanKind.wait && spans.other[s]! >= 0 && (
                <span>for {model.types[model.tasks.type[spans.other[s]!]!]!.name || "a task"}</span>
            )}
            <span class="faint">
                {model.lanes[spans.lane[s]!]!.name}
                {spans.core[s] !== noCore && ` · core ${spans.core[s]}`}
            </span>
        </div>
    );
}

function installMouse(canvas: HTMLCanvasElement, timeline: Timeline, session: Session, setTip: (tip: Tip | null) => void): () => void {
    let drag: { x: number; y: number; moved: boolean; measureFrom: number | null; inGutter: boolean } | null = null;
    const at = (event: MouseEvent): { x: number; y: number } => {
        const box = canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const down = (event: PointerEvent): void => {
        if (event.button !== 0) return;
        const { x, y } = at(event);
        canvas.setPointerCapture(event.pointerId);
        drag = { x, y, moved: false, measureFrom: event.shiftKey ? timeline.timeAt(x) : null, inGutter: x < gutterWidth };
    };
    const move = (event: PointerEvent): void => {
        const { x, y } = at(event);
        if (drag !== null) {
            if (!drag.moved && Math.abs(x - drag.x) + Math.abs(y - drag.y) < 4) return;
            drag.moved = true;
            setTip(null);
            if (drag.measureFrom !== null) {
                const [from, to] = [drag.measureFrom, timeline.timeAt(x)];
                timeline.measured = { begin: Math.min(from, to), end: Math.max(from, to) };
                timeline.ask();
                return;
            }
            canvas.style.cursor = "grabbing";
            session.setFollowing(false);
            if (!drag.inGutter) timeline.show(moved(timeline.view, timeline.timeAt(drag.x) - timeline.timeAt(x), timeline.all));
            timeline.scrollBy(drag.y - y);
            drag.x = x;
            drag.y = y;
            return;
        }
        const place = timeline.placeAt(x, y);
        timeline.pointerTime = x >= gutterWidth ? place.time : null;
        canvas.style.cursor = place.gutterLane >= 0 || place.inFrameBand || place.span >= 0 ? "pointer" : "default";
        if (timeline.hovered !== place.span) {
            timeline.hovered = place.span;
            timeline.ask();
        }
        setTip(place.span < 0 ? null : { x, y, span: place.span });
    };
    const up = (event: PointerEvent): void => {
        const was = drag;
        drag = null;
        canvas.style.cursor = "default";
        if (was === null || was.moved) return;
        const { x, y } = at(event);
        const place = timeline.placeAt(x, y);
        const { model } = session.state;
        if (timeline.measured !== null) {
            timeline.measured = null;
            timeline.ask();
        }
        if (place.gutterLane >= 0) session.toggleLane(place.gutterLane);
        else if (place.inFrameBand && model !== null) session.selectFrame(frameAt(model, place.time), false);
        else if (x >= gutterWidth) {
            session.selectSpan(place.span, false);
            if (place.span >= 0) session.set({ tab: "details" });
        }
    };
    const twice = (event: MouseEvent): void => {
        const { x, y } = at(event);
        const { span, inFrameBand } = timeline.placeAt(x, y);
        if (inFrameBand) session.fitFrame();
        else if (span >= 0) timeline.fitSpan(span);
    };
    const leave = (): void => {
        timeline.pointerTime = null;
        timeline.hovered = -1;
        timeline.ask();
        setTip(null);
    };
    const wheel = (event: WheelEvent): void => {
        event.preventDefault();
        const { x } = at(event);
        // Lines and pages as some mice count them, in pixels.
        const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1;
        const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
        setTip(null);
        if (x < gutterWidth) timeline.scrollBy(dy);
        else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
            session.setFollowing(false);
            timeline.move((dx !== 0 ? dx : dy) / 1000);
        } else {
            timeline.zoom(1.0018 ** dy, timeline.timeAt(x));
        }
    };
    canvas.addEventListener("pointerdown", down);
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("dblclick", twice);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("wheel", wheel, { passive: false });
    return () => {
        canvas.removeEventListener("pointerdown", down);
        canvas.removeEventListener("pointermove", move);
        canvas.removeEventListener("pointerup", up);
        canvas.removeEventListener("dblclick", twice);
        canvas.removeEventListener("pointerleave", leave);
        canvas.removeEventListener("wheel", wheel);
    };
}
