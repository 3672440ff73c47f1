import type { ComponentChildren } from "preact";
import { countText, durationText } from "../model/time";
import type { ColourBy } from "../view/colouring";
import { FileButton } from "./file_button";
import { useSession, useSessionState } from "./hooks";

export function TopBar() {
    const session = useSession();
    const state = useSessionState();
    const { model, live } = state;
    const fact = (key: string): string => model?.info.find(([k]) => k === key)?.[1] ?? "";
    return (
        <header class="top">
            <span class="brand">braid</span>
            {model !== null && (
                <>
                    <span class="program">{fact("program") || state.fileName || "capture"}</span>
                    <span class="facts">
                        {durationText(model.duration)}
                        {model.frames.marked && ` · ${countText(model.frames.count)} ${model.frames.count === 1 ? "frame" : "frames"}`} · {countText(model.records)} records
                        {fact("workers") !== "" && ` · ${fact("workers")} workers`}
                    </span>
                    <Warnings />
                    {live !== null && (
                        <button
                            class={live.following ? "chosen" : ""}
                            title="Stay at the newest frame"
                            disabled={!live.connected}
                            onClick={() => session.setFollowing(!live.following)}
                        >
                            {live.connected ? "● live" : "ended"}
                            {live.time > 0 && ` · ${durationText(live.time)}`}
                        </button>
                    )}
                    {live !== null && live.clock !== null && live.behind >= 0 && (
                        <span
                            class="facts behind"
                            title={`Since the newest record that is shown. The two clocks are compared to within ${durationText(live.clock.roundTrip / 2)}.`}
                        >
                            {countText(Math.round(live.behind / 1e6))} ms behind
                        </span>
                    )}
                </>
            )}
            <span class="space" />
            {model !== null && (
                <>
                    <input
                        class="search"
                        type="search"
                        placeholder="Find  /"
                        title="A name, #id, >1.5ms, <20us"
                        value={state.query}
                        onInput={(event) => session.find(event.currentTarget.value)}
                    />
                    <label>
                        colour
                        <select
                            class="colour-by"
                            value={state.colourBy}
                            onChange={(event) => session.set({ colourBy: event.currentTarget.value as ColourBy })}
                        >
                            <option value="type">type</option>
                            <option value="core">core</option>
                            <option value="priority">priority</option>
                        </select>
                    </label>
                    <BudgetSelect />
                </>
            )}
            <FileButton label="Open…" onFile={(file) => session.openFile(file)} />
            <button
                class="theme"
                title="Light or dark (L)"
                onClick={() => session.setDark(!state.dark)}
            >
                {state.dark ? "☾" : "☀"}
            </button>
            <button title="Keys (?)" onClick={() => session.set({ help: true })}>
                ?
            </button>
        </header>
    );
}

function Chip({ children, title }: { children: ComponentChildren; title: string }) {
    return (
        <span class="chip" title={title}>
            {children}
        </span>
    );
}

function Warnings() {
    const { model, live } = useSessionState();
    if (model === null) return null;
    return (
        <>
            {!model.whole && live === null && (
                <Chip title="The file stops before its end; what came before is shown.">cut off</Chip>
            )}
            {model.dropped > 0 && (
                <Chip title="Rings were full: these records are not in the capture.">{countText(model.dropped)} records dropped</Chip>
            )}
            {live !== null && live.lost > 0 && (
                <Chip title="This page was too slow: the program left these bytes out.">{countText(live.lost)} bytes lost</Chip>
            )}
            {live !== null && live.sentence !== "" && <Chip title={live.sentence}>{live.sentence}</Chip>}
        </>
    );
}

const rates = [30, 60, 90, 120, 144, 240];

function BudgetSelect() {
    const session = useSession();
    const { budget } = useSessionState();
    const rate = rates.find((r) => Math.abs(1e9 / r - budget) < 1e4);
    return (
        <label>
            budget
            <select
                value={rate ?? 0}
                onChange={(event) => session.set({ budget: 1e9 / Number(event.currentTarget.value) })}
            >
                {rate === undefined && <option value={0}>{durationText(budget)}</option>}
                {rates.map((r) => (
                    <option key={r} value={r}>
                        {durationText(1e9 / r)} ({r} Hz)
                    </option>
                ))}
            </select>
        </label>
    );
}
