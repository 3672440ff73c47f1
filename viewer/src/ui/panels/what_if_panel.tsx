// What the simulator of `braid` says: other numbers of cores, and types that were faster.
import { useState } from "preact/hooks";
import { frameLengths } from "../../model/compare";
import { typeName } from "../../model/model";
import { durationText, quantile } from "../../model/time";
import { useSessionState } from "../hooks";
import { Swatch } from "../swatch";

export function WhatIfPanel() {
    const { model, analysis } = useSessionState();
    const [core, setCore] = useState(-1);
    if (model === null) return null;
    if (analysis === null || analysis.whatIf.cores.length + analysis.whatIf.faster.length === 0) {
        return <p class="note">There is no simulation beside this capture. braid view makes one.</p>;
    }
    const lengths = frameLengths(model);
    const measured = { p50: quantile(lengths, 0.5), p95: quantile(lengths, 0.95) };
    const cores = [...analysis.whatIf.cores].sort((a, b) => a.cores - b.cores);
    // A model is compared with itself: what it makes of the machine that the capture is from. How far that
    // is from what was measured is shown beside it.
    const recorded = model.lanes.filter((lane) => (lane.kind === "worker" || lane.kind === "main") && lane.records > 0).length;
    const begin = Math.max(0, cores.findIndex((row) => row.cores >= recorded));
    const simulated = cores.find((row) => row.cores === recorded);
    const base = simulated ?? measured;
    const row = cores[core < 0 ? begin : core];
    const types = [...new Set(analysis.whatIf.faster.map((faster) => faster.type))];
    const most = Math.max(measured.p95, ...cores.map((c) => c.p95));
    return (
        <div class="what-if">
            <section>
                <h3>Number of cores</h3>
                <div class="scale">
                    <Result name="measured" p50={measured.p50} p95={measured.p95} most={most} />
                    {simulated !== undefined && <Result name={`simulated, ${recorded} cores`} p50={simulated.p50} p95={simulated.p95} most={most} />}
                    {row !== undefined && (
                        <Result name={`${row.cores} ${row.cores === 1 ? "core" : "cores"}`} p50={row.p50} p95={row.p95} most={most} base={base} />
                    )}
                </div>
                {cores.length > 0 && (
                    <>
                        <input
                            class="cores"
                            type="range"
                            min={0}
                            max={cores.length - 1}
                            value={core < 0 ? begin : core}
                            onInput={(event) => setCore(Number(event.currentTarget.value))}
                        />
                        <div class="marks">
                            {cores.map((c) => (
                                <span>{c.cores}</span>
                            ))}
                        </div>
                        <p class="note">{enoughCores(cores)}</p>
                    </>
                )}
            </section>
            <section>
                <h3>Faster types</h3>
                {types.map((type) => (
                    <FasterRow key={type} type={type} name={typeName(model, type)} steps={analysis.whatIf.faster.filter((f) => f.type === type)} base={base} most={most} />
                ))}
                <p class="note">One type at a time. Lengths of frames: the median as a bar, 95 of 100 as the thin line. Changes are against the simulation of the recorded machine.</p>
            </section>
        </div>
    );
}

type Times = { p50: number; p95: number };

function enoughCores(cores: { cores: number; p50: number }[]): string {
    const best = cores.reduce((a, b) => (b.p50 < a.p50 ? b : a));
    const enough = cores.find((row) => row.p50 <= best.p50 * 1.05)!;
    if (enough === cores[cores.length - 1]) return "Each step up to the last one still makes frames shorter.";
    return `From ${enough.cores} cores on, more of them change the median by less than 5 %.`;
}

function Result({ name, p50, p95, most, base }: { name: string; p50: number; p95: number; most: number; base?: Times }) {
    const change = base === undefined ? 0 : (p50 / base.p50 - 1) * 100;
    return (
        <div class="result">
            <span class="what">{name}</span>
            <span class="track">
                <i style={{ width: `${(100 * p50) / most}%` }} />
                <s style={{ left: `${(100 * p95) / most}%` }} />
            </span>
            <span class="right">{durationText(p50)}</span>
            <span class="right faint">{durationText(p95)}</span>
            <span class={`right ${change < -0.5 ? "better" : change > 0.5 ? "worse" : "faint"}`}>
                {Math.abs(change) < 0.05 ? "" : `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(1)} %`}
            </span>
        </div>
    );
}

function FasterRow({ type, name, steps, base, most }: { type: number; name: string; steps: { times: number; p50: number; p95: number }[]; base: Times; most: number }) {
    const sorted = [...steps].sort((a, b) => a.times - b.times);
    const [at, setAt] = useState(Math.min(Math.max(sorted.findIndex((s) => s.times === 2), 0), sorted.length - 1));
    const step = sorted[at]!;
    return (
        <div class="faster">
            <span class="what">
                <Swatch type={type} />
                {name}
            </span>
            <input type="range" min={0} max={sorted.length - 1} value={at} disabled={sorted.length === 1} onInput={(event) => setAt(Number(event.currentTarget.value))} />
            <Result name={`× ${step.times}`} p50={step.p50} p95={step.p95} most={most} base={base} />
        </div>
    );
}
