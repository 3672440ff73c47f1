import { describe, expect, it } from "vitest";
import { PixelColumns, spanAt } from "../../src/model/pixel_columns";
import { buildLevels, grouped, spanLevel } from "../../src/model/pyramid";
import type { Model } from "../../src/model/model";
import { modelOf } from "../support/built";
import { makeScene } from "../support/synthetic";

const scene = modelOf(makeScene({ frames: 120, workers: 6, characters: 30 }).bytes);
const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);

function viewsOf(model: Model): { begin: number; end: number }[] {
    const views = [];
    for (let width = model.duration * 1.2; width > 500; width /= 3.7) {
        for (const share of [-0.05, 0.1, 0.47, 0.93]) {
            views.push({ begin: model.duration * share, end: model.duration * share + width });
        }
    }
    return views;
}

describe("a level of detail", () => {
    it("keeps the sum of times and the number of spans", () => {
        const row = scene.rows.reduce((a, b) => (b.count > a.count ? b : a));
        const all = spanLevel(scene.spans, row.first, row.count);
        expect(row.levels.length).toBeGreaterThan(3);
        for (const level of row.levels) {
            expect(sum(level.busy)).toBeCloseTo(sum(all.busy), 3);
            expect(sum(level.members)).toBe(row.count);
        }
    });

    it("leaves alone what is longer than its width, and has at most a group a slice", () => {
        const begin = Float64Array.of(0, 2, 5, 20, 60, 61);
        const end = Float64Array.of(1, 4, 6, 50, 61, 62);
        const spans = { begin, end };
        const level = grouped(spanLevel(spans, 0, 6), 10, (s) => end[s]! - begin[s]!);
        expect([...level.begin]).toEqual([0, 20, 60]);
        expect([...level.end]).toEqual([6, 50, 62]);
        expect([...level.busy]).toEqual([4, 30, 2]);
        expect([...level.members]).toEqual([3, 1, 2]);
        expect([...level.longest]).toEqual([1, 3, 4]);
    });

    it("has at most two items a slice", () => {
        for (const row of scene.rows) {
            for (const level of row.levels) {
                const perSlice = new Map<number, number>();
                for (const begin of level.begin) {
                    const slice = Math.floor(begin / level.width);
                    perSlice.set(slice, (perSlice.get(slice) ?? 0) + 1);
                }
                expect(Math.max(...perSlice.values())).toBeLessThanOrEqual(2);
            }
        }
    });

    it("is not made for rows that are short anyway", () => {
        expect(buildLevels(scene.spans, 0, 10)).toEqual([]);
    });
});

describe("the rectangles of a row", () => {
    it("are never more than one for each pixel column, whatever the view", () => {
        const columns = new PixelColumns();
        for (const view of viewsOf(scene)) {
            for (const width of [1, 300, 1777]) {
                for (const row of scene.rows) {
                    columns.fill(row, scene.spans, view, width);
                    let painted = 0;
                    for (let i = 0; i < columns.count; ++i) {
                        expect(columns.left[i]!).toBeGreaterThanOrEqual(painted);
                        expect(columns.right[i]!).toBeGreaterThan(columns.left[i]!);
                        painted = columns.right[i]!;
                    }
                    expect(painted).toBeLessThanOrEqual(width);
                    expect(columns.count).toBeLessThanOrEqual(width);
                }
            }
        }
    });

    it("stand for all the time of the row when all of it is in view", () => {
        const columns = new PixelColumns();
        for (const row of scene.rows) {
            let all = 0;
            for (let s = row.first; s < row.first + row.count; ++s) all += scene.spans.end[s]! - scene.spans.begin[s]!;
            for (const width of [40, 900]) {
                columns.fill(row, scene.spans, { begin: -1, end: scene.duration + 1 }, width);
                const shown = sum(columns.busy.subarray(0, columns.count));
                // Instants that share a pixel with their neighbour have no time to lose.
                expect(Math.abs(shown - all)).toBeLessThanOrEqual(all * 1e-9 + 1e-3);
                expect(sum(columns.members.subarray(0, columns.count))).toBe(row.count);
            }
        }
    });

    it("find the span under the pointer", () => {
        const row = scene.rows.reduce((a, b) => (b.count > a.count ? b : a));
        const span = row.first + 1000;
        const middle = (scene.spans.begin[span]! + scene.spans.end[span]!) / 2;
        expect(spanAt(row, scene.spans, middle, 0)).toBe(span);
        expect(spanAt(row, scene.spans, -1e9, 10)).toBe(-1);
    });
});
