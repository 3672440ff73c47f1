import { describe, expect, it } from "vitest";
import { CaptureError, CaptureParser } from "../../src/parse/capture_parser";
import { RecordKind } from "../../src/parse/kinds";
import { switchesText } from "../../src/model/model";
import { modelOf } from "../support/built";
import { CaptureBytes } from "../support/capture_bytes";

function small(): CaptureBytes {
    const out = new CaptureBytes().header();
    out.info("program", "arena").info("switches", "count");
    const skin = out.type("skin", "anim/skin.cpp", 12);
    out.lane(0, "main", 2, 0);
    out.records(0, [
        { time: 10, task: (3n << 32n) | 7n, other: 5n, aux: skin, kind: RecordKind.spawned, flags: 2 },
        { time: 20, task: (3n << 32n) | 7n, aux: skin, core: 4, kind: RecordKind.started },
    ], 9);
    return out;
}

function parse(bytes: Uint8Array, piece = bytes.length): CaptureParser {
    const parser = new CaptureParser();
    for (let at = 0; at < bytes.length; at += piece) parser.feed(bytes.subarray(at, at + piece));
    parser.finish();
    return parser;
}

function sentenceOf(bytes: Uint8Array): string {
    try {
        parse(bytes);
    } catch (error) {
        expect(error).toBeInstanceOf(CaptureError);
        return (error as CaptureError).message;
    }
    return "";
}

describe("a capture", () => {
    it("is read field by field", () => {
        const parser = parse(small().done(50).bytes());
        expect(parser.whole).toBe(true);
        expect(parser.duration).toBe(50);
        expect(parser.beganAt).toBe(1_700_000_000_000);
        expect(parser.switches).toBe("count");
        expect(parser.info[0]).toEqual(["program", "arena"]);
        expect(parser.types[1]).toEqual({ name: "skin", file: "anim/skin.cpp", line: 12 });
        const lane = parser.lanes[0]!;
        expect([lane.name, lane.kind, lane.seat, lane.thread, lane.dropped]).toEqual(["main", "main", 0, "4000", 9]);
        const r = lane.records;
        expect(r.length).toBe(2);
        expect([r.time[0], r.taskLow[0], r.taskHigh[0], r.otherLow[0], r.otherHigh[0]]).toEqual([10, 7, 3, 5, 0]);
        expect([r.aux[0], r.core[0], r.kind[0], r.flags[0]]).toEqual([1, 0xffff, RecordKind.spawned, 2]);
        expect([r.time[1], r.core[1], r.kind[1]]).toEqual([20, 4, RecordKind.started]);
    });

    it("is the same whatever the pieces are in which it arrives", () => {
        const bytes = small().done(50).bytes();
        for (const piece of [1, 3, 7, 8, 31, 33, 100]) {
            const parser = parse(bytes, piece);
            expect([parser.whole, parser.records, parser.duration, parser.lanes.length]).toEqual([true, 2, 50, 1]);
            expect([...parser.lanes[0]!.records.time.subarray(0, 2)]).toEqual([10, 20]);
        }
    });

    it("that is cut off anywhere is read up to the chunk before", () => {
        const bytes = small().done(50).bytes();
        for (let length = 32; length < bytes.length; ++length) {
            const parser = parse(bytes.subarray(0, length), 50);
            expect(parser.whole).toBe(false);
            expect(parser.records).toBe(length >= bytes.length - 16 ? 2 : 0);
        }
    });

    it("may hold chunks that this page does not know", () => {
        const bytes = small().chunk("NEWS", new Uint8Array(40)).done(50).bytes();
        expect(parse(bytes, 5).whole).toBe(true);
    });

    it("may tell of a lane again", () => {
        const bytes = small().lane(0, "render", 2, 0).bytes();
        const parser = parse(bytes);
        expect(parser.lanes.length).toBe(1);
        expect(parser.lanes[0]!.name).toBe("render");
        expect(parser.lanes[0]!.records.length).toBe(2);
    });

    it("may know less of the switches of one thread than of others", () => {
        const out = small().lane(1, "worker 0", 1, 1, 1).lane(2, "worker 1", 1, 2, 4).lane(3, "worker 2", 1, 3, 99);
        const bytes = out.bytes();
        expect(parse(bytes).lanes.map((lane) => lane.switches)).toEqual([null, "none", "exact", null]);
        expect(switchesText(modelOf(bytes))).toBe("count, not recorded on worker 0, exact on worker 1");
        // Told again without it.
        expect(parse(out.lane(2, "render", 1, 2).bytes()).lanes[2]!.switches).toBe("exact");
    });

    it("grows while its strings and types come in several chunks", () => {
        const out = small();
        expect(out.type("pose")).toBe(2);
        const parser = parse(out.bytes());
        expect(parser.types[2]!.name).toBe("pose");
    });
});

