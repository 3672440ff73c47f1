// A capture of a game that does not exist: frames of tasks put on workers by a small list scheduler.
// The same arguments give the same bytes.
import { RecordKind as K } from "../../src/parse/kinds";
import { bitsOf, CaptureBytes, type TestRecord } from "./capture_bytes";

export interface SceneOptions {
    frames: number;
    workers: number;
    /** How many characters; a frame has about 4 tasks for each. */
    characters: number;
    seed?: number;
    /** How many times as long everything takes. */
    pace?: number;
    /** Makes the tasks of one type take this many times as long. */
    slower?: { type: string; times: number };
}

export interface Scene {
    bytes: Uint8Array<ArrayBuffer>;
    analysis: string;
    records: number;
    frameCount: number;
}

interface Work {
    id: bigint;
    type: string;
    cost: number;
    after: Work[];
    priority: number;
    mainOnly: boolean;
    /** It is split, and other lanes take parts. */
    parts: number;
    /** A child that it waits for in the middle. */
    child: Work | null;
    begin: number;
    end: number;
    releasedBy: Work | null;
    lane: number;
}

const sources: Record<string, [string, number]> = {
    frame: ["game/loop.cpp", 61],
    input: ["game/input.cpp", 18],
    pose: ["anim/pose.cpp", 112],
    skin: ["anim/skin.cpp", 87],
    ai: ["game/think.cpp", 203],
    path: ["nav/path.cpp", 54],
    broadphase: ["physics/broad.cpp", 31],
    "narrow phase": ["physics/narrow.cpp", 140],
    solve: ["physics/solve.cpp", 77],
    cull: ["render/cull.cpp", 22],
    draw: ["render/draw.cpp", 318],
    submit: ["render/submit.cpp", 45],
    audio: ["audio/mix.cpp", 12],
    "stream textures": ["stream/textures.cpp", 90],
    "shadow pass": ["", 0],
    "main pass": ["", 0],
    "post pass": ["", 0],
    "read events": ["game/input.cpp", 30],
    "visible objects": ["", 0],
};

