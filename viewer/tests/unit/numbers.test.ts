// Captures beside what `braid report --json` says of them: the page has the same numbers.
// scripts/viewer.sh --numbers FOLDER names the folder.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { frameLengths } from "../../src/model/compare";
import { SpanKind } from "../../src/model/model";
import { typeStatistics } from "../../src/model/statistics";
import { modelOf } from "../support/built";

interface Report {
    frames: { number: number; begin: number; end: number }[];
    types: { type: number; name: string; count: number; total_ns: number; p50_ns: number; p95_ns: number; max_ns: number }[];
}

const folder = process.env.BRAID_CAPTURES ?? "";
const names = folder === "" ? [] : readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));

describe.skipIf(folder === "")("a capture, here and in braid report", () => {
    it.each(names)("%s: has the same times of types and frames", (name) => {
        const model = modelOf(readFileSync(join(folder, `${name}.braid`)));
        const report = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Report;
        const here = typeStatistics(model).map((row) => ({
            type: row.type,
            name: model.types[row.type]!.name,
            count: row.count,
            total_ns: row.total,
            p50_ns: row.median,
            p95_ns: row.p95,
            max_ns: row.most,
        }));
        const byType = (a: { type: number }, b: { type: number }): number => a.type - b.type;
        expect(here.sort(byType)).toEqual([...report.types].sort(byType));
        expect([...frameLengths(model)]).toEqual(report.frames.map((frame) => frame.end - frame.begin).sort((a, b) => a - b));
    });

    it("is there, and one of them has parts of joins", () => {
        const withJoins = names.filter((name) => modelOf(readFileSync(join(folder, `${name}.braid`))).spans.kind.includes(SpanKind.job));
        expect(withJoins.length).toBeGreaterThan(0);
    });
});
