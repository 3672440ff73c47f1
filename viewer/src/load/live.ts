// A view of a program that runs. The server sends the bytes of the file as binary messages, cut
// between chunks, and as text what it could not send; docs/design/profile.md has the messages.

export interface LiveEvents {
    bytes(bytes: ArrayBuffer): void;
    /** Bytes that the server left out so far, because this page was too slow. */
    lost(bytes: number): void;
    /** Where the program is, ns since the capture began. */
    time(ns: number): void;
    /** `sentence` is empty when the program ended as it should. */
    over(sentence: string): void;
}

/** The token of `#live=TOKEN`, or empty. */
export function liveToken(fragment: string): string {
    return new URLSearchParams(fragment.replace(/^#/, "")).get("live") ?? "";
}

export interface LiveMessage {
    lost?: number;
    time?: number;
}

/** What is not understood is nothing. */
export function readLiveMessage(text: string): LiveMessage {
    let whole: unknown;
    try {
        whole = JSON.parse(text);
    } catch {
        return {};
    }
    if (typeof whole !== "object" || whole === null) return {};
    const { lost, time } = whole as { lost?: unknown; time?: unknown };
    const message: LiveMessage = {};
    if (typeof lost === "number" && lost > 0) message.lost = lost;
    if (typeof time === "number" && time >= 0) message.time = time;
    return message;
}

export function connectLive(host: string, token: string, events: LiveEvents): WebSocket {
    const socket = new WebSocket(`ws://${host}/stream`);
    socket.binaryType = "arraybuffer";
    let lost = 0;
    let opened = false;
    socket.onopen = (): void => {
        opened = true;
        // As a message, not in the address, so that it is in no log of addresses.
        socket.send(token);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>): void => {
        if (typeof event.data !== "string") {
            events.bytes(event.data);
            return;
        }
        const message = readLiveMessage(event.data);
        if (message.lost !== undefined) events.lost((lost += message.lost));
        if (message.time !== undefined) events.time(message.time);
    };
    socket.onclose = (event): void => {
        if (!opened) events.over("The program could not be reached: it has ended, or this address is of another run.");
        else events.over(event.code === 1008 ? "The program did not accept the token of this address." : "");
    };
    return socket;
}
