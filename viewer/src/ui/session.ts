// What the page shows: one state, changed by the actions below, told to whoever listens.
import { ownNow, type ClockEstimate } from "../load/clock_offset";
import { connectLive, tokenOf } from "../load/live";
import { Reader } from "../load/reader";
import { readAnalysis, type Analysis } from "../model/analysis";
import { worstFrame } from "../model/frame_tasks";
import { typeName, type Model } from "../model/model";
import { parseQuery, search, type Found } from "../model/search";
import { findTaskByText, idText } from "../model/task_ids";
import { withMargin } from "../model/time";
import { rememberTheme } from "./remembered";
import type { ColourBy } from "../view/colouring";
import type { Timeline } from "../view/timeline";

export const tabs = ["details", "tree", "types", "graph", "what if", "compare", "find"] as const;
export type Tab = (typeof tabs)[number];

export interface LiveState {
    connected: boolean;
    following: boolean;
    lost: number;
    /** Where the program is, ns; 0: not told. */
    time: number;
    /** Null: the program has not answered yet. */
    clock: ClockEstimate | null;
    /** How much of the program's time has passed since the newest record that is shown, ns; NaN: not known. */
    behind: number;
    sentence: string;
}

export interface State {
    phase: "empty" | "loading" | "ready" | "failed";
    sentence: string;
    /** Records read so far. */
    progress: number;
    fileName: string;
    model: Model | null;
    analysis: Analysis | null;
    /** Why there is no analysis, or that a part of it is of another capture. */
    analysisNote: string;
    frame: number;
    span: number;
    tab: Tab;
    colourBy: ColourBy;
    dark: boolean;
    budget: number;
    closedLanes: ReadonlySet<number>;
    /** Nodes of the tree that are not as they begin. */
    toggled: ReadonlySet<string>;
    query: string;
    found: Found | null;
    /** Chosen in the table of types, -1: none. */
    type: number;
    help: boolean;
    live: LiveState | null;
    other: Model | null;
    otherName: string;
    otherSentence: string;
}

const mostFound = 5000;
const usualBudget = 1e9 / 60;

export class Session {
    timeline: Timeline | null = null;
    private listeners = new Set<() => void>();
    private reader: Reader | null = null;
    private otherReader: Reader | null = null;
    private socket: WebSocket | null = null;
    private analysisText = "";
    private tabBeforeFind: Tab = "tree";

    state: State = {
        phase: "empty",
        sentence: "",
        progress: 0,
        fileName: "",
        model: null,
        analysis: null,
        analysisNote: "",
        frame: 0,
        span: -1,
        tab: "tree",
        colourBy: "type",
        dark: false,
        budget: usualBudget,
        closedLanes: new Set(),
        toggled: new Set(),
        query: "",
        found: null,
        type: -1,
        help: false,
        live: null,
        other: null,
        otherName: "",
        otherSentence: "",
    };

    listen(listener: () => void): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    set(change: Partial<State>): void {
        this.state = { ...this.state, ...change };
        for (const listener of this.listeners) listener();
    }

    /** Looks where the capture comes from: the page itself, a running program, the address, the server. */
    start(page: Document, address: Location): void {
        const embedded = page.getElementById("braid-capture")?.textContent ?? "";
        if (embedded.trim() !== "") {
            this.analysisText = page.getElementById("braid-analysis")?.textContent ?? "";
            this.beginReading("").readBase64(embedded);
            return;
        }
        const token = tokenOf("live", address.hash);
        if (token !== "") {
            this.connect(address.host, token);
            return;
        }
        const asked = new URLSearchParams(address.search);
        const url = asked.get("capture");
        if (url !== null) void this.openUrl(url, asked.get("analysis"), true);
        else if (address.protocol.startsWith("http")) void this.openUrl("capture.braid", "analysis.json", false, tokenOf("view", address.hash));
    }

    openFile(file: File): void {
        this.analysisText = "";
        const reader = this.beginReading(file.name);
        reader.readStream(file.stream()).catch((error: unknown) => this.fail(`'${file.name}' could not be read: ${String(error)}.`));
    }

