// What `braid` found out about the capture. The page believes its shape only after it has looked: a
// part that is not as docs/design/profile.md says is left out, and the rest is shown.
import type { Frames } from "./model";
import { findTaskByText, type TaskIds } from "./task_ids";

export interface Diagnosis {
    cause: string;
    sentence: string;
    task: string;
    type: number;
    file: string;
    line: number;
    saves: number;
}

export interface PathStep {
    /** As this capture numbers it; -1: not in it. */
    task: number;
    begin: number;
    end: number;
    waits: { dependency: number; external: number; queue: number; affinity: number; preempted: number };
}

export interface FrameAnalysis {
    number: number;
    begin: number;
    end: number;
    diagnosis: Diagnosis | null;
    /** What `braid report` says first, also of a frame without a diagnosis. */
    sentence: string;
    path: PathStep[];
    slack: Map<number, number>;
}

export interface WhatIf {
    cores: { cores: number; p50: number; p95: number }[];
    faster: { type: number; times: number; p50: number; p95: number }[];
}

export interface Analysis {
    frames: FrameAnalysis[];
    whatIf: WhatIf;
}

type Json = { [key: string]: unknown };

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const number = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Throws an Error with a sentence when it is none at all. */
export function readAnalysis(json: string, ids: TaskIds): Analysis {
    let whole: unknown;
    try {
        whole = JSON.parse(json);
    } catch {
        throw new Error("The analysis beside the capture is not JSON.");
    }
    if (!isObject(whole) || whole.version !== 1) throw new Error("The analysis beside the capture has another version.");
    const frames = objects(whole.frames).map((frame) => readFrame(frame, ids));
    const whatIf = isObject(whole.what_if) ? whole.what_if : {};
    return {
        frames,
        whatIf: {
            cores: objects(whatIf.cores).map((row) => ({
                cores: number(row.cores),
                p50: number(row.p50_ns),
                p95: number(row.p95_ns),
            })),
            faster: objects(whatIf.faster).map((row) => ({
                type: number(row.type),
                times: number(row.times),
                p50: number(row.p50_ns),
                p95: number(row.p95_ns),
            })),
        },
    };
}

/** Frames of several types may have the same number, but then they begin at different times. */
export function frameAnalysis(analysis: Analysis | null, frames: Frames, frame: number): FrameAnalysis | null {
    const candidates = analysis?.frames.filter((other) => other.number === frames.number[frame]) ?? [];
    const distance = (of: FrameAnalysis): number => Math.abs(of.begin - frames.begin[frame]!);
    return candidates.reduce<FrameAnalysis | null>((best, other) => (best === null || distance(other) < distance(best) ? other : best), null);
}

function readFrame(frame: Json, ids: TaskIds): FrameAnalysis {
    const slack = new Map<number, number>();
    for (const pair of Array.isArray(frame.slack) ? frame.slack : []) {
        if (!Array.isArray(pair)) continue;
        const task = findTaskByText(ids, text(pair[0]), number(frame.end));
        if (task >= 0) slack.set(task, number(pair[1]));
    }
    return {
        number: number(frame.number),
        begin: number(frame.begin),
        end: number(frame.end),
        diagnosis: isObject(frame.diagnosis) ? readDiagnosis(frame.diagnosis) : null,
        sentence: text(frame.sentence),
        path: objects(frame.critical_path).map((step) => {
            const waits = isObject(step.waits) ? step.waits : {};
            return {
                task: findTaskByText(ids, text(step.task), number(step.begin)),
                begin: number(step.begin),
                end: number(step.end),
                waits: {
                    dependency: number(waits.dependency),
                    external: number(waits.external),
                    queue: number(waits.queue),
                    affinity: number(waits.affinity),
                    preempted: number(waits.preempted),
                },
            };
        }),
        slack,
    };
}

function readDiagnosis(of: Json): Diagnosis {
    return {
        cause: text(of.cause),
        sentence: text(of.sentence),
        task: text(of.task),
        type: number(of.type),
        file: text(of.file),
        line: number(of.line),
        saves: number(of.save_ns),
    };
}