export function makeScene(options: SceneOptions): Scene {
    let state = options.seed ?? 1;
    const random = (): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 4294967296;
    };
    const out = new CaptureBytes().header();
    out.info("program", "sketch of a game").info("workers", String(options.workers)).info("cores", String(options.workers + 1)).info("switches", "exact");
    const types = new Map<string, number>();
    for (const [name, [file, line]] of Object.entries(sources)) types.set(name, out.type(name, file, line));
    const typeOf = (name: string): number => types.get(name)!;

    const background = options.workers + 1;
    const device = options.workers + 2;
    const lanes: TestRecord[][] = Array.from({ length: options.workers + 3 }, () => []);
    out.lane(0, "main", 2, 0);
    for (let w = 1; w <= options.workers; ++w) out.lane(w, `worker ${w - 1}`, 1, w);
    out.lane(background, "background 0", 4).lane(device, "gpu 0", 6);

    let slot = 1n;
    const nextId = (): bigint => (1n << 32n) | slot++;
    const scale = (type: string): number => (options.pace ?? 1) * (options.slower?.type === type ? options.slower.times : 1);
    const work = (type: string, cost: number, after: Work[] = []): Work => ({
        id: nextId(),
        type,
        cost: cost * scale(type) * (0.75 + random() * 0.5),
        after,
        priority: 1,
        mainOnly: false,
        parts: 0,
        child: null,
        begin: 0,
        end: 0,
        releasedBy: null,
        lane: 0,
    });
    const put = (lane: number, record: TestRecord): void => {
        // Background and device have no core to speak of.
        lanes[lane]!.push({ core: lane < background ? (lane * 3) % (options.workers + 1) : 0xffff, ...record });
    };

    const analysed: object[] = [];
    const free = new Array<number>(options.workers + 1).fill(0);
    let now = 200_000;
    for (let frame = 0; frame < options.frames; ++frame) {
        const begin = now;
        const heavy = frame % 37 === 23;
        const preempted = frame % 41 === 11;
        const root = work("frame", 0);
        const input = work("input", 180_000);
        input.mainOnly = true;
        const broad = work("broadphase", 300_000, [input]);
        const narrow = work("narrow phase", 900_000, [broad]);
        narrow.parts = 4;
        const solve = work("solve", 500_000, [narrow]);
        const audio = work("audio", 400_000, [input]);
        audio.priority = 0;
        const all = [input, broad, narrow, solve, audio];
        const skins: Work[] = [];
        for (let c = 0; c < options.characters; ++c) {
            const ai = work("ai", 60_000, [input]);
            if (c % 6 === 0) ai.child = work("path", 90_000);
            const pose = work("pose", 110_000, [ai, ...(c % 4 === 0 ? [solve] : [])]);
            const skin = work("skin", heavy && c === 3 ? 6_000_000 : 130_000, [pose]);
            skins.push(skin);
            all.push(ai, pose, skin);
        }
        const cull = work("cull", 250_000, [solve, ...skins]);
        cull.priority = 2;
        all.push(cull);
        const draws = Array.from({ length: Math.max(4, options.characters >> 2) }, () => work("draw", 160_000, [cull]));
        const submit = work("submit", 220_000, draws);
        submit.mainOnly = true;
        submit.priority = 2;
        all.push(...draws, submit);

        // Spawning, on the main lane.
        put(0, { time: begin, kind: K.frameBegin, other: BigInt(frame), aux: typeOf("frame"), task: root.id });
        put(0, { time: begin, kind: K.spawned, task: root.id, aux: typeOf("frame"), flags: 1 });
        put(0, { time: begin + 100, kind: K.scopeBegin, aux: typeOf("read events") });
        put(0, { time: begin + 24_000, kind: K.scopeEnd, aux: typeOf("read events") });
        let spawnTime = begin + 25_000;
        for (const w of all) {
            put(0, { time: spawnTime, kind: K.spawned, task: w.id, other: root.id, aux: typeOf(w.type), flags: w.priority | (w.mainOnly ? 4 : 0) });
            for (const before of w.after) put(0, { time: spawnTime, kind: K.edge, task: w.id, other: before.id });
            if (w.after.length === 0) put(0, { time: spawnTime, kind: K.ready, task: w.id });
            spawnTime += 350;
        }
        // The main thread waits for the frame, and helps meanwhile.
        put(0, { time: spawnTime, kind: K.ready, task: root.id });
        put(0, { time: spawnTime + 100, kind: K.waitBegin, other: root.id });
        put(0, { time: spawnTime + 300, kind: K.started, task: root.id, aux: typeOf("frame") });
        put(0, { time: spawnTime + 900, kind: K.ended, task: root.id });
        for (let lane = 0; lane <= options.workers; ++lane) free[lane] = Math.max(free[lane]!, spawnTime + 1_000);

        // The list scheduler: the task that is ready first goes to the lane that is free first.
        const pending = new Set(all);
        while (pending.size > 0) {
            let chosen: Work | null = null;
            let readyAt = Infinity;
            for (const w of pending) {
                if (w.after.some((before) => pending.has(before))) continue;
                const ready = w.after.reduce((latest, before) => Math.max(latest, before.end), spawnTime);
                if (ready < readyAt) {
                    chosen = w;
                    readyAt = ready;
                }
            }
            if (chosen === null) throw new Error("the scene has a circle");
            pending.delete(chosen);
            let lane = 0;
            if (!chosen.mainOnly) for (let l = 1; l <= options.workers; ++l) if (free[l]! < free[lane]!) lane = l;
            const idleFrom = free[lane]!;
            const start = Math.max(readyAt + 900, idleFrom + 400);
            if (start - idleFrom > 8_000) {
                put(lane, { time: idleFrom + 300, kind: K.searching });
                if (start - idleFrom > 60_000) {
                    put(lane, { time: idleFrom + 40_000, kind: K.parked });
                    put(lane, { time: start - 6_000, kind: K.unparked });
                }
            }
            chosen.begin = start;
            chosen.lane = lane;
            chosen.releasedBy = chosen.after.reduce<Work | null>((last, w) => (last === null || w.end > last.end ? w : last), null);
            put(lane, { time: start, kind: K.started, task: chosen.id, aux: typeOf(chosen.type) });
            let time = start;
            if (chosen.child !== null) {
                const child = chosen.child;
                put(lane, { time: time + 8_000, kind: K.spawned, task: child.id, other: chosen.id, aux: typeOf(child.type), flags: 1 });
                put(lane, { time: time + 8_000, kind: K.ready, task: child.id });
                put(lane, { time: time + 9_000, kind: K.waitBegin, task: chosen.id, other: child.id });
                put(lane, { time: time + 10_000, kind: K.started, task: child.id, aux: typeOf(child.type) });
                put(lane, { time: time + 10_000 + child.cost, kind: K.ended, task: child.id });
                put(lane, { time: time + 10_000 + child.cost, kind: K.completed, task: child.id });
                put(lane, { time: time + 11_000 + child.cost, kind: K.waitEnd, task: chosen.id, other: child.id });
                time += 11_000 + child.cost;
            }
            let flags = 0;
            if (preempted && chosen.type === "solve") {
                put(lane, { time: time + 100_000, kind: K.switchedOut, flags: 1 });
                put(lane, { time: time + 3_100_000, kind: K.switchedIn });
                time += 3_000_000;
                flags = 2;
            }
            time += chosen.cost;
            for (let part = 0; part < chosen.parts; ++part) {
                const taker = 1 + ((lane + part) % options.workers);
                if (taker === lane || free[taker]! > start + 30_000) continue;
                const from = Math.max(free[taker]! + 500, start + 20_000 + part * 3_000);
                put(taker, { time: from, kind: K.jobStarted, task: chosen.id, other: BigInt(part), aux: lane });
                put(taker, { time: Math.max(from + 1_000, time - 15_000), kind: K.jobEnded, task: chosen.id, other: BigInt(part) });
                free[taker] = Math.max(from + 1_000, time - 15_000);
            }
            chosen.end = time;
            free[lane] = time;
            put(lane, { time, kind: K.ended, task: chosen.id, flags });
            put(lane, { time, kind: K.completed, task: chosen.id });
            for (const w of pending) {
                if (w.after.includes(chosen) && !w.after.some((before) => pending.has(before))) {
                    const last = w.after.reduce((latest, before) => (before.end > latest.end ? before : latest), chosen);
                    put(last.lane, { time: last.end, kind: K.ready, task: w.id, other: last.id });
                }
            }
        }
        const end = submit.end + 2_000;
        put(0, { time: submit.end, kind: K.completed, task: root.id });
        put(0, { time: end, kind: K.waitEnd, other: root.id });
        put(0, { time: end + 300, kind: K.counter, aux: typeOf("visible objects"), other: bitsOf(200 + Math.round(random() * 60)) });
        put(0, { time: end + 400, kind: K.frameEnd, other: BigInt(frame), aux: typeOf("frame"), task: root.id });

        put(device, { time: end + 500, kind: K.scopeBegin, aux: typeOf("shadow pass") });
        put(device, { time: end + 700_000, kind: K.scopeEnd, aux: typeOf("shadow pass") });
        put(device, { time: end + 700_100, kind: K.scopeBegin, aux: typeOf("main pass") });
        put(device, { time: end + 1_900_000, kind: K.scopeEnd, aux: typeOf("main pass") });
        put(device, { time: end + 1_900_100, kind: K.scopeBegin, aux: typeOf("post pass") });
        put(device, { time: end + 2_200_000, kind: K.scopeEnd, aux: typeOf("post pass") });
        if (frame % 3 === 0) {
            const stream = nextId();
            put(background, { time: begin + 400_000, kind: K.spawned, task: stream, aux: typeOf("stream textures"), flags: 8 });
            put(background, { time: begin + 410_000, kind: K.started, task: stream, aux: typeOf("stream textures") });
            put(background, { time: end - 10_000, kind: K.ended, task: stream });
            put(background, { time: end - 10_000, kind: K.completed, task: stream });
        }

        const path: Work[] = [];
        for (let at: Work | null = submit; at !== null; at = at.releasedBy) path.unshift(at);
        const worst = path.reduce((a, b) => (b.end - b.begin > a.end - a.begin ? b : a));
        analysed.push({
            number: frame,
            begin,
            end: end + 400,
            sentence: `Frame ${frame} took as long as is usual here.`,
            diagnosis:
                !heavy && !preempted
                    ? null
                    : {
                          cause: preempted ? "preempted" : "long_task",
                          sentence: preempted
                              ? "The system took worker time away: solve was off its core for 3.00 ms while the frame waited for it."
                              : `One ${worst.type} took ${((worst.end - worst.begin) / 1e6).toFixed(2)} ms while the others had nothing to do; split it, or start it earlier.`,
                          task: worst.type,
                          type: typeOf(worst.type),
                          file: sources[worst.type]![0],
                          line: sources[worst.type]![1],
                          save_ns: Math.round((worst.end - worst.begin) * 0.7),
                      },
            critical_path: path.map((w, i) => {
                const waited = Math.round(w.begin - (path[i - 1]?.end ?? begin));
                return {
                    task: w.id.toString(),
                    begin: Math.round(w.begin),
                    end: Math.round(w.end),
                    waits: { dependency: 0, queue: i === 0 ? 0 : waited, affinity: 0, preempted: preempted && w.type === "solve" ? 3_000_000 : 0 },
                };
            }),
            slack: heavy || preempted ? all.map((w) => [w.id.toString(), Math.max(0, Math.round(submit.begin - w.end - 400_000))]) : [],
        });
        now = end + 20_000 + random() * 150_000;
    }

    let records = 0;
    lanes.forEach((list, lane) => {
        list.sort((a, b) => a.time - b.time);
        for (let at = 0; at < list.length; at += 65536) out.records(lane, list.slice(at, at + 65536));
        records += list.length;
    });
    out.done(now + 3_000_000);
    const lengths = analysed.map((frame) => (frame as { end: number; begin: number }).end - (frame as { begin: number }).begin).sort((a, b) => a - b);
    const [p50, p95] = [lengths[lengths.length >> 1]!, lengths[Math.floor(lengths.length * 0.95)]!];
    const withCores = (n: number): number => 0.45 + (0.55 * (options.workers + 1)) / n;
    const whatIf = {
        cores: [1, 2, 3, 4, 6, 8, 12, 16].map((cores) => ({ cores, p50_ns: Math.round(p50 * withCores(cores)), p95_ns: Math.round(p95 * withCores(cores)) })),
        faster: ["skin", "pose", "solve", "narrow phase", "draw"].flatMap((name, i) =>
            [1.25, 1.5, 2, 4].map((times) => ({ type: typeOf(name), times, p50_ns: Math.round(p50 * (1 - (1 - 1 / times) * 0.06 * (5 - i))), p95_ns: Math.round(p95 * (1 - (1 - 1 / times) * 0.08 * (5 - i))) })),
        ),
    };
    return {
        bytes: out.bytes(),
        analysis: JSON.stringify({ version: 1, frames: analysed, types: [], what_if: whatIf }),
        records,
        frameCount: options.frames,
    };
}