    /** `token`: for the server of the page, and nobody else. */
    private async openUrl(url: string, analysisUrl: string | null, isAsked: boolean, token = ""): Promise<void> {
        const name = url.split(/[?#]/)[0]!.split("/").pop() ?? url;
        try {
            const how = token === "" ? {} : { headers: { authorization: `Bearer ${token}` } };
            const [answer, analysis] = await Promise.all([fetch(url, how), analysisUrl === null ? null : fetch(analysisUrl, how)]);
            if (answer.status === 403 && !isAsked) {
                this.fail("Only the whole address that braid view has printed shows the capture, with all that follows the #.");
                return;
            }
            if (!answer.ok || answer.body === null) {
                // Without a capture beside it the page waits for a file.
                if (isAsked) this.fail(`'${url}' could not be had: the server says ${answer.status}.`);
                return;
            }
            this.analysisText = analysis?.ok === true ? await analysis.text() : "";
            await this.beginReading(name).readStream(answer.body);
        } catch (error) {
            if (isAsked) this.fail(`'${url}' could not be had: ${String(error)}.`);
        }
    }

    private connect(host: string, token: string): void {
        const reader = this.beginReading("");
        reader.live();
        this.set({ live: { connected: true, following: true, lost: 0, time: 0, clock: null, behind: NaN, sentence: "" } });
        const change = (to: Partial<LiveState>): void => {
            if (this.state.live !== null) this.set({ live: { ...this.state.live, ...to } });
        };
        this.socket = connectLive(host, token, {
            bytes: (bytes) => reader.feed(bytes),
            lost: (lost) => change({ lost }),
            time: (time) => change({ time }),
            clock: (clock) => change({ clock, behind: behindOf(clock, this.state.model) }),
            over: (sentence) => {
                change({ connected: false, following: false, behind: NaN, sentence });
                if (this.state.phase === "failed") return;
                if (this.state.model === null && sentence !== "") this.fail(sentence);
                else if (this.state.progress === 0 && this.state.model === null) this.fail("The program ended before it sent anything.");
                else reader.finish();
            },
        });
    }

    private beginReading(fileName: string): Reader {
        this.reader?.stop();
        this.socket?.close();
        this.socket = null;
        this.set({
            phase: "loading",
            sentence: "",
            progress: 0,
            fileName,
            model: null,
            analysis: null,
            analysisNote: "",
            frame: 0,
            span: -1,
            type: -1,
            live: null,
            found: null,
            query: "",
            toggled: new Set(),
            closedLanes: new Set(),
        });
        this.reader = new Reader({
            progress: (progress) => {
                if (this.state.phase === "loading") this.set({ progress });
            },
            model: (model) => this.take(model),
            failed: (sentence) => this.fail(fileName === "" ? sentence : `${fileName}: ${sentence}`),
        });
        return this.reader;
    }

    private fail(sentence: string): void {
        const { live, model } = this.state;
        if (live !== null && model !== null) {
            // What came before the mistake can still be looked at.
            this.socket?.close();
            this.set({ live: { ...live, connected: false, following: false, behind: NaN, sentence } });
            return;
        }
        this.set({ phase: "failed", sentence, model: null, analysis: null });
    }

    private take(model: Model): void {
        if (this.state.model !== null) {
            this.replace(model);
            return;
        }
        let analysis: Analysis | null = null;
        let analysisNote = "";
        if (this.analysisText.trim() !== "") {
            try {
                analysis = readAnalysis(this.analysisText, model.tasks.ids);
            } catch (error) {
                analysisNote = error instanceof Error ? error.message : String(error);
            }
        }
        const frame = worstFrame(model);
        this.set({ phase: "ready", model, analysis, analysisNote, frame, budget: budgetOf(model) });
        this.fitFrame();
    }

    /** The same program a moment later. Numbers of spans are new; tasks keep their ids. */
    private replace(model: Model): void {
        const { model: before, span, live, frame } = this.state;
        let kept = -1;
        if (before !== null && span >= 0 && before.spans.task[span]! >= 0) {
            const id = idText(before.tasks.ids, before.spans.task[span]!);
            const task = findTaskByText(model.tasks.ids, id, before.spans.begin[span]!);
            if (task >= 0) kept = model.tasks.span[task]!;
        }
        const following = live?.following === true;
        const nextFrame = following || before?.frames.marked !== model.frames.marked ? model.frames.count - 1 : Math.min(frame, model.frames.count - 1);
        this.timeline?.setModel(model);
        const shown = live === null || !live.connected ? live : { ...live, behind: behindOf(live.clock, model) };
        this.set({ model, span: kept, frame: nextFrame, live: shown });
        if (this.state.query !== "") this.find(this.state.query);
        const view = this.timeline?.view;
        if (following && view !== undefined) {
            this.timeline!.show({ begin: model.duration - (view.end - view.begin), end: model.duration });
        }
    }

    setFollowing(following: boolean): void {
        if (this.state.live !== null && this.state.live.following !== following) this.set({ live: { ...this.state.live, following } });
    }

    selectFrame(frame: number, fit = true): void {
        const { model } = this.state;
        if (model === null) return;
        this.setFollowing(false);
        this.set({ frame: Math.min(Math.max(frame, 0), model.frames.count - 1), span: -1 });
        if (fit) this.fitFrame();
    }

    fitFrame(): void {
        const { model, frame } = this.state;
        if (model === null) return;
        this.timeline?.show(withMargin({ begin: model.frames.begin[frame]!, end: model.frames.end[frame]! }));
    }

    /** The frame, or, when it is in view already, everything. */
    fit(): void {
        const { model, frame } = this.state;
        const view = this.timeline?.view;
        if (model === null || view === undefined) return;
        const wanted = withMargin({ begin: model.frames.begin[frame]!, end: model.frames.end[frame]! });
        const near = Math.abs(view.begin - wanted.begin) + Math.abs(view.end - wanted.end) < (wanted.end - wanted.begin) * 0.01;
        if (near) this.timeline!.show(withMargin({ begin: 0, end: model.duration }, 0.01));
        else this.fitFrame();
    }

    selectSpan(span: number, reveal: boolean): void {
        this.set({ span });
        if (reveal && span >= 0) this.timeline?.reveal(span);
    }

    selectTask(task: number, reveal = true): void {
        const { model } = this.state;
        const span = model === null || task < 0 ? -1 : model.tasks.span[task]!;
        if (span >= 0) this.selectSpan(span, reveal);
    }

    find(query: string): void {
        const { model } = this.state;
        const found = model === null || query.trim() === "" ? null : search(model, query, mostFound);
        const { tab } = this.state;
        if (tab !== "find") this.tabBeforeFind = tab;
        this.set({ query, found, tab: found !== null ? "find" : tab === "find" ? this.tabBeforeFind : tab });
    }

    chooseType(type: number): void {
        this.set({ type: this.state.type === type ? -1 : type });
    }

    toggleLane(lane: number): void {
        this.set({ closedLanes: toggledIn(this.state.closedLanes, lane) });
    }

    setDark(dark: boolean): void {
        rememberTheme(dark);
        this.set({ dark });
    }

    toggleNode(key: string): void {
        this.set({ toggled: toggledIn(this.state.toggled, key) });
    }

    compareWith(file: File): void {
        this.otherReader?.stop();
        this.set({ other: null, otherName: file.name, otherSentence: "Reading…" });
        this.otherReader = new Reader({
            progress: () => {},
            model: (other) => this.set({ other, otherSentence: "" }),
            failed: (sentence) => this.set({ otherSentence: `${file.name}: ${sentence}` }),
        });
        this.otherReader.readStream(file.stream()).catch((error: unknown) => {
            this.set({ otherSentence: `'${file.name}' could not be read: ${String(error)}.` });
        });
    }

    /** Takes back one thing, the most recent kind first. */
    escape(): void {
        if (this.state.help) this.set({ help: false });
        else if (this.timeline?.measured != null) {
            this.timeline.measured = null;
            this.timeline.ask();
        } else if (this.state.span >= 0) this.set({ span: -1 });
        else if (this.state.type >= 0) this.set({ type: -1 });
        else if (this.state.query !== "") this.find("");
    }
}

function behindOf(clock: ClockEstimate | null, model: Model | null): number {
    return clock === null || model === null ? NaN : Math.max(0, ownNow() + clock.ahead - model.duration);
}

function toggledIn<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
    const changed = new Set(set);
    if (!changed.delete(value)) changed.add(value);
    return changed;
}

function budgetOf(model: Model): number {
    const told = Number(model.info.find(([key]) => key === "budget_ns")?.[1]);
    return told > 0 ? told : usualBudget;
}

/** Types that the timeline shows faintly, because others are looked for. */
export function dimmedTypes(state: State): Uint8Array | null {
    const { model, type, query } = state;
    if (model === null) return null;
    if (type >= 0) return Uint8Array.from(model.types, (_, t) => (t === type ? 0 : 1));
    const words = parseQuery(query).words;
    if (words.length === 0) return null;
    return Uint8Array.from(model.types, (_, t) => (words.every((word) => typeName(model, t).toLowerCase().includes(word)) ? 0 : 1));
}
