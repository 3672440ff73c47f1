import { describe, expect, it } from "vitest";
import { countText, durationText, momentText, moved, niceStep, quantile, ticks, zoomed } from "../../src/model/time";
import { bytesOfBase64 } from "../../src/load/base64";
import { readLiveMessage, tokenOf } from "../../src/load/live";

describe("times", () => {
    it("are written with three digits and the unit that fits", () => {
        const cases: [number, string][] = [
            [0, "0 ns"], [7, "7 ns"], [999, "999 ns"], [999.7, "1.00 µs"], [1000, "1.00 µs"], [12345, "12.3 µs"], [999_499, "999 µs"],
            [999_600, "1.00 ms"], [1_234_000, "1.23 ms"], [16_666_667, "16.7 ms"], [2_500_000_000, "2.50 s"], [-1500, "−1.50 µs"], [NaN, "–"],
        ];
        for (const [ns, text] of cases) expect(durationText(ns)).toBe(text);
        expect(countText(1234567)).toBe("1\u202f234\u202f567");
    });

    it("have marks at round places, and enough digits to tell them apart", () => {
        expect(niceStep(1)).toBe(1);
        expect(niceStep(30)).toBe(50);
        expect(niceStep(1.1e6)).toBe(2e6);
        const { step, times } = ticks(95, 1005, 1000, 100);
        expect(step).toBe(100);
        expect(times).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
        for (let step = 1; step < 1e9; step *= 10) {
            for (const factor of [1, 2, 5]) expect(momentText(7 * step * factor, step * factor)).not.toBe(momentText(8 * step * factor, step * factor));
        }
    });

    it("stay under the pointer while one zooms", () => {
        const all = { begin: 0, end: 1e9 };
        let view = { begin: 1e8, end: 5e8 };
        for (let i = 0; i < 20; ++i) {
            view = zoomed(view, 0.7, 3e8, all);
            expect((3e8 - view.begin) / (view.end - view.begin)).toBeCloseTo(0.5, 6);
        }
        expect(zoomed(view, 1e-12, 3e8, all).end - zoomed(view, 1e-12, 3e8, all).begin).toBeCloseTo(20, 3);
        const widest = zoomed(view, 1e12, 3e8, all);
        expect(widest.end - widest.begin).toBeLessThanOrEqual(1.1e9 + 20);
        const far = moved(view, 1e12, all);
        expect((far.begin + far.end) / 2).toBe(1e9);
    });

    it("have quantiles by nearest rank", () => {
        expect(quantile([1, 2, 3, 4], 0.5)).toBe(2);
        expect(quantile([1, 2, 3, 4, 5], 0.95)).toBe(5);
        expect(quantile([1, 2, 3, 4, 5], 0.2)).toBe(1);
        expect(quantile([5], 0.95)).toBe(5);
        expect(quantile([], 0.5)).toBeNaN();
    });
});

describe("what comes in", () => {
    it("decodes base64 in pieces, also with line ends", () => {
        const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 8)) & 255);
        const text = Buffer.from(bytes).toString("base64").replace(/(.{76})/g, "$1\n");
        const decoded = Buffer.concat([...bytesOfBase64(text)]);
        expect(decoded.equals(Buffer.from(bytes))).toBe(true);
        expect(() => [...bytesOfBase64("%%%%")]).toThrow("not base64");
    });

    it("understands the messages of a live view and nothing else", () => {
        expect(tokenOf("live", "#live=abc%2Bd")).toBe("abc+d");
        expect(tokenOf("live", "#frame=3")).toBe("");
        expect([tokenOf("view", "#view=abc"), tokenOf("view", "#live=abc")]).toEqual(["abc", ""]);
        expect(readLiveMessage('{"lost": 12}')).toEqual({ lost: 12 });
        expect(readLiveMessage('{"time": 5e9, "lost": "x"}')).toEqual({ time: 5e9 });
        expect(readLiveMessage('{"pong": 3, "time": 7}')).toEqual({ pong: 3, time: 7 });
        expect(readLiveMessage("[1")).toEqual({});
        expect(readLiveMessage("null")).toEqual({});
    });
});