describe("what is no capture gets one sentence", () => {
    it("when it is something else", () => {
        expect(sentenceOf(new TextEncoder().encode("<!doctype html> and so on, a web page"))).toBe("This is not a capture.");
        expect(sentenceOf(new Uint8Array(0))).toBe("This is not a capture.");
        expect(sentenceOf(new TextEncoder().encode("BRAIDCAP"))).toBe("This is not a capture.");
    });

    it("when it is of another time", () => {
        expect(sentenceOf(new CaptureBytes().header(2).bytes())).toBe("This capture has version 2, this page reads version 1.");
        expect(sentenceOf(new CaptureBytes().header(1, 24).bytes())).toBe("Its records have another size.");
    });

    const broken: [string, string, (out: CaptureBytes) => void][] = [
        ["strings out of order", "strings are not numbered in order", (out) => out.numbers("STRS", 40, 0)],
        ["types out of order", "types are not numbered in order", (out) => out.numbers("TYPE", 7, 0)],
        ["a type without a name", "a type has a name that is not there", (out) => out.numbers("TYPE", 2, 1, 999, 0, 0, 0)],
        ["a lane without a name", "a lane has a name that is not there", (out) => out.numbers("LANE", 1, 999, 1, 0, 0, 0)],
        ["a lane of no kind", "a lane is of no known kind", (out) => out.numbers("LANE", 1, 0, 99, 0, 0, 0)],
        ["lanes out of order", "lanes are not numbered in order", (out) => out.numbers("LANE", 5, 0, 1, 0, 0, 0)],
        ["records of no lane", "records are of a lane that is not there", (out) => out.records(3, [])],
        ["records of no type", "a record is of a type that is not there", (out) => out.records(0, [{ time: 30, kind: RecordKind.started, aux: 88 }])],
        ["time that runs back", "records are not in order of time", (out) => out.records(0, [{ time: 5, kind: RecordKind.parked }])],
        ["a count that is not there", "a chunk is shorter than what it holds", (out) => out.records(0, [{ time: 30, kind: RecordKind.parked }], 0, 2)],
        ["a string that goes on", "a chunk is shorter than what it holds", (out) => out.numbers("STRS", 8, 1, 4000000000, 0)],
        ["a chunk of nothing", "a chunk is shorter than what it holds", (out) => out.chunk("EVTS", new Uint8Array(0))],
        ["a fact without a name", "a fact has a name that is not there", (out) => out.numbers("INFO", 999, 0)],
    ];
    it.each(broken)("when it has %s", (_name, why, spoil) => {
        const out = small();
        const at = out.bytes().length;
        spoil(out);
        expect(sentenceOf(out.bytes())).toBe(`The capture is broken at byte ${at}: ${why}.`);
    });

    it("and any single byte may be wrong without another kind of failure", () => {
        const good = small().done(50).bytes();
        for (let at = 0; at < good.length; ++at) {
            for (const value of [0, 0x7f, 0xff]) {
                const bytes = good.slice();
                bytes[at] = value;
                expect(sentenceOf(bytes)).toMatch(/^$|\.$/);
            }
        }
    });
});
