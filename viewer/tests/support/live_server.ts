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

/** The first message of a client, which is masked and short. */
function firstText(bytes: Buffer): string {
    const length = bytes[1]! & 0x7f;
    const mask = bytes.subarray(2, 6);
    return Buffer.from(bytes.subarray(6, 6 + length).map((byte, i) => byte ^ mask[i % 4]!)).toString();
}

export class LiveServer {
    /** Resolves with the token that the page has sent. */
    readonly token: Promise<string>;
    private socket: Duplex | null = null;

    constructor(server: Server) {
        this.token = new Promise((resolve) => {
            server.once("upgrade", (request, socket: Duplex) => {
                const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
                const accept = createHash("sha1").update(key).digest("base64");
                socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
                this.socket = socket;
                socket.on("error", () => {});
                socket.once("data", (bytes: Buffer) => resolve(firstText(bytes)));
            });
        });
    }

    bytes(payload: Uint8Array): void {
        this.socket!.write(frame(2, payload));
    }

    text(payload: string): void {
        this.socket!.write(frame(1, Buffer.from(payload)));
    }

    close(): void {
        this.socket!.end(frame(8, Buffer.from([0x03, 0xe8])));
    }
}
