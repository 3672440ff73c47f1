// A view of a program that runs. The server sends the bytes of the file as binary messages, cut
// between chunks, and as text what it could not send; docs/design/profile.md has the messages.
import { Pings, type ClockEstimate } from "./clock_offset";

export interface LiveEvents {
    bytes(bytes: ArrayBuffer): void;
    /** Bytes that the server left out so far, because this page was too slow. */
    lost(bytes: number): void;
    /** Where the program is, ns since the capture began. */
    time(ns: number): void;
    /** How far the program's clock, ns since the capture began, is ahead of ownNow(). */
    clock(estimate: ClockEstimate): void;
    /** `sentence` is empty when the program ended as it should. */
    over(sentence: string): void;
}

/** The token of `#live=TOKEN` or `#view=TOKEN`, or empty. */
export function tokenOf(what: "live" | "view", fragment: string): string {
    return new URLSearchParams(fragment.replace(/^#/, "")).get(what) ?? "";
}

export interface LiveMessage {
    lost?: number;
    time?: number;
    /** The number of the question that `time` is the answer to. */
    pong?: number;
}

/** ms. So 16 answers take 8 s: longer than a busy moment, too short for clocks to drift apart. */
const pingEvery = 500;

/** What is not understood is nothing. */
export function readLiveMessage(text: string): LiveMessage {
    let whole: unknown;
    try {
        whole = JSON.parse(text);
    } catch {
        return {};
    }
    if (typeof whole !== "object" || whole === null) return {};
    const { lost, time, pong } = whole as { lost?: unknown; time?: unknown; pong?: unknown };
    const message: LiveMessage = {};
    if (typeof lost === "number" && lost > 0) message.lost = lost;
    if (typeof time === "number" && time >= 0) message.time = time;
    if (typeof pong === "number") message.pong = pong;
    return message;
}

export function connectLive(host: string, token: string, events: LiveEvents): WebSocket {
    const socket = new WebSocket(`ws://${host}/stream`);
    socket.binaryType = "arraybuffer";
    let lost = 0;
    let opened = false;
    let timer: ReturnType<typeof setInterval> | undefined;
    const pings = new Pings((text) => socket.send(text));
    socket.onopen = (): void => {
        opened = true;
        // As a message, not in the address, so that it is in no log of addresses.
        socket.send(token);
        pings.ask();
        timer = setInterval(() => pings.ask(), pingEvery);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>): void => {
        if (typeof event.data !== "string") {
            events.bytes(event.data);
            return;
        }
        const message = readLiveMessage(event.data);
        if (message.lost !== undefined) events.lost((lost += message.lost));
        if (message.pong !== undefined) {
            const estimate = pings.answer(message.pong, message.time ?? 0);
            if (estimate !== null) events.clock(estimate);
        }
        // 0: the capture has not begun.
        if (message.time) events.time(message.time);
    };
    socket.onclose = (event): void => {
        clearInterval(timer);
        if (!opened) events.over("The program could not be reached: it has ended, or this address is of another run.");
        else events.over(event.code === 1008 ? "The program did not accept the token of this address." : "");
    };
    return socket;
}
