// The page's side of the worker: one reader for each capture.
import type { Model } from "../model/model";
import type { FromReader, ToReader } from "./messages";
import ReaderWorker from "./reader_worker?worker&inline";

export interface ReaderEvents {
    progress(records: number): void;
    model(model: Model, live: boolean): void;
    failed(sentence: string): void;
}

export class Reader {
    private readonly worker = new ReaderWorker();

    constructor(events: ReaderEvents) {
        this.worker.onmessage = (event: MessageEvent<FromReader>): void => {
            const message = event.data;
            switch (message.kind) {
                case "progress":
                    events.progress(message.records);
                    break;
                case "model":
                    events.model(message.model, message.live);
                    if (!message.live) this.worker.terminate();
                    break;
                case "failed":
                    events.failed(message.sentence);
                    this.worker.terminate();
                    break;
            }
        };
        this.worker.onerror = (event): void => events.failed(`The capture could not be read: ${event.message}.`);
    }

    live(): void {
        this.send({ kind: "live" });
    }

    feed(bytes: ArrayBuffer): void {
        this.send({ kind: "feed", bytes }, [bytes]);
    }

    finish(): void {
        this.send({ kind: "finish" });
    }

    readBase64(text: string): void {
        this.send({ kind: "base64", text });
        this.finish();
    }

    async readStream(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
        const reader = stream.getReader();
        for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            this.feed(value.byteOffset === 0 && value.byteLength === value.buffer.byteLength ? value.buffer : value.slice().buffer);
        }
        this.finish();
    }

    stop(): void {
        this.worker.terminate();
    }

    private send(message: ToReader, handedOver: Transferable[] = []): void {
        this.worker.postMessage(message, handedOver);
    }
}
