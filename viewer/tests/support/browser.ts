// Debian's Chromium without a window, a network or a past.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type BrowserContext, type Page } from "playwright-core";

export const outFolder = fileURLToPath(new URL("../../out/", import.meta.url));

export class Browser {
    private readonly profile = mkdtempSync(join(tmpdir(), "braid-viewer-"));
    private context: BrowserContext | null = null;
    /** What pages complained of. */
    readonly complaints: string[] = [];

    async start(): Promise<void> {
        mkdirSync(outFolder, { recursive: true });
        const executablePath = process.env.BRAID_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
        if (executablePath === undefined) throw new Error("There is no Chromium: install Debian's package chromium, or name one in BRAID_CHROMIUM.");
        this.context = await chromium.launchPersistentContext(this.profile, {
            executablePath,
            headless: true,
            viewport: { width: 1500, height: 940 },
            colorScheme: "dark",
            args: [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        });
    }

    async page(address: string): Promise<Page> {
        const page = await this.context!.newPage();
        page.on("pageerror", (error) => this.complaints.push(String(error)));
        page.on("console", (message) => {
            // That nothing lies beside the page, or that it is not shown, is an answer, not a mistake.
            if (message.type() === "error" && !/ 40[34] /.test(message.text())) this.complaints.push(message.text());
        });
        await page.goto(address);
        return page;
    }

    async stop(): Promise<void> {
        await this.context?.close();
        rmSync(this.profile, { recursive: true, force: true });
    }
}

export async function picture(page: Page, name: string): Promise<void> {
    await page.screenshot({ path: join(outFolder, `${name}.png`) });
}
