// Reads a capture beside the page, so that the page never stands still. The model that comes out is
// made of arrays that are handed over, not copied.
import { buildModel } from "../model/build_model";
import { CaptureError, CaptureParser } from "../parse/capture_parser";
import { bytesOfBase64 } from "./base64";
import type { FromReader, ToReader } from "./messages";

const scope = self as unknown as DedicatedWorkerGlobalScope;
const parser = new CaptureParser();
let failed = false;
let live = false;
let stale = false;
let timer = 0;
let buildTook = 0;

function tell(message: FromReader, handedOver: Transferable[] = []): void {
    scope.postMessage(message, handedOver);
}

function buffersOf(value: unknown, found: Set<ArrayBuffer>): void {
    if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
    else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) buffersOf(part, found);
}

function show(): void {
    const began = performance.now();
    const model = buildModel(parser);
    buildTook = performance.now() - began;
    stale = false;
    const buffers = new Set<ArrayBuffer>();
    buffersOf(model, buffers);
    tell({ kind: "model", model, live }, [...buffers]);
}

/** While a program runs, at most a quarter of the time goes into showing it. */
function showSoon(): void {
    stale = true;
    if (timer !== 0) return;
    timer = scope.setTimeout(() => {
        timer = 0;
        if (stale) attempt(show);
    }, Math.max(250, buildTook * 3));
}

function attempt(what: () => void): void {
    try {
        what();
    } catch (error) {
        failed = true;
        const sentence = error instanceof CaptureError ? error.message : `The capture could not be shown: ${String(error)}.`;
        tell({ kind: "failed", sentence });
    }
}

scope.onmessage = (event: MessageEvent<ToReader>): void => {
    if (failed) return;
    const message = event.data;
    attempt(() => {
        switch (message.kind) {
            case "live":
                live = true;
                break;
            case "feed":
                parser.feed(new Uint8Array(message.bytes));
                tell({ kind: "progress", records: parser.records });
                if (live) showSoon();
                break;
            case "base64":
                for (const bytes of bytesOfBase64(message.text)) parser.feed(bytes);
                break;
            case "finish":
                parser.finish();
                live = false;
                show();
                break;
        }
    });
};
