// Serves the built page and what stands beside it, on this machine only.
import { createServer, type Server } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";

export const builtPage = new URL("../../dist/index.html", import.meta.url);

export class PageServer {
    /** What is served beside the page, by path. */
    readonly files = new Map<string, Uint8Array | string>();
    /** What a request for one of them has to show, as `braid view` wants it. */
    token = "";
    address = "";
    readonly server: Server;

    constructor() {
        this.server = createServer((request, response) => {
            const path = (request.url ?? "/").split("?")[0]!;
            const file = path === "/" ? readFileSync(builtPage) : this.files.get(path);
            if (path !== "/" && this.token !== "" && request.headers.authorization !== `Bearer ${this.token}`) {
                response.writeHead(403).end();
                return;
            }
            response.writeHead(file === undefined ? 404 : 200, {
                "content-type": path === "/" || path.endsWith(".html") ? "text/html; charset=utf-8" : "application/octet-stream",
            });
            response.end(file);
        });
    }

    async start(): Promise<void> {
        await new Promise<void>((ready) => this.server.listen(0, "127.0.0.1", ready));
        this.address = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    }

    async stop(): Promise<void> {
        this.server.closeAllConnections();
        await new Promise<void>((stopped) => this.server.close(() => stopped()));
    }
}
