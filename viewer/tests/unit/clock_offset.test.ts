import { describe, expect, it } from "vitest";
import { ClockOffset, Pings } from "../../src/load/clock_offset";
import { readLiveMessage } from "../../src/load/live";

/** The same numbers on every run. */
function randoms(seed: number): () => number {
    let state = seed;
    return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
}

describe("another clock", () => {
    it("is not known before the first answer", () => {
        expect(new ClockOffset().best()).toBe(null);
    });

    it("is off by half the quickest round trip at most", () => {
        const random = randoms(7);
        for (const skew of [-5e9, 0, 123_456_789, 86_400e9]) {
            const offset = new ClockOffset();
            let now = 1e9;
            for (let i = 0; i < 200; ++i) {
                // Most answers are late by up to 20 ms on either way, a few by less than 50 µs.
                const most = i % 8 === 0 ? 50_000 : 20_000_000;
                const [there, back] = [1000 + random() * most, 1000 + random() * most];
                offset.add(now, now + there + skew, now + there + back);
                now += 50e6;
                const best = offset.best()!;
                expect(Math.abs(best.ahead - skew)).toBeLessThanOrEqual(best.roundTrip / 2 + 1);
                expect(best.roundTrip).toBeLessThan(110_000);
            }
        }
    });

    it("is followed while it drifts: quick answers of long ago do not hold it back", () => {
        const offset = new ClockOffset();
        offset.add(0, 0, 10);
        let skew = 0;
        for (let second = 1; second < 100; ++second) {
            skew += 50_000;
            offset.add(second * 1e9, second * 1e9 + 100_000 + skew, second * 1e9 + 200_000);
        }
        expect(Math.abs(offset.best()!.ahead - skew)).toBeLessThanOrEqual(16 * 50_000);
    });

    it("leaves out answers from before the question", () => {
        const offset = new ClockOffset();
        offset.add(100, 5000, 50);
        expect(offset.best()).toBe(null);
    });
});

describe("pings", () => {
    it("find the program's clock over a slow connection, from the quickest answer", () => {
        const skew = 7_654_321_000;
        let now = 1e9;
        const sent: string[] = [];
        const pings = new Pings((text) => sent.push(text), () => now);
        // What answers take: there, and back.
        const ways: [number, number][] = [[9e6, 1e6], [40e6, 5e6], [200_000, 300_000], [30e6, 1e6], [1e6, 60e6]];
        let estimate = null;
        for (const [there, back] of ways) {
            now += 500e6;
            pings.ask();
            const ping = (JSON.parse(sent[sent.length - 1]!) as { ping: number }).ping;
            const message = readLiveMessage(`{"pong": ${ping}, "time": ${now + there + skew}}`);
            now += there + back;
            estimate = pings.answer(message.pong!, message.time!);
        }
        expect(estimate).toEqual({ ahead: skew - 50_000, roundTrip: 500_000 });
    });

    it("are asked one after the other", () => {
        const sent: string[] = [];
        const pings = new Pings((text) => sent.push(text), () => 5);
        pings.ask();
        pings.ask();
        expect(sent).toEqual(['{"ping":1}']);
        // An answer to something else is none.
        pings.answer(7, 100);
        pings.ask();
        expect(sent.length).toBe(1);
        pings.answer(1, 100);
        pings.ask();
        expect(sent[1]).toBe('{"ping":2}');
    });

    it("learn nothing from a program whose capture has not begun", () => {
        const pings = new Pings(() => {}, () => 5);
        pings.ask();
        expect(pings.answer(1, 0)).toBe(null);
    });
});
