// The other end of a live view: accepts one web socket, expects a token, and sends what it is told.
import { createHash } from "node:crypto";
import type { Server } from "node:http";
import type { Duplex } from "node:stream";

function frame(opcode: number, payload: Uint8Array): Buffer {
    const head = payload.length < 126 ? Buffer.alloc(2) : payload.length < 65536 ? Buffer.alloc(4) : Buffer.alloc(10);
    head[0] = 0x80 | opcode;
    if (head.length === 2) head[1] = payload.length;
    else if (head.length === 4) {
        head[1] = 126;
        head.writeUInt16BE(payload.length, 2);
    } else {
        head[1] = 127;
        head.writeBigUInt64BE(BigInt(payload.length), 2);
    }
    return Buffer.concat([head, payload]);
}

/** The messages of a client, which are masked and short, and what is left of one that has not come whole. */
function textsOf(bytes: Buffer): { texts: string[]; rest: Buffer } {
    const texts: string[] = [];
    for (;;) {
        const length = bytes.length < 2 ? 0 : bytes[1]! & 0x7f;
        if (bytes.length < 6 + length) return { texts, rest: bytes };
        const mask = bytes.subarray(2, 6);
        if ((bytes[0]! & 15) === 1) texts.push(Buffer.from(bytes.subarray(6, 6 + length).map((byte, i) => byte ^ mask[i % 4]!)).toString());
        bytes = bytes.subarray(6 + length);
    }
}

export class LiveServer {
    /** Resolves with the token that the page has sent. */
    readonly token: Promise<string>;
    private socket: Duplex | null = null;
    /** ns; what questions for the time are answered with. 0: the capture has not begun. */
    now: () => number = () => 0;
    pings = 0;

    constructor(server: Server) {
        this.token = new Promise((resolve) => {
            server.once("upgrade", (request, socket: Duplex) => {
                const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
                const accept = createHash("sha1").update(key).digest("base64");
                socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
                this.socket = socket;
                socket.on("error", () => {});
                let rest: Buffer = Buffer.alloc(0);
                let welcome = false;
                socket.on("data", (bytes: Buffer) => {
                    const come = textsOf(Buffer.concat([rest, bytes]));
                    rest = come.rest;
                    for (const text of come.texts) {
                        if (welcome) this.answer(text);
                        else resolve(text);
                        welcome = true;
                    }
                });
            });
        });
    }

    bytes(payload: Uint8Array): void {
        this.socket!.write(frame(2, payload));
    }

    text(payload: string): void {
        this.socket!.write(frame(1, Buffer.from(payload)));
    }

    private answer(text: string): void {
        const { ping } = JSON.parse(text) as { ping: number };
        ++this.pings;
        this.text(JSON.stringify({ pong: ping, time: this.now() }));
    }

    close(): void {
        this.socket!.end(frame(8, Buffer.from([0x03, 0xe8])));
    }
}
